/** The reward of the two-step family, from facts and a recipe. Pure, and importable without zod. */
import type { GroupVote, GroupVotes } from '../../family/family.ts';
import type { Component } from '../../family/score.ts';
import type { TwoStepFacts, TwoStepRecipe, TwoStepScore } from './schemas.ts';

/** Share of the criteria that are met, [0, 1]; `null` = unknown. */
function shareOf({ outcome, criteria }: TwoStepFacts): number | null {
  if (outcome.status === 'scored' && !outcome.observed) return 0;
  if (criteria.status === 'unscored') return null;
  const sum = criteria.observed.reduce((total, { score }) => total + score / 2, 0);
  return criteria.observed.length === 0 ? 0 : sum / criteria.observed.length;
}

/** A member whose judgments are lost votes within the range that they leave open. */
export function twoStepVote(facts: TwoStepFacts | null, recipe: TwoStepRecipe): GroupVote {
  if (!recipe.ask_criteria || !recipe.divide_by_group_max) return null;
  const share = facts === null ? null : shareOf(facts);
  const maybeWrong = facts?.outcome.status === 'unscored';
  return share === null || maybeWrong ? { least: 0, most: share ?? 1 } : share;
}

const dividedShare = (share: number | null, max: number | null) =>
  share === null || max === null || max === 0 ? share : share / max;

/**
 *     reward = 0 if the answer is wrong, else (1 - weight) + weight * share; weight is 0 without ask_criteria
 *     share is divided by the group's largest if divide_by_group_max
 */
export function composeTwoStep(facts: TwoStepFacts, recipe: TwoStepRecipe, group: GroupVotes): TwoStepScore {
  const { ask_criteria, divide_by_group_max } = recipe;
  const weight = ask_criteria ? recipe.weight : 0;
  const votes = divide_by_group_max ? group : null;
  const range = votes?.unknown ?? { least: votes?.max ?? null, most: votes?.max ?? null };
  const own = shareOf(facts);
  const share = dividedShare(own, range.least);
  const right = facts.outcome.status === 'scored' ? Number(facts.outcome.observed) : null;
  const reason =
    facts.outcome.status === 'unscored'
      ? facts.outcome.reason
      : facts.criteria.status === 'unscored' && right === 1 && weight > 0
        ? facts.criteria.reason
        : right === 1 && weight > 0 && share !== dividedShare(own, range.most)
          ? 'group_vote_unknown'
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
    ...(reason === 'group_vote_unknown' ? { depends_on: [...(votes?.unknown?.members ?? [])] } : {}),
    decided_by: reward === null ? null : 'components',
    components,
    details: {
      group_max: range.least === range.most ? range.most : null,
      final: !divide_by_group_max || group !== null,
    },
  };
}
