/** The short reply (`detail: "reward"`): a failed judgment is named, judges are counted, and no report is built. */
import { expect, it } from 'vitest';
import { BUILT_IN } from '../../../src/families/composers.ts';
import { planRollout } from '../../../src/families/registry.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import { done, type Stage } from '../../../src/family/stages.ts';
import { judgeLexically, LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { type ScoringRules, scoreRolloutBy } from '../../../src/scoring/score-rollouts.ts';
import { groupReplyOf, groupRewardResponseSchema } from '../../../src/wire/groups.ts';
import { rewardResponseSchema, scoreReplyOf } from '../../../src/wire/score-detail.ts';
import { resolved, scoreAlone, scoreMembers } from './scoring-line.ts';

const ROLLOUT: Rollout = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  response:
    '<answer><snippet id=S1>The river Aare is 288 km in length.</snippet> It is popular with swimmers.</answer>',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
};
const OTHER: Rollout = { ...ROLLOUT, response: ROLLOUT.response.replace('swimmers', 'rowers') };
const SHORT = { detail: 'reward', offsets: 'utf16' } as const;
const RECIPE = 'refiner-rl-balanced';

it('names the failed judgment of an unscored member, and leaves the others as they are', async () => {
  const members = await scoreMembers([ROLLOUT, OTHER], RECIPE, {
    judge: (request) =>
      request.kind === 'rubric' && request.answer.includes('rowers') ? 'judge_timeout' : judgeLexically(request),
  });
  const group = groupReplyOf({ advantages: 'mean', ...SHORT }, [ROLLOUT, OTHER], members);
  if (!group.ok) throw new Error(JSON.stringify(group.error));
  const { rewards, advantages, members: short, judges } = groupRewardResponseSchema.parse(group.value);
  expect(rewards).toEqual([expect.any(Number), null]);
  expect(advantages[1]).toEqual({ advantage: 0, masked: true });
  expect(short[0]).not.toHaveProperty('failure');
  expect(short[1]).toMatchObject({
    ...{ status: 'unscored', reason: 'judge_timeout', contributions: null },
    components: { rubric: null },
    failure: { reason: 'judge_timeout', detail: 'as told', retryable: true },
  });
  expect(judges.map(({ kind, judgments, cached }) => [kind, judgments, cached])).toEqual([
    ['rubric', 1, 0],
    ['citations', 2, 0],
  ]);
});

it('says that the reward depends on a group that was not given', async () => {
  const trace: Rollout = {
    ...{ question: 'Which river flows through Bern?', response: 'The Aare, in Bern.', reference: 'the Aare' },
    ...{ entities: ['Aare', 'Bern'], finish_reason: 'stop' },
  };
  const alone = await scoreAlone(trace, 'longtrace-rl', { judge: judgeLexically });
  const [member] = await scoreMembers([trace], 'longtrace-rl', { judge: judgeLexically });
  if (member === undefined) throw new Error('no member');
  expect(rewardResponseSchema.parse(scoreReplyOf(SHORT, trace, alone)).final).toBe(false);
  expect(rewardResponseSchema.parse(scoreReplyOf(SHORT, trace, member))).not.toHaveProperty('final');
});

it('builds no report of the rollout', async () => {
  const unreported = <Value extends { readonly reply: unknown }>(stage: Stage<Value>): Stage<Value> =>
    stage.status === 'ask'
      ? { ...stage, next: (outcomes) => unreported(stage.next(outcomes)) }
      : done({ ...stage.value, reply: () => reportBuilt() });
  const reportBuilt = (): never => {
    throw new Error('a report was built');
  };
  const rules: ScoringRules = {
    composers: BUILT_IN,
    verdicts: () => null,
    sign: null,
    plan(rollout, recipe, options) {
      const planned = planRollout(rollout, recipe, options);
      return planned.ok ? { ok: true, value: unreported(planned.value) } : planned;
    },
  };
  const scored = await scoreRolloutBy(
    rules,
    { rollout: ROLLOUT, recipe: await resolved(RECIPE) },
    {
      judge: { ok: true, judge: LEXICAL_JUDGE },
      store: createMemoryJudgmentStore(),
      mode: 'use',
      replicate: 0,
      deadline_ms: 1_000,
      now: () => '2026-01-01T00:00:00.000Z',
      elapsed: () => 0,
    },
  );
  if (scored.status !== 'done') throw new Error(scored.status);
  expect(rewardResponseSchema.parse(scoreReplyOf(SHORT, ROLLOUT, scored))).toMatchObject({ status: 'scored' });
  expect(() => scoreReplyOf({ ...SHORT, detail: 'full' }, ROLLOUT, scored)).toThrow('a report was built');
});
