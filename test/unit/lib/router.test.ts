/** The router under a test clock: what it retries, when and on which backend, and when it gives up. */
import { describe, expect, it } from 'vitest';
import { type BackendFailureReason, backendFailure } from '../../../lib/model-servers/calls/failures.ts';
import { createRouter, MAX_ATTEMPTS } from '../../../lib/model-servers/calls/router.ts';
import type { ChatBackend, CompletionOutcome, CompletionRequest } from '../../../src/judgments/chat-backend.ts';

const REQUEST: CompletionRequest = {
  messages: [{ role: 'user', content: 'q' }],
  schema: { name: 's', schema: {} },
  sampling: { temperature: 0, top_p: 1, seed: 0 },
  max_tokens: 10,
};

const GOOD: CompletionOutcome = { ok: true, completion: { text: '{}', model: 'm', usage: null } };

function bad(reason: BackendFailureReason, retry_after_s?: number): CompletionOutcome {
  return { ok: false, failure: backendFailure(reason, 'why', retry_after_s ?? null) };
}

/** One call of a route: when, and how long it was given. */
type Call = { readonly route: string; readonly at: number; readonly deadline_ms: number };

/** Routes with scripted answers; a step may take time. The last step repeats. */
class Scene {
  readonly calls: Call[] = [];
  readonly sleeps: number[] = [];
  random = 0.5;
  #now = 1_000;

  readonly clock = {
    now: () => this.#now,
    sleep: async (ms: number) => {
      this.sleeps.push(ms);
      this.#now += ms;
    },
    random: () => this.random,
  };

  advance(ms: number): void {
    this.#now += ms;
  }

  route(name: string, steps: readonly Step[], model = 'm'): ChatBackend {
    let next = 0;
    return {
      name,
      model,
      context_tokens: 8_192,
      complete: async (_request, { deadline_ms }) => {
        this.calls.push({ route: name, at: this.#now, deadline_ms });
        const step = steps[Math.min(next++, steps.length - 1)];
        if (step === undefined) throw new Error('Scene: a route without steps');
        this.#now += step.takes === 'deadline' ? deadline_ms : step.takes;
        return step.outcome;
      },
    };
  }

  async run(routes: readonly ChatBackend[], deadline_ms = 60_000) {
    const start = this.#now;
    const outcome = await createRouter({ name: 'judge', routes, clock: this.clock }).complete(REQUEST, { deadline_ms });
    return { outcome, took: this.#now - start };
  }

  get order(): string[] {
    return this.calls.map(({ route }) => route);
  }
}

type Step = { readonly outcome: CompletionOutcome; readonly takes: number | 'deadline' };
const step = (outcome: CompletionOutcome, takes: Step['takes'] = 10): Step => ({ outcome, takes });
const TIMEOUT = step(bad('judge_timeout'), 'deadline');

describe('a single route', () => {
  it('is not waited for longer than a minute, however long the call may take', async () => {
    const scene = new Scene();
    const busy = bad('judge_overloaded', 120);
    expect(await scene.run([scene.route('a', [step(busy), step(GOOD)])], 300_000)).toEqual({ outcome: busy, took: 10 });
    const soon = new Scene();
    const route = soon.route('a', [step(bad('judge_overloaded', 50), 5_000), step(GOOD)]);
    expect((await soon.run([route], 300_000)).outcome).toEqual(GOOD);
  });

  it.each(['judge_unreachable', 'judge_interrupted', 'judge_rate_limited', 'judge_overloaded', 'judge_error'] as const)(
    'is asked again after %s, at most four times in all',
    async (reason) => {
      const mended = new Scene();
      expect((await mended.run([mended.route('a', [step(bad(reason)), step(GOOD)])])).outcome).toEqual(GOOD);
      expect(mended.calls.length).toBe(2);
      const broken = new Scene();
      expect((await broken.run([broken.route('a', [step(bad(reason))])])).outcome).toEqual(bad(reason));
      expect(broken.calls.length).toBe(MAX_ATTEMPTS);
      expect(MAX_ATTEMPTS).toBe(4);
    },
  );

  it.each([
    'judge_unauthorized',
    'judge_request_refused',
    'judge_not_an_api',
    'judge_model_mismatch',
    'judge_prompt_too_long',
    'judge_reply_cut',
    'judge_refusal',
    'judge_reply_invalid',
  ] as const)('is not asked again after %s', async (reason) => {
    const scene = new Scene();
    expect((await scene.run([scene.route('a', [step(bad(reason)), step(GOOD)])])).outcome).toEqual(bad(reason));
    expect(scene.calls.length).toBe(1);
    expect(scene.sleeps).toEqual([]);
  });

  it('is left alone for a random part of a doubling time', async () => {
    const scene = new Scene();
    await scene.run([scene.route('a', [step(bad('judge_error'))])]);
    expect(scene.sleeps).toEqual([250, 500, 1_000]);
    const lucky = new Scene();
    lucky.random = 0;
    await lucky.run([lucky.route('a', [step(bad('judge_error'))])]);
    expect(lucky.sleeps).toEqual([]);
    expect(lucky.calls.length).toBe(4);
  });

  it('is not asked before the time it named', async () => {
    const scene = new Scene();
    await scene.run([scene.route('a', [step(bad('judge_overloaded', 7)), step(GOOD)])]);
    expect(scene.sleeps).toEqual([7_250]);
  });

  it('that wants more time than there is fails at once and says when to come back', async () => {
    const scene = new Scene();
    const { outcome, took } = await scene.run([scene.route('a', [step(bad('judge_rate_limited', 90))])]);
    expect(outcome).toEqual(bad('judge_rate_limited', 90));
    expect(took).toBe(10);
  });

  it('may use all the time, and is not asked again after a timeout', async () => {
    const scene = new Scene();
    expect(await scene.run([scene.route('a', [TIMEOUT])], 60_000)).toEqual({
      outcome: bad('judge_timeout'),
      took: 60_000,
    });
    expect(scene.calls.map(({ deadline_ms }) => deadline_ms)).toEqual([60_000]);
    const silent = new Scene();
    expect(await silent.run([silent.route('a', [step(bad('judge_timeout')), step(GOOD)])])).toMatchObject({
      outcome: bad('judge_timeout'),
    });
    expect(silent.calls).toHaveLength(1);
  });

  it('is not asked when no time is left', async () => {
    const scene = new Scene();
    const { outcome } = await scene.run([scene.route('a', [step(GOOD)])], 400);
    expect(outcome).toMatchObject({ ok: false, failure: { reason: 'judge_timeout', retryable: true } });
    expect(scene.calls).toEqual([]);
  });
});

describe('several routes', () => {
  it('are tried in order, the next at once and not after a wait', async () => {
    const scene = new Scene();
    const routes = [scene.route('a', [step(bad('judge_overloaded', 30))]), scene.route('b', [step(GOOD)])];
    expect((await scene.run(routes)).outcome).toEqual(GOOD);
    expect(scene.order).toEqual(['a', 'b']);
    expect(scene.sleeps).toEqual([]);
  });

  it('leave time for the next one when one hangs', async () => {
    const scene = new Scene();
    const { outcome, took } = await scene.run([scene.route('a', [TIMEOUT]), scene.route('b', [step(GOOD)])]);
    expect(outcome).toEqual(GOOD);
    expect(took).toBe(30_010);
    const hanging = new Scene();
    expect(
      (await hanging.run([hanging.route('a', [TIMEOUT]), hanging.route('b', [TIMEOUT])])).took,
    ).toBeLessThanOrEqual(60_000);
  });

  it.each(['judge_unauthorized', 'judge_request_refused', 'judge_not_an_api', 'judge_model_mismatch'] as const)(
    'go on without one that says %s',
    async (reason) => {
      const scene = new Scene();
      const routes = [scene.route('a', [step(bad(reason))]), scene.route('b', [step(bad('judge_error')), step(GOOD)])];
      expect((await scene.run(routes)).outcome).toEqual(GOOD);
      expect(scene.order).toEqual(['a', 'b', 'b']);
    },
  );

  it.each(['judge_prompt_too_long', 'judge_reply_cut', 'judge_refusal', 'judge_reply_invalid'] as const)(
    'do not shop around for another answer after %s',
    async (reason) => {
      const scene = new Scene();
      const routes = [scene.route('a', [step(bad(reason))]), scene.route('b', [step(GOOD)])];
      expect((await scene.run(routes)).outcome).toEqual(bad(reason));
      expect(scene.order).toEqual(['a']);
    },
  );

  it('report the failure that leaves hope', async () => {
    const scene = new Scene();
    const routes = [
      scene.route('a', [step(bad('judge_overloaded', 90))]),
      scene.route('b', [step(bad('judge_unauthorized'))]),
    ];
    expect((await scene.run(routes)).outcome).toEqual(bad('judge_overloaded', 90));
  });

  it('ask the one that has just failed last, for a while', async () => {
    const scene = new Scene();
    const routes = [scene.route('a', [step(bad('judge_unreachable')), step(GOOD)]), scene.route('b', [step(GOOD)])];
    const router = createRouter({ name: 'judge', routes, clock: scene.clock });
    for (const pause of [0, 0, 5_000, 6_000]) {
      scene.advance(pause);
      expect(await router.complete(REQUEST, { deadline_ms: 10_000 })).toEqual(GOOD);
    }
    expect(scene.order).toEqual(['a', 'b', 'b', 'b', 'a']);
  });

  it('must have the same judge identity', () => {
    const scene = new Scene();
    const routes = [scene.route('a', [step(GOOD)]), scene.route('b', [step(GOOD)], 'another')];
    expect(() => createRouter({ name: 'judge', routes, clock: scene.clock })).toThrow('same identity');
  });
});
