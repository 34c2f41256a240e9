/** Scores the groups of a demo run in this process, as the Worker scores and records them. */
import { advantages, memoryStore } from '../../lib/index.ts';
import type { DemoRun } from '../../scripts/demo-run/runs.ts';
import type { ScoredGroup, ScoreGroup } from '../../scripts/demo-run/train.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import type { BaseFacts } from '../../src/family/facts.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import type { ObtainOptions } from '../../src/judgments/obtain.ts';
import { createWordCounter } from '../../src/lexical/index.ts';
import { recordedScore } from '../../src/runs/recorded-score.ts';
import type { RolloutCounts } from '../../src/runs/rollout-counts.ts';
import { scoreGroup } from '../../src/scoring/score-rollouts.ts';
import { groupRequestSchema, groupRollouts } from '../../src/wire/groups.ts';

/** A scored group with the facts and counts of its samples. */
export type GroupWithFacts = ScoredGroup & {
  readonly facts: readonly BaseFacts[];
  readonly counts: readonly RolloutCounts[];
};

export function scoringInProcess({ recipe, name }: DemoRun): ScoreGroup<GroupWithFacts> {
  const options: ObtainOptions = {
    judge: { ok: true, judge: LEXICAL_JUDGE },
    store: memoryStore(),
    mode: 'use',
    replicate: 0,
    deadline_ms: 60_000,
    now: () => new Date().toISOString(),
    elapsed: () => performance.now(),
  };
  const resolved = resolveRecipe(recipe);
  const words = { run: name, count: createWordCounter() };
  return async (input) => {
    const read = await resolved;
    if (!read.ok) throw new Error(`the recipe of a demo run: ${JSON.stringify(read.error)}`);
    const rollouts = groupRollouts(groupRequestSchema.parse(input));
    const scored = await scoreGroup({ rollouts, recipe: read.value, plan: { measureAll: true } }, options);
    if (scored.status !== 'done') throw new Error(`a group of a demo run was not scored: ${scored.status}`);
    const rewards = scored.members.map(({ score }) => score.reward);
    return {
      rewards,
      advantages: advantages(rewards, 'trl').advantages.map((one) => ({ ...one })),
      facts: scored.members.map(({ facts }) => facts),
      counts: scored.members.map((member) => recordedScore(member, false, { words }).counts),
    };
  };
}
