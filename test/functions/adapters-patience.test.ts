/** Adapters retry short failures for trainers that hardly retry, and report them at once to the other trainers. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ADAPTER_RETRY_WINDOW_MS } from '../../functions/http/adapters/adapter-scoring.ts';
import type { Backends } from '../../service/backends/configured.ts';
import { SCORING_DEADLINE_MS } from '../../service/score.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { CALLER_DEADLINE_MS } from '../../src/judgments/obtain.ts';
import { DEFAULT_RETRY_AFTER_S } from '../../src/wire/problem-entry.ts';
import { EXTRA_REWARD_INFO, LABEL, requestOf } from './adapters-trainers.ts';
import { post, problemOf, ROLLOUT, send, wrongFields } from './api.ts';
import { replaceParts } from './worker.ts';

const judge = { failures: 0, calls: 0, deadline_ms: 0, retryable: true, retry_after_s: 1 };

const BACKEND: Backends['named'][number] = {
  judge: {
    ...LEXICAL_JUDGE,
    async judge(request, options) {
      judge.calls++;
      judge.deadline_ms = options.deadline_ms;
      if (judge.failures-- <= 0) return LEXICAL_JUDGE.judge(request, options);
      const { retryable, retry_after_s } = judge;
      return { ok: false, failure: { reason: 'judge_overloaded', detail: 'as told', retryable, retry_after_s } };
    },
  },
  runs_in: 'caller',
  timeout_ms: 60_000,
  slots: 1,
  health: async () => ({ reachable: true, model_present: true, last_error: null, routes: [] }),
};

const BACKENDS: Backends = {
  named: [BACKEND],
  default: BACKEND,
  sandbox: null,
  generators: { named: [], default: null },
};

replaceParts({ backendsOf: () => BACKENDS, adapterRetryWindowMs: 2_500 });

/** Judge calls of one attempt to score a rollout with one judgment; a retry makes another attempt. */
const CALLS_OF_ONE_SCORING = 1;

let marks = 0;
beforeEach(() => {
  marks++;
  Object.assign(judge, { failures: 0, calls: 0, retryable: true, retry_after_s: 1 });
});

/** A label with one judgment that no earlier test has stored. */
const label = () => ({ ...LABEL, question: `patience ${marks}?`, tool_output: 'nothing' });
const UNCITED = { response: '<answer>Yes.</answer>' };

const toOpenRlhf = () =>
  send(requestOf('openrlhf', {}, { query: [UNCITED.response], prompts: [''], labels: [label()] }));
const toNemoGym = () => {
  const content = [{ type: 'output_text', text: UNCITED.response }];
  const response = { output: [{ type: 'message', role: 'assistant', content }] };
  return send(requestOf('nemo-gym', {}, { response, citeward: label() }));
};

describe('a failure that passes', () => {
  it.each([
    ['openrlhf', toOpenRlhf],
    ['nemo-gym', toNemoGym],
  ])('%s: is waited out', async (_name, ask) => {
    judge.failures = 2;
    const started = performance.now();
    const reply = await ask();
    expect(reply.status, await reply.clone().text()).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(900);
    expect(judge.calls).toBeGreaterThan(2);
  });

  it('is answered at once to slime and LongTraceRL, which try for minutes', async () => {
    judge.failures = 1_000;
    const slime = await send(requestOf('slime', {}, { ...UNCITED, label: label() }));
    expect(slime.headers.get('retry-after')).toBe('1');
    await problemOf(slime, 503, 'judge_overloaded');
    expect(judge.calls).toBe(CALLS_OF_ONE_SCORING);
    const info = { ...EXTRA_REWARD_INFO, question: `patience ${marks}?` };
    const trace = await send(requestOf('longtracerl', {}, { extra_reward_info: info }));
    await problemOf(trace, 503, 'judge_overloaded');
    expect(judge.calls).toBe(2 * CALLS_OF_ONE_SCORING);
  });
});

describe('a failure that does not pass', () => {
  it('in time is answered, with the time after which to come back', async () => {
    judge.failures = 1_000;
    const reply = await toOpenRlhf();
    expect(reply.headers.get('retry-after')).toBe('1');
    await problemOf(reply, 503, 'judge_overloaded');
    Object.assign(judge, { calls: 0, retry_after_s: 30 });
    await problemOf(await toNemoGym(), 503, 'judge_overloaded');
    expect(judge.calls).toBe(CALLS_OF_ONE_SCORING);
  });

  it('at all is answered at once', async () => {
    Object.assign(judge, { failures: 1_000, retryable: false });
    await problemOf(await toOpenRlhf(), 503, 'judge_overloaded');
    expect(judge.calls).toBe(CALLS_OF_ONE_SCORING);
  });
});

describe('the retry window of production', () => {
  it('outlasts the memory of a failure, and leaves a judge its whole time', () => {
    expect(ADAPTER_RETRY_WINDOW_MS).toBeGreaterThan(2 * DEFAULT_RETRY_AFTER_S * 1000);
    expect(ADAPTER_RETRY_WINDOW_MS + CALLER_DEADLINE_MS).toBeLessThanOrEqual(SCORING_DEADLINE_MS);
  });
});

describe('the deadline of a request', () => {
  const compared = {
    question: ROLLOUT.question,
    tool_output: 'nothing',
    responses: ['It is long.', 'It is not.'],
  };
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] };
  const gym = { output: [message] };
  const GYM_COMPARED = { conversation_history: [{ role: 'user', content: 'Long?' }], response_objs: [gym, gym] };
  const sent: readonly (readonly [string, (deadline_s: number) => Request])[] = [
    ['slime', (deadline_s) => requestOf('slime', { deadline_s: `${deadline_s}` }, { ...UNCITED, label: label() })],
    ['compare', (deadline_s) => post('/v1/compare', { ...compared, question: `${marks}?`, deadline_s })],
    ['genrm', (deadline_s) => post(`/v1/adapters/nemo-gym/compare?deadline_s=${deadline_s}`, GYM_COMPARED)],
  ];

  it.each(sent)('%s: is how long its judges are waited for', async (_name, request) => {
    judge.deadline_ms = 0;
    await (await send(request(7))).text();
    expect(judge.deadline_ms).toBeGreaterThan(0);
    expect(judge.deadline_ms).toBeLessThanOrEqual(7_000);
    expect((await wrongFields(await send(request(901)))).join()).toContain('deadline_s');
  });
});
