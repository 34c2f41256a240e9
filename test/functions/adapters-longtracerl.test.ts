/**
 * Compares the LongTraceRL adapter with every golden row of the reference's `evaluate` and `get_reward`, through the
 * whole Worker, with a judge that repeats the row's verdict. One row differs: missing arguments are 422 here.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Backends } from '../../service/backends/configured.ts';
import type { JudgeBackend } from '../../service/backends/judge-backends.ts';
import { longTraceRlReplySchema } from '../../src/wire/adapters/longtracerl.ts';
import { runDetailSchema } from '../../src/wire/runs.ts';
import rowsText from '../golden/longtrace.jsonl?raw';
import { adapterPath, EXTRA_REWARD_INFO } from './adapters-trainers.ts';
import { ORIGIN, post, send, wrongFields } from './api.ts';
import { replaceParts } from './worker.ts';

const asked: unknown[] = [];

function judgeThat(name: string, correct: boolean): JudgeBackend {
  return {
    judge: {
      name,
      model: name,
      identityFor: () => ({ model: name, template: 'told', sampling: null }),
      context_tokens: null,
      async judge(request) {
        asked.push(request);
        return { ok: true, verdicts: { kind: 'outcome', correct }, usage: null };
      },
    },
    runs_in: 'caller',
    timeout_ms: 60_000,
    slots: 1,
    health: async () => ({ reachable: true, model_present: true, last_error: null, routes: [] }),
  };
}

const BACKENDS: Backends = {
  named: [judgeThat('right', true), judgeThat('wrong', false)],
  default: null,
  sandbox: null,
  generators: { named: [], default: null },
};

replaceParts({ backendsOf: () => BACKENDS });

type Row = {
  readonly id: string;
  readonly fn: string;
  readonly note: string;
  readonly input: {
    readonly outcome: number;
    readonly request?: { readonly extra_reward_info: { readonly rubric_reward_ratio: number } };
    readonly answer?: string;
    readonly history?: unknown;
    readonly extra_info?: { readonly rubric_reward_ratio: number };
  };
  readonly output: {
    readonly error?: number;
    readonly outcome_reward: number;
    readonly rubric_reward: number;
    readonly reward: number;
  };
};

const ROWS = rowsText
  .split('\n')
  .filter((line) => line !== '')
  .map((line): Row => JSON.parse(line));

/** The body that the trainer's client sends for a row. */
function bodyOf({ fn, input }: Row): unknown {
  if (fn === 'evaluate') return input.request;
  return { label: input.answer, extra_reward_info: input.extra_info, history: input.history };
}

const evaluate = (body: unknown, outcome: number) =>
  send(post(adapterPath('longtracerl', { judge: outcome === 1 ? 'right' : 'wrong' }), body));

describe('the rows of the reference', () => {
  const rows = ROWS.filter(({ fn }) => fn === 'evaluate' || fn === 'get_reward').map((row) => [row.id, row] as const);

  it('are all there', () => {
    expect(rows).toHaveLength(20);
  });

  it.each(rows)('%s', async (_id, row) => {
    asked.length = 0;
    const reply = await evaluate(bodyOf(row), row.input.outcome);
    if (row.output.error !== undefined) {
      expect(row.output.error).toBe(500);
      return expect(await wrongFields(reply)).toEqual(['history']);
    }
    expect(reply.status).toBe(200);
    const rewards = longTraceRlReplySchema.parse(await reply.json());
    expect(Object.keys(rewards).length).toBe(3);
    for (const name of ['outcome_reward', 'rubric_reward', 'reward'] as const) {
      expect(rewards[name], `${row.note}: ${name}`).toBeCloseTo(row.output[name], 9);
    }
    const { rubric_reward_ratio } = row.input.request?.extra_reward_info ?? row.input.extra_info ?? {};
    if (rubric_reward_ratio === 1) expect(asked).toEqual([]);
  });
});

describe('the history', () => {
  const rewards = async (history: readonly object[]) => {
    const reply = await evaluate({ label: 'x', extra_reward_info: EXTRA_REWARD_INFO, history }, 1);
    return longTraceRlReplySchema.parse(await reply.json());
  };
  const answer = { role: 'assistant', content: 'The Aare.' };

  it('is read like other messages: parts, tool results, calls without content, context of others', async () => {
    const search = { tool_call_id: 'c1', name: 'search', arguments: '{}' };
    const spoken = await rewards([
      { role: 'user', content: [{ type: 'text', text: 'Which river?' }] },
      { role: 'assistant', content: null, tool_calls: [search] },
      { role: 'tool', content: [{ tool_call_id: 'c1', output: 'Bern' }] },
      { role: 'assistant', content: 'Koblenz', sampled: false },
      { role: 'assistant', content: [{ type: 'text', text: 'The Aare, in Bern.' }] },
    ]);
    expect(spoken).toEqual({ outcome_reward: 1, rubric_reward: 0.5, reward: 0.85 });
  });

  it('counts entities in calls that are written in the text, as the server does', async () => {
    const call = '<tool_call>{"name": "search", "arguments": {"q": "Bern"}}</tool_call>';
    const turns = [{ role: 'assistant', content: call }, { role: 'user', content: 'Koblenz' }, answer];
    expect((await rewards(turns)).rubric_reward).toBe(0.5);
  });

  it('earns 0 if it ends without content, as with a call alone', async () => {
    for (const last of [
      { role: 'assistant' },
      { role: 'assistant', content: null },
      { role: 'tool', content: 'Aare' },
    ]) {
      expect(await rewards([answer, last])).toEqual({ outcome_reward: 0, rubric_reward: 0, reward: 0 });
    }
  });

  it('is refused with the path of what cannot be read', async () => {
    const history = [{ role: 'user', content: 3 }, { role: 'assistant', tool_calls: [{}] }, answer];
    const reply = await evaluate({ label: 'x', extra_reward_info: EXTRA_REWARD_INFO, history }, 1);
    expect(await wrongFields(reply)).toEqual(['history[0].content', 'history[1].tool_calls[0].name']);
  });
});

describe('the judge', () => {
  const turns = [
    { role: 'user', content: 'A very long context' },
    { role: 'assistant', content: 'Kurrent' },
    { role: 'user', content: 'Go on.' },
  ];
  const outcomeOf = async (content: string) => {
    asked.length = 0;
    const history = [...turns, { role: 'assistant', content }];
    const reply = await evaluate({ label: 'ten', extra_reward_info: EXTRA_REWARD_INFO, history }, 1);
    return longTraceRlReplySchema.parse(await reply.json()).outcome_reward;
  };

  it('sees the question, the label and what follows the last </think> of the last message', async () => {
    expect(await outcomeOf('<think>a</think> b </think> ten pages')).toBe(1);
    expect(asked).toEqual([
      { kind: 'outcome', question: EXTRA_REWARD_INFO.question, reference: 'ten', answer: 'ten pages' },
    ]);
  });

  it('is not asked where nothing follows it: that is 0, determined', async () => {
    expect(await outcomeOf('<think>a</think>\n')).toBe(0);
    expect(asked).toEqual([]);
  });

  it('measures the outcome of a run where its share is 0, and the reply stays as it is', async () => {
    asked.length = 0;
    const info = { ...EXTRA_REWARD_INFO, rubric_reward_ratio: 1 };
    const body = {
      label: 'in a run',
      extra_reward_info: info,
      history: [...turns, { role: 'assistant', content: 'Aare' }],
    };
    const reply = await send(post(adapterPath('longtracerl', { judge: 'right', run: 'r' }), body));
    expect(await reply.json()).toMatchObject({ outcome_reward: 0, rubric_reward: 0.25, reward: 0.25 });
    expect(asked).toHaveLength(1);
  });

  it('keeps the outcome and the metrics of the trainer in the run, and the reply stays as it is', async () => {
    const bodies = [
      {
        label: 'kept',
        extra_reward_info: EXTRA_REWARD_INFO,
        history: [...turns, { role: 'assistant', content: 'Aare' }],
      },
      {
        history: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: 'kept' },
        ],
        label: 'kept',
        task_unfinished: false,
        remote_env_info: { question: 'q', rubrics: [] },
      },
    ];
    for (const [n, body] of bodies.entries()) {
      const path = adapterPath('longtracerl', { judge: 'right', run: `kept-${n}` });
      const reported = { outcome: 0.5, metrics: { exact_match: 0 } };
      const reply = await send(post(path, { ...body, ...reported }));
      const { run, ...rewards } = z.looseObject({ run: z.object({ id: z.string() }) }).parse(await reply.json());
      expect(rewards).toEqual(await (await send(post(adapterPath('longtracerl', { judge: 'right' }), body))).json());
      const kept = await send(new Request(`${ORIGIN}/v1/runs/${run.id}`));
      const { steps } = runDetailSchema.parse(await kept.json());
      expect(steps.map(({ outcome, metrics }) => ({ outcome, metrics }))).toEqual([
        { outcome: { rollouts: 1, mean: 0.5 }, metrics: { exact_match: { rollouts: 1, mean: 0 } } },
      ]);
      const wrong = await send(post(path, { ...body, outcome: 'right' }));
      expect(await wrongFields(wrong)).toEqual(['outcome']);
    }
  });
});
