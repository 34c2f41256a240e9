/** What compose returns: a reward with its parts, each with its status. */
import type { JudgeFailureReason } from '../judgments/types.ts';

/** Why a part or a reward has no number. */
export type UnscoredReason = JudgeFailureReason | 'not_measured' | 'nothing_to_score';

/** One part of a reward. `contribution` is in reward units and the contributions add up to the reward. */
export type Component =
  | { readonly status: 'scored'; readonly value: number; readonly weight: number; readonly contribution: number }
  | { readonly status: 'not_applicable'; readonly value: null; readonly weight: number; readonly contribution: number }
  | {
      readonly status: 'unscored';
      readonly value: null;
      readonly weight: number;
      readonly contribution: null;
      readonly reason: UnscoredReason;
    };

/** Which rule of the recipe decided the reward. */
export type DecidedBy = 'components' | 'no_answer' | 'non_stop_penalty';

export type RefinerDetails = {
  readonly citation_recall: number | null;
  readonly citation_precision: number | null;
  readonly rubric_positive: number | null;
  readonly rubric_negative: number | null;
  /** What the negatives alone would pay an answer that meets no criterion at all. */
  readonly vacuous_credit: number | null;
};

export type RefinerScore = {
  readonly family: 'refiner';
  /** `null` = it could not be determined; zero = the model earned zero. */
  readonly reward: number | null;
  /** Before scale and penalties; `null` where it could not be determined. */
  readonly base: number | null;
  readonly status: 'scored' | 'unscored';
  /** Why the reward is `null`. */
  readonly reason: UnscoredReason | null;
  readonly decided_by: DecidedBy | null;
  readonly components: { readonly rubric: Component; readonly citation: Component; readonly format: Component };
  readonly details: RefinerDetails;
};

export type Score = RefinerScore;
