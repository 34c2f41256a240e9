/**
 * The reward that the persistent criteria of an evolving rubric alone would have given. Rewards of different sets are not
 * comparable over the steps of a run; these are, while no persistent criterion is retired.
 */
import { compose, type Facts, type Recipe } from '../families/composers.ts';
import { familyOf } from '../families/registry.ts';
import type { RecordedSet } from '../rubrics/recorded-set.ts';

/** @returns null if the rollout has no such reward: the set has no persistent criterion, or a judged part is missing. */
export function persistentReward(
  facts: Facts,
  recipe: Recipe,
  { entries, positions }: Pick<RecordedSet, 'entries' | 'positions'>,
): number | null {
  const kept = new Map(
    entries.flatMap(({ type, weight }, n) => {
      const position = positions[n];
      return type === 'persistent' && position !== undefined ? [[position, weight] as const] : [];
    }),
  );
  const { rubric } = familyOf(facts);
  if (rubric === undefined || kept.size === 0) return null;
  return compose(rubric.only(facts, kept), recipe).reward;
}
