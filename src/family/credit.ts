/**
 * The parts of a reward that belong to claims. They scale with the citation's contribution, so gates, weights and
 * factors of a recipe count; what replaces the whole sum leaves none. src/scoring/credit.ts makes a reply of them.
 */
import type { InputProblem } from '../input-problem.ts';
import type { Span } from '../text/span.ts';
import type { Rollout } from './rollout.ts';
import type { BaseScore } from './score.ts';

/** What the reward is divided among. */
export const CREDIT_BY = ['claims', 'turns'] as const;
export type CreditBy = (typeof CREDIT_BY)[number];

/** Where a claim or an uncited statement of an answer is, and what it cites. */
export type CreditedPlace = {
  readonly of: 'claim' | 'statement';
  /** Index among the claims, or among the statements, as the reply lists them. */
  readonly index: number;
  /** Its ranges in the response, in order. Empty: the family does not know them. */
  readonly spans: readonly Span[];
  /** Ids of the existing sources that it cites. */
  readonly cites: readonly string[];
};

/** The claims and uncited statements of a measured rollout. */
export type CreditedClaims<Score, Facts> = {
  readonly places: readonly CreditedPlace[];
  /**
   * What each of the places earned, in order, in reward units: Euler shares of the citation's contribution. Empty if no
   * verdict on a claim decided the reward.
   *
   * @param facts default: the measured facts.
   */
  shares(score: Score, facts?: Facts): readonly number[];
};

/**
 * The shares of statements in the contribution of the component `citation`, in reward units; `[]` if the components did
 * not decide the reward.
 *
 * @param parts What each statement adds to `value`, in order.
 * @param value The score of which they are parts, before the recipe's factors; `null` = there is none, so no shares.
 */
export function sharesOfCitation(
  { decided_by, components }: BaseScore,
  parts: readonly number[],
  value: number | null,
): readonly number[] {
  const contribution = components['citation']?.contribution ?? null;
  if (decided_by !== 'components' || contribution === null || value === null || value === 0) return [];
  return parts.map((part) => (contribution * part) / value);
}

/** Refuses to divide a reward among the turns of a rollout that came as a text. */
export function creditProblems({ messages }: Rollout, credit: CreditBy | undefined): InputProblem[] {
  if (credit !== 'turns' || messages !== undefined) return [];
  return [
    { path: ['credit'], message: 'turns needs messages: a response that is one text has no turns; or give claims' },
  ];
}
