/**
 * Facts: everything that was observed about one rollout, and nothing of a recipe. `compose(facts, recipe)` reads only
 * these, which is what makes replay exact: no text, no judge, the same numbers (ARCHITECTURE.md, the one idea).
 */
import type { CriterionScore, JudgeFailureReason, Support } from '../judgments/types.ts';

export type Polarity = 'positive' | 'negative';

/** One judged criterion with the row's own weight. */
export type CriterionFact = {
  readonly origin: 'instance' | 'static';
  readonly polarity: Polarity;
  /** Finite, >= 0. */
  readonly weight: number;
  readonly score: CriterionScore;
};

/** One statement of the answer that counts: duplicates are already left out. */
export type StatementFact =
  | {
      readonly cited: true;
      readonly support: Support;
      /** One entry a distinct cited id; an invented id is `false`. */
      readonly relevant: readonly boolean[];
      /** `unverified`: the judge's quote stands in no cited source. Absent where no quote was asked for or given. */
      readonly quote?: 'verified' | 'unverified';
    }
  | { readonly cited: false; readonly needs_citation: boolean };

/** A part that a judge observes: had, or not, and then why. `not_measured` = nobody asked, as nothing needed it. */
export type Observed<T> =
  | { readonly status: 'scored'; readonly observed: T }
  | { readonly status: 'unscored'; readonly reason: JudgeFailureReason | 'not_measured' };

/** Facts of the refiner family (REWARDS.md sections 2 to 4). At most about 4 KB as JSON for a typical rollout. */
export type RefinerFacts = {
  readonly v: 1;
  readonly family: 'refiner';
  readonly has_answer: boolean;
  readonly format: { readonly answer_only: 0 | 1; readonly full: 0 | 1 };
  readonly finish_reason: string | null;
  readonly rubric: Observed<readonly CriterionFact[]>;
  readonly citation: Observed<readonly StatementFact[]>;
};

export type Facts = RefinerFacts;
