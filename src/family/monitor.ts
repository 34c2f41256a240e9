/**
 * What the alerts of a run (src/runs/alerts.ts) ask of a family: what the facts of one rollout say about it, and a
 * reference recipe that pays for what the answers are meant to do.
 */

/** What one rollout shows. `null` = not observed, as for a rollout whose judge failed. */
export type Observations = {
  readonly has_answer: boolean;
  /**
   * The share of the rollout's own positive criteria that are met, from 0 to 1, as an unweighted mean; a criterion that
   * is half met is 0.5. Without an answer nothing is judged, and it is unknown whether the row has any: `null`.
   */
  readonly criteria_met: number | null;
  /** The row's criteria were judged, and none of them is positive and its own: it asks for nothing. Absent: unknown. */
  readonly asks_nothing?: true;
  /** Statements of the answer, without repetitions: those with a citation, and those that lack one they need. */
  readonly cited: number | null;
  readonly uncited: number | null;
  /** Distinct ids that the statements cite, and how many of those are invented or support nothing of the statement. */
  readonly citations: number | null;
  readonly irrelevant: number | null;
  /** How often a statement cites an id again. Absent: never, or the facts do not say it. */
  readonly repeated?: number;
};

/** Optional in a family: without it only the rules that read rewards and words are watched. */
export interface Monitor<Recipe, Facts> {
  observe(facts: Facts): Observations;
  /**
   * The reference for a run that was recorded under the recipe. Both have the same scale and measure fields. Absent:
   * the family has none.
   */
  reference?(recipe: Recipe): Recipe;
  /**
   * How the contribution `rubric` divides over the criteria: shares that add up to 1, by the criteria's names in the
   * figures of a run (`positive_1`, `static_2`). `null` = the criteria were not judged, or pay nothing.
   */
  criteriaShares?(facts: Facts, recipe: Recipe): Readonly<Record<string, number>> | null;
}
