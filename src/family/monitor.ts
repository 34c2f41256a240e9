/**
 * What the alerts of a run (src/runs/alerts.ts) ask of a family: a reference recipe that pays for what the answers are
 * meant to do, and what the facts of one rollout say about it.
 */

/** What one rollout shows. `null` = not observed, as for a rollout whose judge failed. */
export type Observations = {
  /** The share of the rollout's own positive criteria that are met, from 0 to 1; a criterion that is half met is 0.5. */
  readonly criteria_met: number | null;
  /** Statements of the answer, without repetitions: those with a citation, and those that lack one they need. */
  readonly cited: number | null;
  readonly uncited: number | null;
  /** Distinct ids that the statements cite, and how many of those are invented or support nothing of the statement. */
  readonly citations: number | null;
  readonly irrelevant: number | null;
};

/** Optional in a family: without it only the rules that read rewards alone are watched. */
export interface Monitor<Recipe, Facts> {
  /** The reference for a run that was recorded under the recipe. Both have the same scale and measure fields. */
  reference(recipe: Recipe): Recipe;
  observe(facts: Facts): Observations;
}
