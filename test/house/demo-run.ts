/** Scores the groups of a demo run in this process, as the Worker scores them. */
import { createScorer, lexicalJudge } from '../../lib/index.ts';
import type { DemoRun } from '../../scripts/demo-run/runs.ts';
import type { ScoredGroup, ScoreGroup } from '../../scripts/demo-run/train.ts';
import type { BaseFacts } from '../../src/family/facts.ts';
import { groupRequestSchema, groupRollouts } from '../../src/wire/groups.ts';

/** A scored group with the facts of its samples. */
export type GroupWithFacts = ScoredGroup & { readonly facts: readonly BaseFacts[] };

export function scoringInProcess({ recipe }: DemoRun): ScoreGroup<GroupWithFacts> {
  const scorer = createScorer({ judge: lexicalJudge });
  return async (input) => {
    const request = groupRequestSchema.parse(input);
    const rollouts = groupRollouts(request).map(({ messages: _messages, trajectory: _trajectory, ...text }) => text);
    const { samples } = await scorer.group(rollouts, recipe, { advantages: 'trl', measureAll: true });
    return {
      rewards: samples.map(({ reward }) => reward),
      advantages: samples.map(({ advantage, masked }) => ({ advantage, masked })),
      facts: samples.map(({ facts }) => facts),
    };
  };
}
