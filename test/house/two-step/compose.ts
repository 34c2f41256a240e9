/** The reward of the two-step family, from facts and a recipe. Pure, and importable without zod. */
import type { GroupVotes } from '../../family/family.ts';
import type { Component } from '../../family/score.ts';
import type { TwoStepFacts, TwoStepRecipe, TwoStepScore } from './schemas.ts';

/** Share of the criteria that are met, [0, 1]; `null` = unknown. */
function shareOf({ outcome, criteria }: TwoStepFacts): number | null {
  if (outcome.status === 'scored' && !outcome.observed) return 0;
  if (criteria.status === 'unscored') return null;
  const sum = criteria.observed.reduce((total, { score }) => total + score / 2, 0);
  return criteria.observed.length === 0 ? 0 : sum / criteria.observed.length;
}

export function twoStepVote(facts: TwoStepFacts, recipe: TwoStepRecipe): number | null {
  return recipe.ask_criteria && recipe.divide_by_group_max ? shareOf(facts) : null;
}

/**
 *     reward = 0 if the answer is wrong, else (1 - weight) + weight * share; weight is 0 without ask_criteria
 *     share is divided by the group's largest if divide_by_group_max
 */
export function composeTwoStep(facts: TwoStepFacts, recipe: TwoStepRecipe, group: GroupVotes): TwoStepScore {
  const { ask_criteria, divide_by_group_max } = recipe;
  const weight = ask_criteria ? recipe.weight : 0;
  const max = divide_by_group_max ? (group?.max ?? null) : null;
  const own = shareOf(facts);
  const share = own === null || max === null || max === 0 ? own : own / max;
  const right = facts.outcome.status === 'scored' ? Number(facts.outcome.observed) : null;
  const reason =
    facts.outcome.status === 'unscored'
      ? facts.outcome.reason
      : facts.criteria.status === 'unscored' && right === 1 && weight > 0
        ? facts.criteria.reason
        : null;
  const part = (value: number | null, partWeight: number): Component =>
    value === null
      ? { status: 'unscored', value: null, weight: partWeight, contribution: null, reason: reason ?? 'not_measured' }
      : { status: 'scored', value, weight: partWeight, contribution: reason === null ? partWeight * value : 0 };
  const gate = right === 1 ? weight : 0;
  const components = { outcome: part(right, 1 - weight), two_step_share: part(share, gate) };
  const reward = reason === null ? (1 - weight) * (right ?? 0) + gate * (share ?? 0) : null;
  return {
    family: 'two-step',
    reward,
    base: reward,
    status: reward === null ? 'unscored' : 'scored',
    reason,
    decided_by: reward === null ? null : 'components',
    components,
    details: { group_max: max, final: !divide_by_group_max || group !== null },
  };
}
