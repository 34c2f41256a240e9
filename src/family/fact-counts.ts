/** Counts what an answer contains, from its facts: for the figures of a run. */
import type { Observed } from './facts.ts';

/**
 * One criterion of a rollout. `static`: of the recipe, the same for every question; the others are those of the row, and
 * `negative` ones name a fault. `passed`: fully met; for a negative criterion, fully avoided.
 */
export type CriterionCount = { readonly kind: 'positive' | 'negative' | 'static'; readonly passed: boolean };

/** `null` = unknown, because a judge failed, or because the facts do not tell. */
export type FactCounts = {
  /** Claims that cite a source, without duplicates. */
  readonly claims: number | null;
  /** Distinct ids that the claims cite, summed over the claims. */
  readonly citations: number | null;
  /** In the order of the rollout's criteria. */
  readonly criteria: readonly CriterionCount[] | null;
};

/** Reads a judged value. @returns null if it was not judged. */
export function countOf<T, C>(observed: Observed<T>, count: (value: T) => C): C | null {
  return observed.status === 'scored' ? count(observed.observed) : null;
}
