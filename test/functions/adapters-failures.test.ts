/**
 * The fault matrix through the adapters: for every fault of a judge, a trainer gets an error status and a body that its
 * client cannot take for a reward.
 */
import { describe, expect, it } from 'vitest';
import type { JudgeBackend } from '../../service/backends/judge-backends.ts';
import type { CompletionOutcome } from '../../src/judgments/chat-backend.ts';
import { createModelJudge } from '../../src/judgments/model-judge.ts';
import { SERVER_FAULTS, STUB_CANARY } from '../contract/backend-faults.ts';
import { EXTRA_REWARD_INFO, LABEL, requestOf, TRAINERS, type Trainer } from './adapters-trainers.ts';
import { problemOf, send } from './api.ts';
import { DOOR_FAULTS } from './matrix-rows.ts';
import { stubBackends } from './stub-judges.ts';
import { replaceParts } from './worker.ts';

/** Replies of a model that are not an outcome. */
const GARBAGE = [
  '1',
  '0.0',
  'yes',
  'The answer is correct: yes',
  '{"correct": true}',
  '{"reason": "so", "correct": 1}',
  '{"reason": "so", "correct": "yes"}',
  '{"reason": "so", "correct": true, "correct": false}',
  '{"reason": "so", "correct": true, "reward": 1}',
  '[{"reason": "so", "correct": true}]',
  '{"reason": "so", "correct": tr',
  '',
];

// LongTraceRL asks only for outcomes, which the stub server does not support: a scripted backend fails in the same
// ways.
function told(name: string, outcome: CompletionOutcome): JudgeBackend {
  const chat = { name, model: 'told', context_tokens: 32_768, complete: async () => outcome };
  const health = async () => ({ reachable: true, model_present: true, last_error: null, routes: [] });
  return { judge: createModelJudge(chat, () => 0), runs_in: 'caller', slots: 8, timeout_ms: 60_000, health };
}

const good = '{"reason": "so", "correct": true}';
const TOLD: readonly JudgeBackend[] = [
  ...Object.entries(SERVER_FAULTS).map(([name, { reason, retryable }]) =>
    told(`told ${name}`, { ok: false, failure: { reason, retryable, detail: 'as told' } }),
  ),
  ...GARBAGE.map((text, n) => told(`garbage ${n}`, { ok: true, completion: { text, usage: null, model: 'told' } })),
  told('told vllm', { ok: true, completion: { text: good, usage: null, model: 'told' } }),
];

replaceParts({
  backendsOf() {
    const stub = stubBackends();
    return { ...stub, named: [...stub.named, ...TOLD] };
  },
  // adapters-patience.test.ts tests retries.
  adapterRetryWindowMs: 0,
});

/** Fields that make each request unique, so that no stored judgment answers it. */
function ownFields(trainer: Trainer, mark: string): object {
  const label = { ...LABEL, question: `${LABEL.question} ${mark}` };
  switch (trainer) {
    case 'slime':
      return { label };
    case 'longtracerl':
      return { extra_reward_info: { ...EXTRA_REWARD_INFO, question: mark } };
    case 'openrlhf':
      return { labels: [label] };
    case 'nemo-gym':
      return { citeward: label };
  }
}

/** Whoever fails so, for the trainer. */
const judgeOf = (trainer: Trainer, name: string): string => (trainer === 'longtracerl' ? `told ${name}` : name);

describe.each(TRAINERS)('%s', (trainer) => {
  it.concurrent.each(DOOR_FAULTS)('%s is no number', async (judge, { reason, retryable, status }) => {
    const query = { judge: judgeOf(trainer, judge), ...(trainer === 'slime' ? { reply: 'object' } : {}) };
    const reply = await send(requestOf(trainer, query, ownFields(trainer, judge)));
    const text = await reply.clone().text();
    expect(text).not.toContain(STUB_CANARY);
    expect(reply.headers.get('retry-after') !== null).toBe(retryable);
    expectNoNumber(text);
    await problemOf(reply, status, reason);
  });

  it('a good judge gives one, also for a run', async () => {
    for (const run of [{}, { run: `r-${trainer}` }]) {
      const reply = await send(
        requestOf(trainer, { judge: judgeOf(trainer, 'vllm'), ...run }, ownFields(trainer, 'good')),
      );
      expect(reply.status, await reply.clone().text()).toBe(200);
    }
  });

  it('a failure that matters is one for a run too', async () => {
    const fields = ownFields(trainer, 'a run');
    const reply = await send(requestOf(trainer, { judge: judgeOf(trainer, 'http_500'), run: `r-${trainer}` }, fields));
    expectNoNumber(await reply.clone().text());
    await problemOf(reply, 503, 'judge_error');
  });
});

/** Neither a bare number nor an object with a reward in it. */
function expectNoNumber(text: string): void {
  expect(text.trim()).toMatch(/^\{/);
  expect(text).not.toMatch(/reward|scores|rubric/);
}

describe('longtracerl', () => {
  it.each(GARBAGE.map((text, n) => [text, n] as const))('%s is no outcome', async (_text, n) => {
    const reply = await send(
      requestOf('longtracerl', { judge: `garbage ${n}` }, ownFields('longtracerl', `garbage ${n}`)),
    );
    expectNoNumber(await reply.clone().text());
    expect((await problemOf(reply, 503, 'judge_reply_invalid')).retryable).toBe(true);
  });
});

describe('a program without a sandbox', () => {
  it('is no number', async () => {
    const label = { tests: [{ stdin: '1', stdout: '2' }], num_turns: 2, response_tokens: 9 };
    const response = '```python\nprint(2)\n```';
    const reply = await send(requestOf('slime', { recipe: 'grpo-tcr' }, { label, response }));
    expectNoNumber(await reply.clone().text());
    await problemOf(reply, 503, 'sandbox_unconfigured');
  });
});

describe('openrlhf with several samples', () => {
  it('fails as a whole, by what no retry mends where there is such', async () => {
    const { query, prompts } = { query: ['p a', 'p b', 'p c'], prompts: ['p ', 'p ', 'p '] };
    const answered = { ...LABEL, question: 'several?' };
    const texts = query.map((text) => `${text} <answer>yes, ${text}</answer>`);
    const labels = [answered, answered, answered];
    const failed = await send(requestOf('openrlhf', { judge: 'http_503_seconds' }, { query: texts, prompts, labels }));
    expect(failed.headers.get('retry-after')).toBe('9');
    expectNoNumber(await failed.clone().text());
    await problemOf(failed, 503, 'judge_overloaded');
    // One of the samples needs no judge; the request fails nevertheless.
    const mixed = { query: ['p no answer', ...texts.slice(1)], prompts, labels };
    await problemOf(await send(requestOf('openrlhf', { judge: 'http_403' }, mixed)), 503, 'judge_unauthorized');
  });
});
