/** The desk of one process: one call for equal questions at the same time, remembered failures, an open circuit, slots. */
import { expect, test } from 'vitest';
import { MemoryDesk } from '../../../hosts/memory/memory-desk.ts';
import type { JudgeBackend } from '../../../service/backends/judge-backends.ts';
import { BREAKER_FAILURES } from '../../../service/desk/circuit-breaker.ts';
import type { JudgmentCall } from '../../../src/judgments/desk.ts';
import type { JudgeReply } from '../../../src/judgments/judge.ts';
import { judgmentKey, judgmentPreimage } from '../../../src/judgments/key.ts';
import type { JudgmentRequest } from '../../../src/judgments/kinds/registry.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';

const DOWN: JudgeReply = { ok: false, failure: { reason: 'judge_unreachable', detail: 'down', retryable: true } };

function backend(slots: number, answer: (request: JudgmentRequest) => Promise<JudgeReply>) {
  const calls: JudgmentRequest[] = [];
  const running = { now: 0, most: 0 };
  const one: JudgeBackend = {
    judge: {
      ...LEXICAL_JUDGE,
      name: 'model',
      async judge(request) {
        calls.push(request);
        running.most = Math.max(running.most, ++running.now);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running.now--;
        return answer(request);
      },
    },
    runs_in: 'desk',
    timeout_ms: 60_000,
    slots,
    health: async () => ({ reachable: true, model_present: true, last_error: null, routes: [] }),
  };
  return { one, calls, running };
}

const byWords = (request: JudgmentRequest) => LEXICAL_JUDGE.judge(request, { deadline_ms: 1_000 });

function call(question: string, deadline_ms = 5_000): JudgmentCall {
  const request: JudgmentRequest = {
    kind: 'rubric',
    question,
    answer: 'The Aare is 288 km long.',
    criteria: [{ title: 'Length', description: 'States that the Aare is 288 km long' }],
    sources: [],
  };
  const preimage = judgmentPreimage(request, LEXICAL_JUDGE.identityFor('rubric'), 0, new Map());
  return { judge: 'model', key: judgmentKey(preimage), preimage, request, class: 'live', deadline_ms };
}

test('equal questions at the same time are one call, whose judgment is stored before the reply', async () => {
  const store = createMemoryJudgmentStore();
  const { one, calls } = backend(4, byWords);
  const desk = new MemoryDesk([one], store);
  const asked = call('How long is the Aare?');
  const [first, second] = await Promise.all([desk.judge(asked), desk.judge(asked)]);
  expect([first.ok, second.ok, calls.length, desk.calls]).toEqual([true, true, 1, 1]);
  expect((await store.get([asked.key])).get(asked.key)?.ok).toBe(true);
});

test('at most as many calls run as the judge has slots', async () => {
  const { one, running } = backend(2, byWords);
  const desk = new MemoryDesk([one], createMemoryJudgmentStore());
  const replies = await Promise.all(Array.from({ length: 7 }, (_, n) => desk.judge(call(`Question ${n}?`))));
  expect(replies.every(({ ok }) => ok)).toBe(true);
  expect(running.most).toBe(2);
});

test('an early retry of a failed question makes no call, and failures in a row open the circuit', async () => {
  const { one, calls } = backend(1, async () => DOWN);
  const desk = new MemoryDesk([one], createMemoryJudgmentStore());
  const reasonOf = async (asked: JudgmentCall) => {
    const reply = await desk.judge(asked);
    return reply.ok ? null : reply.failure.reason;
  };
  const asked = call('How long is the Aare?');
  expect([await reasonOf(asked), await reasonOf(asked), calls.length]).toEqual([
    'judge_unreachable',
    'judge_unreachable',
    1,
  ]);
  for (let n = 1; n < BREAKER_FAILURES; n++) await desk.judge(call(`Question ${n}?`));
  expect(await reasonOf(call('Another?'))).toBe('judge_circuit_open');
  expect(calls.length).toBe(BREAKER_FAILURES);
});

test('a caller who leaves at its deadline ends no call: the next one joins it', async () => {
  const { one, calls } = backend(1, byWords);
  const desk = new MemoryDesk([one], createMemoryJudgmentStore());
  const early = await desk.judge(call('How long is the Aare?', 0));
  expect(early).toMatchObject({ ok: false, failure: { reason: 'judge_running', retryable: true } });
  expect((await desk.judge(call('How long is the Aare?'))).ok).toBe(true);
  expect(calls.length).toBe(1);
});
