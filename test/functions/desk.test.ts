/**
 * JudgeDesk through its RPC: single flight, callers that disconnect, restarts, KV's stale misses, remembered failures.
 */
import { abortAllDurableObjects, evictAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../functions/app.ts';
import { createDeskClient } from '../../functions/desk/desk-client.ts';
import { DEFAULT_DESKS, layoutOf } from '../../functions/desk/desk-layout.ts';
import type { DeskMethods } from '../../functions/desk/desk-messages.ts';
import { createPlatformFactory } from '../../functions/platform.ts';
import { createKvJudgmentStore, createRecentJudgments } from '../../lib/kv-store.ts';
import type { CallClass, JudgmentCall } from '../../src/judgments/desk.ts';
import type { JudgeReply } from '../../src/judgments/judge.ts';
import { judgmentKey, judgmentPreimage } from '../../src/judgments/key.ts';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { judgeLexically } from '../../src/judgments/lexical-judge.ts';
import type { JudgeFailure, JudgeFailureReason } from '../../src/judgments/protocol/failure.ts';
import { post, problemOf, ROLLOUT, scoreOf } from './api.ts';
import {
  COUNTING,
  counting,
  countingBackends,
  countingDesks,
  eventually,
  lexically,
  onSharedKv,
  resetCounting,
  runDeskAlarms,
  sharedKv,
} from './desk-judge.ts';
import { partitionName } from './stored-records.ts';
import { replaceParts } from './worker.ts';

replaceParts({ backendsOf: countingBackends, environmentOf: onSharedKv });

let replicate = 0;
let rollout: Omit<typeof ROLLOUT, 'question'> & { question: string; replicate: number };
beforeEach(() => {
  // Of another question, so that no test finds judgments of the same answer.
  rollout = { ...ROLLOUT, question: `${ROLLOUT.question} (${replicate})`, replicate: replicate++ };
  resetCounting();
  sharedKv.refusesWrites = false;
});

/** An isolate of its own, which has seen nothing yet. */
function isolate(): (body: unknown) => Promise<Response> {
  const recent = createRecentJudgments({ entries: 10, chars: 100_000 });
  const judgmentStoreOf = () => createKvJudgmentStore(sharedKv, recent);
  const app = createApp(createPlatformFactory({ backendsOf: countingBackends, judgmentStoreOf }));
  return async (body) => app.request(post('/v1/score', body), undefined, { ...env });
}

/** A judge that waits for the test before it answers. */
function gated(): { readonly open: () => void } {
  const gate = Promise.withResolvers<void>();
  counting.answer = async (request) => {
    await gate.promise;
    return lexically(request);
  };
  return { open: gate.resolve };
}

function failing(reason: JudgeFailureReason, more: Partial<JudgeFailure> = {}): () => Promise<JudgeReply> {
  return async () => ({ ok: false, failure: { reason, detail: 'as the test wants', retryable: true, ...more } });
}

const BOTH = ['citations', 'rubric'];
const kinds = (): string[] => counting.calls.map(({ kind }) => kind).sort();

describe('single flight', () => {
  it('answers 200 concurrent identical requests with one call a kind', async () => {
    const gate = gated();
    const replies = Array.from({ length: 200 }, () => isolate()(rollout));
    await eventually(() => expect(counting.calls).toHaveLength(2));
    gate.open();
    const scored = await Promise.all(replies.map(async (reply) => scoreOf(await reply)));
    expect(kinds()).toEqual(BOTH);
    expect(new Set(scored.map(({ reward }) => reward)).size).toBe(1);
    for (const { judgments } of scored) {
      expect(judgments.map(({ stored, failure }) => [stored, failure])).toEqual([
        [true, null],
        [true, null],
      ]);
    }
  });

  it('goes on when its only caller has left, and a retry joins it', async () => {
    const gate = gated();
    const leaving = new AbortController();
    const request = new Request(post('/v1/score', rollout), { signal: leaving.signal });
    const left = exports.default.fetch(request).then(
      () => 'answered',
      () => 'gone',
    );
    await eventually(() => expect(counting.calls).toHaveLength(2));
    leaving.abort();
    expect(await left).toBe('gone');
    const retry = isolate()(rollout);
    gate.open();
    expect((await scoreOf(await retry)).reward).not.toBeNull();
    expect(kinds()).toEqual(BOTH);
  });

  it('stores its judgment although nobody waits any more', async () => {
    const gate = gated();
    const call = await callOf(1, { deadline_ms: 50 });
    const desk = countingDesks();
    expect(await desk.judge(call)).toMatchObject({ ok: false, failure: { reason: 'judge_running', retryable: true } });
    gate.open();
    await eventually(() => expect(sharedKv.has(call.key)).toBe(true));
    expect(await desk.judge(call)).toMatchObject({ ok: true, cached: true, stored: true });
    expect(counting.calls).toHaveLength(1);
  });
});

describe('a judge that takes longer than its callers wait', () => {
  it('answers a retry that joins its call: each caller that left was told so, and nothing is remembered against it', async () => {
    const gate = gated();
    const desk = countingDesks();
    const call = await callOf(1, { deadline_ms: 30 });
    for (let caller = 0; caller < 8; caller++) {
      expect(await desk.judge(call)).toMatchObject({
        ok: false,
        failure: { reason: 'judge_running', retryable: true, retry_after_s: 1 },
      });
    }
    const joined = desk.judge({ ...call, deadline_ms: 10_000 });
    gate.open();
    // The call, or its judgment if the call ended first.
    expect(await joined).toMatchObject({ ok: true, stored: true });
    expect(counting.calls).toMatchObject([{ deadline_ms: counting.timeout_ms }]);
    // Eight failures would have opened the circuit.
    expect(await desk.judge(await callOf(2))).toMatchObject({ ok: true, cached: false });
  });

  it('is no failure for a request that wants null rewards: the request is told to come back after its own deadline', async () => {
    const gate = gated();
    const asked = { ...rollout, deadline_s: 1, on_judge_failure: 'null' };
    const started = performance.now();
    const reply = await isolate()(asked);
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(reply.headers.get('retry-after')).toBe('1');
    await problemOf(reply, 503, 'judge_running');
    gate.open();
    expect((await scoreOf(await isolate()(asked))).reward).not.toBeNull();
    expect(kinds()).toEqual(BOTH);
  });

  it('is called anew by a retry after a restart has ended its call', async () => {
    const gate = gated();
    const desk = countingDesks();
    const call = await callOf(1);
    const lost = desk.judge(call);
    await eventually(() => expect(counting.calls).toHaveLength(1));
    await abortAllDurableObjects();
    expect(await lost).toMatchObject({ ok: false, failure: { reason: 'judge_interrupted', retryable: true } });
    gate.open();
    expect(await desk.judge(call)).toMatchObject({ ok: true, cached: false, stored: true });
    expect(counting.calls).toHaveLength(2);
  });
});

describe('a KV that serves its misses for 60 s', () => {
  it('never leads to a second judgment of a key, whoever asks, also after a restart of the object', async () => {
    const first = await scoreOf(await isolate()(rollout));
    expect(kinds()).toEqual(BOTH);
    const again = async (judgments: 'use' | 'only') => scoreOf(await isolate()({ ...rollout, judgments }));
    for (const restart of [async () => undefined, evictAllDurableObjects, runDeskAlarms, abortAllDurableObjects]) {
      await restart();
      for (const mode of ['use', 'only'] as const) {
        const { reward, judgments } = await again(mode);
        expect(reward).toBe(first.reward);
        expect(judgments.map(({ key, cached, stored }) => [key, cached, stored])).toEqual(
          first.judgments.map(({ key }) => [key, true, true]),
        );
      }
    }
    expect(kinds()).toEqual(BOTH);
    for (const { key } of first.judgments) {
      const names = [partitionName(key ?? ''), `j:v1:${key}`];
      expect(sharedKv.puts.filter((name) => names.includes(name))).toHaveLength(1);
    }
    // A minute later KV itself serves it.
    sharedKv.now += 61_000;
    expect((await again('only')).reward).toBe(first.reward);
  });

  it('delays no reply when it takes no writes, and receives them later, also after a restart', async () => {
    sharedKv.refusesWrites = true;
    const first = await scoreOf(await isolate()(rollout));
    expect(first.judgments[0]).toMatchObject({ cached: false, stored: true, store_problem: null });
    await abortAllDurableObjects();
    const again = await scoreOf(await isolate()({ ...rollout, judgments: 'only' }));
    expect(again.judgments[0]).toMatchObject({ cached: true, stored: true, store_problem: null });
    sharedKv.refusesWrites = false;
    await runDeskAlarms();
    // The alarm may be running already, because it was due.
    await eventually(() => {
      for (const { key } of first.judgments) expect(sharedKv.has(key ?? '')).toBe(true);
    });
    expect(kinds()).toEqual(BOTH);
  });
});

describe('after a change of DESKS', () => {
  /** A call whose key has another owner with eight desks than with four. */
  async function moved(number: number): Promise<JudgmentCall> {
    for (let salt = 0; ; salt++) {
      const call = await callOf(number * 1_000 + salt);
      if (Number.parseInt(call.key.slice(0, 8), 16) % 8 >= 4) return call;
    }
  }
  const eight = () => createDeskClient(env.JUDGE_DESK, layoutOf(8, countingBackends().named));

  it('the new owner finds what the old one has made, although KV does not show it', async () => {
    const call = await moved(1);
    expect(await countingDesks().judge(call)).toMatchObject({ ok: true, cached: false });
    expect(await eight().judge(call)).toMatchObject({ ok: true, cached: true, stored: true });
    expect((await eight().find([call.key])).get(call.key)).toMatchObject({ ok: true });
    expect(counting.calls).toHaveLength(1);
  });

  it('the new owner joins the call that the old one is making', async () => {
    const gate = gated();
    const call = await moved(2);
    const old = countingDesks().judge(call);
    await eventually(() => expect(counting.calls).toHaveLength(1));
    const joined = eight().judge(call);
    await new Promise((resolve) => setTimeout(resolve, 100));
    gate.open();
    expect(await old).toMatchObject({ ok: true, cached: false });
    expect(await joined).toMatchObject({ ok: true, cached: true });
    expect(counting.calls).toHaveLength(1);
  });

  /** Runs the alarms of the desks of both layouts until KV has a judgment. */
  async function inKv({ key }: JudgmentCall, scope: string): Promise<void> {
    await vi.waitFor(
      async () => {
        for (let desk = 0; desk < 8; desk++)
          await runDurableObjectAlarm(env.JUDGE_DESK.getByName(`desk-${desk}/${scope}`));
        expect(sharedKv.has(key)).toBe(true);
      },
      { timeout: 20_000 },
    );
  }

  it('one of two owners writes the value of a partition, whichever is asked first; KV has the judgments of both', async () => {
    for (const [number, isNewFirst] of [
      [4, false],
      [5, true],
    ] as const) {
      const first = { ...(await moved(number)), missed: 'partition' as const };
      const second = sibling(first);
      // Desks of its own, which have seen no other layout.
      const scope = `layouts-${number}`;
      const clientOf = (desks: number) =>
        createDeskClient(env.JUDGE_DESK, layoutOf(desks, countingBackends().named), undefined, scope);
      // The desks of the old layout have been called, so that the new ones know of it.
      await clientOf(4).judge(await callOf(number * 1_000_000));
      const [asks, asksThen] = isNewFirst ? [clientOf(8), clientOf(4)] : [clientOf(4), clientOf(8)];
      expect(await asks.judge(first)).toMatchObject({ ok: true, cached: false });
      expect(await asksThen.judge(second)).toMatchObject({ ok: true, cached: false });
      await inKv(first, scope);
      await inKv(second, scope);
      expect(sharedKv.values.get(`p:${scope}:${partitionName(first.key)}`)).toContain(first.key);
      expect(sharedKv.values.has(`p:${scope}:j:v1:${second.key}`)).toBe(true);
    }
  });

  it('a return to the number before writes partitions together again', async () => {
    const scope = 'layouts-back';
    const clientOf = (desks: number) =>
      createDeskClient(env.JUDGE_DESK, layoutOf(desks, countingBackends().named), undefined, scope);
    await clientOf(4).judge(await callOf(6_000_000));
    expect(await clientOf(8).judge(await moved(6))).toMatchObject({ ok: true, cached: false });
    const back = { ...(await moved(7)), missed: 'partition' as const };
    expect(await clientOf(4).judge(back)).toMatchObject({ ok: true, cached: false });
    await inKv(back, scope);
    expect(sharedKv.values.get(`p:${scope}:${partitionName(back.key)}`)).toContain(back.key);
  });

  it('two owners that are asked at the same moment do not wait for each other', async () => {
    const call = await moved(3);
    const [first, second] = await Promise.all([countingDesks().judge(call), eight().judge(call)]);
    expect(first).toMatchObject({ ok: true });
    expect(second).toMatchObject({ ok: true });
  });
});

describe('a restart in mid-call', () => {
  it('is a retryable failure, and the retry is judged', async () => {
    const gate = gated();
    const lost = isolate()(rollout);
    await eventually(() => expect(counting.calls).toHaveLength(2));
    await abortAllDurableObjects();
    expect(await problemOf(await lost, 503, 'judge_interrupted')).toMatchObject({ retryable: true });
    gate.open();
    expect((await scoreOf(await isolate()(rollout))).reward).not.toBeNull();
  });
});

describe('failures', () => {
  it('are remembered for a moment, so that retries are no calls, and are never a number', async () => {
    counting.answer = failing('judge_error');
    const reply = await isolate()(rollout);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    await problemOf(reply, 503, 'judge_error');
    for (let retry = 0; retry < 3; retry++) {
      const unscored = await scoreOf(await isolate()({ ...rollout, on_judge_failure: 'null' }));
      expect(unscored).toMatchObject({ reward: null, reason: 'judge_error' });
    }
    expect(kinds()).toEqual(BOTH);
    for (const name of sharedKv.values.keys())
      expect(sharedKv.values.get(name)).not.toContain(`"replicate":${rollout.replicate},`);
  });

  it("are not remembered where they are the caller's own", async () => {
    counting.answer = failing('judge_prompt_too_long', { retryable: false });
    await problemOf(await isolate()(rollout), 422, 'judge_prompt_too_long');
    counting.answer = lexically;
    expect((await scoreOf(await isolate()(rollout))).reward).not.toBeNull();
  });

  it('of a judge that throws come out as a bug, and leave nothing behind', async () => {
    counting.answer = () => Promise.reject(new TypeError('a bug'));
    await problemOf(await isolate()(rollout), 500, 'internal');
    counting.answer = lexically;
    expect((await scoreOf(await isolate()(rollout))).reward).not.toBeNull();
  });

  it('in a row open the circuit of their backend, and nothing is called any more', async () => {
    await abortAllDurableObjects();
    counting.answer = failing('judge_unreachable');
    const desk = countingDesks();
    const reasons: string[] = [];
    for (let number = 0; number < 80; number++) {
      const reply = await desk.judge(await callOf(1_000 + number));
      if (!reply.ok) reasons.push(reply.failure.reason);
      if (!reply.ok && reply.failure.reason === 'judge_circuit_open')
        expect(reply.failure.retry_after_s).toBeGreaterThan(0);
    }
    expect(reasons).toHaveLength(80);
    expect(counting.calls).toHaveLength(5 * DEFAULT_DESKS);
    expect(reasons.filter((reason) => reason === 'judge_circuit_open')).toHaveLength(80 - 5 * DEFAULT_DESKS);
    await abortAllDurableObjects();
  });
});

describe('the calls of a turn', () => {
  it('take one message to each desk; long ones take one each', async () => {
    const messages: string[] = [];
    const desk = createDeskClient(
      {
        getByName(name) {
          const stub = env.JUDGE_DESK.getByName(name);
          const judge: DeskMethods['judge'] = (message) => {
            messages.push(`${name}: ${message.calls.length}`);
            return stub.judge(message);
          };
          return new Proxy<DeskMethods>(stub, {
            get: (of, method) => (method === 'judge' ? judge : Reflect.get(of, method)),
          });
        },
      },
      layoutOf(DEFAULT_DESKS, countingBackends().named),
    );
    const calls = await Promise.all(Array.from({ length: 40 }, (_, number) => callOf(5_000 + number)));
    const replies = await Promise.all(calls.map((call) => desk.judge(call)));
    expect(replies.map((reply) => reply.ok && reply.judgment.key)).toEqual(calls.map(({ key }) => key));
    const desks = Map.groupBy(calls, ({ key }) => Number.parseInt(key.slice(0, 8), 16) % DEFAULT_DESKS);
    expect(messages.sort()).toEqual([...desks].map(([number, some]) => `desk-${number}: ${some.length}`).sort());

    messages.length = 0;
    const long = await Promise.all([9, 10].map((number) => longCall(number, 0, 'live')));
    for (const reply of await Promise.all(long.map((call) => desk.judge(call)))) expect(reply.ok).toBe(true);
    expect(messages).toEqual(['desk-0: 1', 'desk-0: 1']);
  });

  it('are answered each by itself: one that takes long holds none of the others', async () => {
    const gate = Promise.withResolvers<void>();
    counting.answer = async (request) => {
      if (request.kind === 'rubric' && request.question.endsWith('slow')) await gate.promise;
      return lexically(request);
    };
    const desk = countingDesks();
    const all = await Promise.all(Array.from({ length: 40 }, (_, number) => callOf(7_000 + number)));
    const ofOneDesk = all.filter(({ key }) => Number.parseInt(key.slice(0, 8), 16) % DEFAULT_DESKS === 0);
    const [first, ...others] = ofOneDesk.slice(0, 3);
    expect(others).toHaveLength(2);
    if (first === undefined) throw new Error('no call');
    const slow = { ...first, request: { ...first.request, question: 'slow' } };
    const ended: string[] = [];
    const replies = [slow, ...others].map(async (call) => {
      const reply = await desk.judge(call);
      ended.push(call.key);
      return reply.ok;
    });
    await eventually(() => expect(ended.toSorted()).toEqual(others.map(({ key }) => key).sort()));
    gate.resolve();
    expect(await Promise.all(replies)).toEqual([true, true, true]);
  });

  it('do not read KV again if their caller has just missed there', async () => {
    const desk = countingDesks();
    const [missed, unread] = await Promise.all([callOf(6_000), callOf(6_001)]);
    for (const { key, preimage, request } of [missed, unread]) {
      const verdicts = judgeLexically(request);
      const record = { v: 2, key, preimage, verdicts, usage: null, judged_at: '2026-11-23T00:00:00Z', issuer: null };
      sharedKv.values.set(`j:v1:${key}`, JSON.stringify(record));
    }
    expect(await desk.judge({ ...missed, missed: 'partition' })).toMatchObject({ ok: true, cached: false });
    expect(await desk.judge(unread)).toMatchObject({ ok: true, cached: true });
    expect(counting.calls).toHaveLength(1);
  });
});

describe('room', () => {
  it('runs out at 24 MB of prompts in an isolate, whichever desks hold them, and is given back', async () => {
    const gate = gated();
    const desk = countingDesks();
    const fitting = await Promise.all([1, 2, 3].map((number) => longCall(number, 0, 'live')));
    const replies = fitting.map((call) => desk.judge(call));
    await eventually(() => expect(counting.calls).toHaveLength(3));
    const further = await longCall(4, 1, 'live');
    expect(await desk.judge(further)).toMatchObject({
      ok: false,
      failure: { reason: 'judge_capacity', retryable: true, retry_after_s: 10 },
    });
    gate.open();
    for (const reply of await Promise.all(replies)) expect(reply).toMatchObject({ ok: true });
    expect(await desk.judge(further)).toMatchObject({ ok: true });
  });

  it('is left to callers who wait: a batch gets three quarters of it', async () => {
    const gate = gated();
    const desk = countingDesks();
    const replies = [desk.judge(await longCall(5, 0, 'batch')), desk.judge(await longCall(6, 1, 'batch'))];
    await eventually(() => expect(counting.calls).toHaveLength(2));
    expect(await desk.judge(await longCall(7, 2, 'batch'))).toMatchObject({
      failure: { reason: 'judge_capacity' },
    });
    replies.push(desk.judge(await longCall(8, 3, 'live')));
    await eventually(() => expect(counting.calls).toHaveLength(3));
    gate.open();
    for (const reply of await Promise.all(replies)) expect(reply).toMatchObject({ ok: true });
  });
});

describe('a deployment under way', () => {
  it('never stores a judgment under the key of another judge', async () => {
    const call = await callOf(3, {}, 'counting-of-tomorrow');
    expect(await countingDesks().judge(call)).toMatchObject({
      ok: false,
      failure: { reason: 'judge_model_mismatch', retryable: true },
    });
    expect(counting.calls).toEqual([]);
  });

  /** A call that a desk owns. */
  async function callOfDesk(desk: number, changes: Partial<JudgmentCall> = {}): Promise<JudgmentCall> {
    for (let salt = 0; ; salt++) {
      const call = await callOf(salt, changes);
      if (Number.parseInt(call.key.slice(0, 8), 16) % DEFAULT_DESKS === desk) return call;
    }
  }

  it('leaves no desk without a judge, whichever layout its first message has', async () => {
    await evictAllDurableObjects();
    // The judge had one slot, so that desk 0 owned all its judgments.
    const before = createDeskClient(env.JUDGE_DESK, { desks: DEFAULT_DESKS, few: { 'counting-1': 1 } });
    const other = await callOfDesk(1, { judge: 'a judge of before' });
    const preimage = { ...other.preimage, judge: { ...other.preimage.judge, model: 'another' } };
    expect(await before.judge({ ...other, preimage })).toMatchObject({ ok: false });
    expect(await countingDesks().judge(await callOfDesk(1))).toMatchObject({ ok: true });
    // An isolate of the old deployment is answered, too.
    expect(await before.judge(await callOfDesk(1, { class: 'batch' }))).toMatchObject({ ok: true });
  });

  it('is a retryable failure with a time, where the desk does not have the judge yet', async () => {
    expect(await countingDesks().judge(await callOfDesk(1, { judge: 'added-today' }))).toEqual({
      ok: false,
      failure: {
        reason: 'judge_interrupted',
        detail: 'the judge desk does not have this judge yet, because a deployment is in progress; retry',
        retryable: true,
        retry_after_s: 10,
      },
    });
  });
});

/** 7.5 MB of prompt for a desk. */
async function longCall(number: number, desk: number, callClass: CallClass): Promise<JudgmentCall> {
  for (let salt = 0; ; salt++) {
    const call = await callOf(number * 1_000 + salt, { class: callClass });
    const request = { ...call.request, question: 'q'.repeat(7_500_000) };
    if (Number.parseInt(call.key.slice(0, 8), 16) % DEFAULT_DESKS === desk) return { ...call, request };
  }
}

/** A call of the same partition. */
function sibling(call: JudgmentCall): JudgmentCall {
  const inputs = { ...call.preimage.inputs, criteria: 'c'.repeat(64) };
  const preimage = { ...call.preimage, inputs };
  return { ...call, preimage, key: judgmentKey(preimage) };
}

async function callOf(
  number: number,
  changes: Partial<JudgmentCall> = {},
  model = 'counting-1',
): Promise<JudgmentCall> {
  const request: JudgmentRequest = {
    kind: 'rubric',
    question: `question ${replicate} ${number}`,
    sources: [],
    criteria: [{ description: 'Says something' }],
    answer: 'an answer',
  };
  const identity = { model, template: 't1', sampling: { temperature: 0 } };
  const preimage = judgmentPreimage(request, identity, 0);
  const key = judgmentKey(preimage);
  return { judge: COUNTING, key, preimage, request, class: 'live', deadline_ms: 10_000, ...changes };
}
