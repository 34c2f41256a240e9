/** The judging protocol over a chat backend: one retry for a reply that is no judgment, under a fixed other seed. */
import { describe, expect, it } from 'vitest';
import type { ChatBackend, CompletionOutcome, CompletionRequest } from '../../../src/judgments/chat-backend.ts';
import { templateOf } from '../../../src/judgments/kinds/registry.ts';
import { createModelJudge, modelJudgeIdentity } from '../../../src/judgments/model-judge.ts';
import { RUBRIC } from './requests.ts';

const GOOD = '{"c1":{"reason":"","score":2},"c2":{"reason":"","score":1}}';
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };

function completed(text: string, usage: typeof USAGE | null = USAGE, model = 'm'): CompletionOutcome {
  return { ok: true, completion: { text, model, usage } };
}

type Call = { readonly request: CompletionRequest; readonly deadline_ms: number };

/** A judge on a backend that answers from a list, each call taking `takes_ms` of its clock. */
function judgeOf(outcomes: readonly CompletionOutcome[], takes_ms = 10) {
  const calls: Call[] = [];
  let now = 0;
  const backend: ChatBackend = {
    name: 'gpu',
    model: 'm',
    context_tokens: 8_192,
    async complete(request, { deadline_ms }) {
      calls.push({ request, deadline_ms });
      now += takes_ms;
      const outcome = outcomes[calls.length - 1];
      if (outcome === undefined) throw new Error('judgeOf: one call too many');
      return outcome;
    },
  };
  return { calls, judge: createModelJudge(backend, () => now) };
}

const judged = (outcomes: readonly CompletionOutcome[], takes_ms?: number) => {
  const { calls, judge } = judgeOf(outcomes, takes_ms);
  return judge.judge(RUBRIC, { deadline_ms: 1_000 }).then((reply) => ({ reply, calls }));
};

describe('a judge', () => {
  it('is its model under the current template and sampling', () => {
    const { judge } = judgeOf([]);
    expect(judge).toMatchObject({ name: 'gpu', model: 'm', context_tokens: 8_192 });
    expect(judge.identityFor('rubric')).toEqual(modelJudgeIdentity('m', 'rubric'));
    expect(judge.identityFor('rubric')).toEqual({
      model: 'm',
      template: templateOf('rubric'),
      sampling: { temperature: 0, top_p: 1, seed: 0, retry_seed: 1, thinking: false },
    });
  });

  it('asks once where the reply is a judgment', async () => {
    const { reply, calls } = await judged([completed(GOOD)]);
    expect(reply).toMatchObject({ ok: true, usage: USAGE });
    expect(calls.map(({ request }) => request.sampling)).toEqual([{ temperature: 0, top_p: 1, seed: 0 }]);
    expect(calls[0]?.deadline_ms).toBe(1_000);
  });

  it('asks once more, under the other seed and with the time that is left, where it is none', async () => {
    const { reply, calls } = await judged([completed('no'), completed(GOOD)], 300);
    expect(reply).toMatchObject({ ok: true, usage: { prompt_tokens: 200, completion_tokens: 40 } });
    expect(calls.map(({ request, deadline_ms }) => [request.sampling.seed, deadline_ms])).toEqual([
      [0, 1_000],
      [1, 700],
    ]);
    expect(calls[1]?.request.messages).toEqual(calls[0]?.request.messages);
  });

  it('has nothing to say after that', async () => {
    const { reply, calls } = await judged([completed('no'), completed('{"c1":{"reason":"","score":9}}')]);
    expect(reply).toMatchObject({ ok: false, failure: { reason: 'judge_reply_invalid', retryable: true } });
    expect(reply).not.toHaveProperty('verdicts');
    expect(calls.length).toBe(2);
  });

  it('does not ask again when its time is over', async () => {
    const { reply, calls } = await judged([completed('no')], 1_000);
    expect(reply).toMatchObject({ ok: false, failure: { reason: 'judge_reply_invalid' } });
    expect(calls.length).toBe(1);
  });

  it('takes no reply of another model', async () => {
    const { reply, calls } = await judged([completed(GOOD, USAGE, 'another')]);
    expect(reply).toMatchObject({ ok: false, failure: { reason: 'judge_model_mismatch', retryable: false } });
    expect(calls.length).toBe(1);
  });

  it('passes on what the backend failed with, and leaves retrying to the router', async () => {
    const failure = { reason: 'judge_overloaded', detail: 'why', retryable: true, retry_after_s: 9 } as const;
    const { reply, calls } = await judged([{ ok: false, failure }]);
    expect(reply).toMatchObject({ ok: false, failure });
    expect(calls.length).toBe(1);
  });

  it('passes on what the second call failed with', async () => {
    const failure = { reason: 'judge_timeout', detail: 'why', retryable: true } as const;
    expect((await judged([completed('no'), { ok: false, failure }])).reply).toMatchObject({ ok: false, failure });
  });

  it('does not know what a call cost whose usage it does not know', async () => {
    expect((await judged([completed('no', null), completed(GOOD)])).reply).toMatchObject({ ok: true, usage: null });
  });
});
