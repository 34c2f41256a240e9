/** The rubric component: weighted mean of positive scores and flipped negative scores. */

import { countedScore } from '../../family/criterion-evidence.ts';
import type { Observed } from '../../family/facts.ts';
import type { UnscoredReason } from '../../family/score.ts';
import { PADDING_POSITION } from '../../judgments/kinds/rubric/static-criteria.ts';
import type { CriterionFact } from './facts.ts';
import type { RefinerRecipe } from './recipe.ts';

type RubricComposition =
  | {
      readonly status: 'scored';
      readonly value: number;
      /** Weighted mean of the positive criteria, [0, 1]; `null` if none has weight. */
      readonly positive: number | null;
      /** Weighted mean of 1 - s over the negative criteria, [0, 1]; `null` if none has weight. */
      readonly negative: number | null;
      /**
       * The score of an answer that meets no criterion at all, [0, 1]: the negative criteria's share of the weight, or 0
       * where they need a positive one.
       */
      readonly vacuousCredit: number;
    }
  | { readonly status: 'unscored'; readonly reason: UnscoredReason };

/** The judge's scale is 0, 1, 2 (dr-tulu's), composed as 0, 0.5, 1. */
const TOP_CRITERION_SCORE = 2;

/**
 * `sum(w * s') / sum(w)` with s' = s for positive and 1 - s for negative criteria (model card). With
 * `negatives_require_positive` the negatives' part is multiplied by the positives' mean. With `own_positives_required`
 * that part and the part of the static positives are multiplied by the mean of the row's own positives, if it has any.
 *
 * @throws RangeError if the sum of the weights is not finite: a share of it would be 0, not unknown.
 */
export function composeRubric(
  rubric: Observed<readonly CriterionFact[]>,
  recipe: Pick<
    RefinerRecipe,
    | 'instance_rubrics_only'
    | 'static_weight'
    | 'negatives_require_positive'
    | 'own_positives_required'
    | 'unverified_evidence'
  >,
): RubricComposition {
  if (rubric.status === 'unscored') return { status: 'unscored', reason: rubric.reason };
  let positiveSum = 0;
  let staticSum = 0;
  let positiveWeight = 0;
  let negativeSum = 0;
  let negativeWeight = 0;
  for (const criterion of rubric.observed) {
    if (criterion.origin === 'static' && recipe.instance_rubrics_only) continue;
    const weight = criterion.origin === 'static' ? criterion.weight * recipe.static_weight : criterion.weight;
    const score = countedScore(criterion, recipe) / TOP_CRITERION_SCORE;
    if (criterion.polarity === 'positive') {
      positiveSum += weight * score;
      if (criterion.origin === 'static') staticSum += weight * score;
      positiveWeight += weight;
    } else {
      negativeSum += weight * (1 - score);
      negativeWeight += weight;
    }
  }
  const total = positiveWeight + negativeWeight;
  if (!Number.isFinite(total)) throw new RangeError('composeRubric: the sum of the weights is not finite');
  if (total === 0) return { status: 'unscored', reason: 'nothing_to_score' };
  const positive = positiveWeight > 0 ? positiveSum / positiveWeight : null;
  const negative = negativeWeight > 0 ? negativeSum / negativeWeight : null;
  const own = recipe.own_positives_required === true ? ownPositives(rubric.observed, recipe) : null;
  // Without a positive criterion the negatives pay in full.
  const negativeShare = own ?? (recipe.negatives_require_positive && positive !== null ? positive : 1);
  return {
    status: 'scored',
    value: (positiveSum - staticSum * (1 - (own ?? 1)) + negativeSum * negativeShare) / total,
    positive,
    negative,
    vacuousCredit:
      own !== null || (recipe.negatives_require_positive && positive !== null) ? 0 : negativeWeight / total,
  };
}

/** The weighted mean of the row's own positive criteria, [0, 1]; `null` = none has weight. */
export function ownPositives(
  criteria: readonly CriterionFact[],
  recipe: Pick<RefinerRecipe, 'unverified_evidence'>,
): number | null {
  let sum = 0;
  let total = 0;
  for (const criterion of criteria) {
    if (criterion.origin !== 'instance' || criterion.polarity !== 'positive') continue;
    sum += criterion.weight * (countedScore(criterion, recipe) / TOP_CRITERION_SCORE);
    total += criterion.weight;
  }
  return total === 0 ? null : sum / total;
}

/** The verdict on Off-Query Padding, [0, 1]; `null` = the static set was not judged. */
export function paddingOf(
  criteria: readonly CriterionFact[],
  recipe: Pick<RefinerRecipe, 'unverified_evidence'>,
): number | null {
  const padding = criteria.filter(({ origin }) => origin === 'static')[PADDING_POSITION];
  return padding === undefined ? null : countedScore(padding, recipe) / TOP_CRITERION_SCORE;
}
