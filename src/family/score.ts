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

/** What every family says of a reward. */
type ScoreOf<Family extends string, Rule extends string, Part extends string, Detail> = {
  readonly family: Family;
  /** `null` = it could not be determined; zero = the model earned zero. */
  readonly reward: number | null;
  /** Before scale and penalties; `null` where it could not be determined. */
  readonly base: number | null;
  readonly status: 'scored' | 'unscored';
  /** Why the reward is `null`. */
  readonly reason: UnscoredReason | null;
  /** Which rule of the recipe decided the reward; `null` where none could. */
  readonly decided_by: Rule | null;
  readonly components: Readonly<Record<Part, Component>>;
  readonly details: Detail;
};

export type RefinerDetails = {
  readonly citation_recall: number | null;
  readonly citation_precision: number | null;
  readonly rubric_positive: number | null;
  readonly rubric_negative: number | null;
  /** What the negatives alone would pay an answer that meets no criterion at all. */
  readonly vacuous_credit: number | null;
};

export type RefinerScore = ScoreOf<
  'refiner',
  'components' | 'no_answer' | 'non_stop_penalty',
  'rubric' | 'citation' | 'format',
  RefinerDetails
>;

export type LongTraceDetails = {
  /** Share of gold entities found, or F-beta of the chunks, before the group's maximum divides it; [0, 1]. */
  readonly rubric_share: number | null;
  /** The largest share of the group's scored members; `null` for a rollout that was scored alone. */
  readonly group_max: number | null;
  /** `true`: this is the final reward. `false`: the recipe divides by the group's maximum, and no group was given. */
  readonly final: boolean;
};

export type LongTraceScore = ScoreOf<'long-trace', 'components' | 'ill_formed', 'outcome' | 'rubric', LongTraceDetails>;

export type ToolCallDetails = {
  /** Tests passed and tests in all; `null` for mathematics and where there is no runnable block. */
  readonly tests_passed: number | null;
  readonly tests_total: number | null;
};

export type ToolCallScore = ScoreOf<
  'tool-call',
  'components' | 'no_runnable_block',
  'outcome' | 'tool_calls' | 'overlong',
  ToolCallDetails
>;

export type DrTuluDetails = {
  readonly compat: 'exact' | 'corrected';
  /** Mean F1 over claims and uncited parts, [0, 1]. */
  readonly claim_f1: number | null;
  /** Distinct cited ids that exist / distinct cited ids, [0, 1]. */
  readonly valid_id_ratio: number | null;
  readonly queries: number;
};

export type DrTuluScore = ScoreOf<
  'dr-tulu',
  'components' | 'no_answer' | 'non_stop_penalty',
  'rubric' | 'citation' | 'format' | 'search_turns',
  DrTuluDetails
>;

export type Score = RefinerScore | LongTraceScore | ToolCallScore | DrTuluScore;
