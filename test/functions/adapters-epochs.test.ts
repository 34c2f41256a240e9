/** Epochs of a prompt in a recorded run, where the judge fails for some samples and the trainer sends no ids. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backends } from '../../service/backends/configured.ts';
import { judgeLexically } from '../../src/judgments/lexical-judge.ts';
import { rolloutListSchema } from '../../src/wire/runs.ts';
import { ORIGIN, post, ROLLOUT, send } from './api.ts';
import { replaceParts } from './worker.ts';

let isDown = false;

replaceParts({
  backendsOf: (): Backends => ({
    named: [
      {
        judge: {
          name: 'shaky',
          model: 'shaky',
          identityFor: () => ({ model: 'shaky', template: 'told', sampling: null }),
          context_tokens: null,
          judge: async (request) =>
            isDown
              ? // The adapters with a retry window wait only for shorter times.
                { ok: false, failure: { reason: 'judge_unreachable', detail: '', retryable: true, retry_after_s: 600 } }
              : { ok: true, verdicts: judgeLexically(request), usage: null },
        },
        runs_in: 'caller',
        timeout_ms: 60_000,
        slots: 4,
        health: async () => ({ reachable: true, model_present: true, last_error: null, routes: [] }),
      },
    ],
    default: null,
    sandbox: null,
    generators: { named: [], default: null },
  }),
});

beforeEach(() => {
  isDown = false;
});

/** Scores a sample of the prompt; each number is another response. Returns the status. */
async function sample(run: string, number: number, adapter: 'slime' | 'gym' = 'slime'): Promise<number> {
  const { tool_output, positive_rubrics, question } = ROLLOUT;
  const response = ROLLOUT.response.replace('</answer>', ` It is answer ${number} of ${run}.</answer>`);
  const row = { tool_output, positive_rubrics };
  const query = `?recipe=${ROLLOUT.recipe}&run=${run}&judge=shaky`;
  const asked =
    adapter === 'slime'
      ? post(`/v1/adapters/slime${query}&group_size=4`, { prompt: question, response, label: row })
      : post(`/v1/adapters/nemo-gym/verify${query}`, {
          responses_create_params: { input: question },
          response: { output: [{ type: 'message', role: 'assistant', content: response }] },
          citeward: row,
          _ng_task_index: 1,
          _ng_rollout_index: number % 4,
        });
  const reply = await send(asked);
  await reply.text();
  return reply.status;
}

/** The rewards of each group of the run, by group. */
async function groupsOf(run: string): Promise<(number | null)[][]> {
  const reply = await send(new Request(`${ORIGIN}/v1/runs/${run}/rollouts?limit=100`));
  const { rollouts } = rolloutListSchema.parse(await reply.json());
  const groups = new Map<string, (number | null)[]>();
  for (const { group, reward } of rollouts) groups.set(group, [...(groups.get(group) ?? []), reward]);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rewards]) => rewards);
}

describe.each(['slime', 'gym'] as const)('of %s', (adapter) => {
  it('stay apart where the judge failed for a sample until the trainer gave up', async () => {
    const run = `lost-${adapter}`;
    for (const number of [0, 1, 2]) expect(await sample(run, number, adapter)).toBe(200);
    isDown = true;
    for (const _try of [0, 1, 2]) expect(await sample(run, 3, adapter)).toBe(503);
    isDown = false;
    // The sample that was lost has the first place of the next epoch.
    for (const number of [7, 4, 5, 6]) expect(await sample(run, number, adapter)).toBe(200);
    const [first = [], second = [], ...others] = await groupsOf(run);
    expect([first.length, first.filter((reward) => reward === null).length]).toEqual([4, 1]);
    expect([second.length, second.includes(null)]).toEqual([4, false]);
    expect(others).toEqual([]);
  });

  it('count a sample once where a retry succeeds', async () => {
    const run = `retried-${adapter}`;
    expect(await sample(run, 0, adapter)).toBe(200);
    isDown = true;
    expect(await sample(run, 1, adapter)).toBe(503);
    isDown = false;
    for (const number of [2, 1, 3, 4]) expect(await sample(run, number, adapter)).toBe(200);
    const [first = [], second = []] = await groupsOf(run);
    expect([first.length, first.includes(null), second.length]).toEqual([4, false, 1]);
  });
});
