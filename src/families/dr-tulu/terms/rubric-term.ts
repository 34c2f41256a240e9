/** The corrected rubric term of the dr-tulu reward. */
import type { CriterionScore } from '../../../judgments/kinds/rubric/rubric.ts';

export type ScoredRubric = {
  /** Finite. Negative: meeting the rubric lowers the term. */
  readonly weight: number;
  /** `null` = the judge failed. */
  readonly score: CriterionScore | null;
};

/** The judge's scale is 0, 1, 2, paid as 0, 0.5, 1. */
const TOP_CRITERION_SCORE = 2;

/**
 * sum(s * w) / max(sum of positive w, 1), s = score / 2. Unclamped: below 0 if negative rubrics are met; 0 without
 * rubrics. `null` if a score is `null`; the reference counts a failed judgment as 0, which a negative rubric passes.
 * Source: rlresearch/dr-tulu 6188f34c, `longform_rubric_rewards.py`.
 * @throws RangeError on a non-finite weight.
 */
export function rubricTerm(rubrics: readonly ScoredRubric[]): number | null {
  let earned = 0;
  let positive = 0;
  for (const { weight, score } of rubrics) {
    if (score === null) return null;
    earned += (score / TOP_CRITERION_SCORE) * weight;
    positive += Math.max(weight, 0);
  }
  const term = earned / Math.max(positive, 1);
  if (!Number.isFinite(term)) throw new RangeError('rubricTerm: a non-finite weight');
  return term;
}
