/**
 * Facts: everything that was observed about one rollout, and nothing of a recipe. `compose(facts, recipe)` reads only
 * these, which is what makes replay exact: no text, no judge, the same numbers (ARCHITECTURE.md, the one idea).
 */
import type { Polarity } from '../judgments/kinds/rubric/static-criteria.ts';
import type { CriterionScore, JudgeFailureReason, Support, TestOutcome } from '../judgments/types.ts';

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

/** Facts of the long-trace family (REWARDS.md section 5.2). */
export type LongTraceFacts = {
  readonly v: 1;
  readonly family: 'long-trace';
  /** A whole final answer stands behind whole thinking. */
  readonly well_formed: boolean;
  readonly finish_reason: string | null;
  /** Whether the final answer agrees with the reference, [0, 1]. */
  readonly outcome: Observed<number>;
  /** Gold entities, and how many of them stand in each text; `null` where the row has none. */
  readonly entities: {
    readonly total: number;
    readonly content: number;
    readonly reasoning: number;
    readonly both: number;
  } | null;
  /** F-beta (beta 2) of the named chunk ids, [0, 1]; `null` where the row has no gold chunks. */
  readonly chunks: number | null;
};

/** What a tool-call answer was worth before turns and length were looked at. */
export type ToolCallOutcomeFact =
  | {
      readonly kind: 'math';
      /** The last boxed answer equals the reference under the strict rules. */
      readonly exact: boolean;
      /** Equal as expressions; asked only where `exact` is false and the recipe says so. */
      readonly equivalent: Observed<boolean>;
    }
  /** `runnable`: there is a program at all. Without one there is nothing to run. */
  | { readonly kind: 'code'; readonly runnable: boolean; readonly tests: Observed<readonly TestOutcome[]> };

/** Facts of the tool-call family (REWARDS.md section 5.3). */
export type ToolCallFacts = {
  readonly v: 1;
  readonly family: 'tool-call';
  readonly outcome: ToolCallOutcomeFact;
  readonly num_turns: number;
  readonly response_tokens: number;
};

/** Facts of the dr-tulu family (REWARDS.md section 5.4), under the compat mode that they were measured with. */
export type DrTuluFacts = {
  readonly v: 1;
  readonly family: 'dr-tulu';
  readonly compat: 'exact' | 'corrected';
  readonly has_answer: boolean;
  readonly finish_reason: string | null;
  /** dr-tulu's own format term, [0, 1]. */
  readonly format: number;
  /** Search queries in the transcript, as the compat mode counts them. */
  readonly queries: number;
  readonly rubric: Observed<readonly { readonly weight: number; readonly score: CriterionScore }[]>;
  readonly citation: Observed<{
    /** One entry a claim or uncited part, in order. */
    readonly statements: readonly DrTuluStatementFact[];
    /** Distinct cited ids that exist / distinct cited ids, [0, 1]. */
    readonly valid_id_ratio: number;
  }>;
};

export type DrTuluStatementFact =
  /** `relevance`: share of its sources that help, [0, 1]. */
  | { readonly cited: true; readonly support: Support; readonly relevance: number }
  | { readonly cited: false; readonly needs_citation: boolean };

export type Facts = RefinerFacts | LongTraceFacts | ToolCallFacts | DrTuluFacts;
