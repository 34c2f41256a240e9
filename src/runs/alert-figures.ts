/** The figures that the rules of the alerts read, and a rollout as they read it. */
import type { FindingReason } from '../citations/types.ts';
import type { Observations } from '../family/monitor.ts';
import type { AnswerCounts, RolloutCounts } from './rollout-counts.ts';

export const ALERT_FIGURES = [
  'reward',
  'gap',
  'criteria_met',
  'paid_met',
  'held_out_met',
  'criteria_rank',
  'unmet',
  'unmet_reward',
  'outcome',
  'outcome_rank',
  'right',
  'copies',
  'words',
  'repeated',
  'cited',
  'uncited',
  'ids',
  'repeated_ids',
  'sources_cited',
  'same_place',
  'irrelevant',
  'empty_claims',
  'hedged',
  'degenerate',
  'unscored',
] as const;
export type AlertFigure = (typeof ALERT_FIGURES)[number];

/** Figures that need 16 groups with differences. */
export const RANK_FIGURES: ReadonlySet<AlertFigure> = new Set(['criteria_rank', 'outcome_rank']);

/**
 * Means of a window; `null` = not observed. `reward`, `unmet_reward` and `gap` are shares of the recipe's range, so that
 * all recipes have the same thresholds; the first two are counted from its lower end.
 *
 * `gap`: the reward minus that under the reference recipe, over the rollouts that have both. `criteria_met`: the rows'
 * own positive criteria; `paid_met`, `held_out_met`: those that pay and those that the recipe holds out, over the rollouts
 * that have both. `unmet`: rollouts that meet less than half of them; `unmet_reward`: what these earn. `outcome`:
 * what the trainer sends; `right`: the same, else the outcome that a judge found. `criteria_rank`, `outcome_rank`: rank
 * correlation with the reward inside groups. `copies`: answers of copied words while another sentence of the sources is
 * closer to the question. `words`: of an answer.
 * `repeated`: answers that three prompts of a step share. `cited`, `uncited`: statements of a rollout with a citation,
 * and without one that they need. `ids`: distinct ids of a cited statement; `repeated_ids`: how often it cites one
 * again. `sources_cited`: share of the sources that an answer cites. `same_place`: the largest share of the answers that
 * cite most the source at one place of the list, over rows of three sources or more. `irrelevant`: citations that are
 * invented or support nothing. `empty_claims`: cited claims that state nothing; abstentions and repeated questions count
 * where the rollout meets less than half of its own criteria, or has none. `hedged`: answers that cite a claim, and say
 * that the sources do not answer. `degenerate`: groups without a training signal. `unscored`: rollouts without a reward.
 */
export type Means = ReadonlyMap<AlertFigure, number | null>;

/** A rollout as the rules read it. */
export type WatchedRollout = {
  readonly reward: number | null;
  /** As a share of the range. */
  readonly gap: number | null;
  readonly observed: Observations | null;
  readonly hasSignal: boolean;
  /** `null` = it has no answer. Absent: unknown. */
  readonly answer: AnswerCounts | null | undefined;
  readonly outcome: number | null;
  /** The outcome, else the one that a judge found; `null` = unknown. */
  readonly right: number | null;
  /** How far the own criteria that pay and the held-out ones are met; `null` = none is held out. */
  readonly holdout: { readonly paid: number; readonly heldOut: number } | null;
  /** Cited claims that state nothing; `null` = unknown. */
  readonly emptyClaims: number | null;
  readonly isOffQuestionCopy: boolean;
  /** Whether it meets less than half of the row's own positive criteria. */
  readonly isUnmet: boolean;
  /** How far it is above the mean of its group; `null` = unknown. */
  readonly above: {
    readonly reward: number | null;
    readonly outcome: number | null;
    readonly criteria_met: number | null;
  };
};

/**
 * The cited claims of a rollout and their distinct ids: by its facts, which leave out repeated claims, else by the
 * structure of its answer; and how often one cites an id again: by the structure, else by the facts. `null` = not
 * recorded; the facts of earlier versions do not tell never from unknown.
 */
export function citingOf({ observed, answer }: Pick<WatchedRollout, 'observed' | 'answer'>): {
  readonly claims: number | null;
  readonly ids: number | null;
  readonly repeated: number | null;
} {
  const { cited = null, citations = null } = observed ?? {};
  const { claims = null, ids = null, repeated = observed?.repeated ?? null } = answer?.structure ?? {};
  return cited === null || citations === null ? { claims, ids, repeated } : { claims: cited, ids: citations, repeated };
}

/** An answer copies if this share of its words is in copied spans. */
const COPIED_SHARE = 0.8;
/** Whether the words of an answer are copied, and another sentence of the sources has more of the question's words. */
export function isOffQuestionCopy({ words, copied, shared, best }: AnswerCounts): boolean {
  return words > 0 && copied >= COPIED_SHARE * words && best > shared;
}

/** Findings of claims that state nothing. */
export const EMPTY_CLAIMS: readonly FindingReason[] = ['claim_states_nothing', 'claim_without_content'];

/** Findings of claims that state nothing unless they are what the row asks for: an abstention, a yes or a choice. */
export const EMPTY_UNLESS_MET: readonly FindingReason[] = ['claim_abstains', 'claim_repeats_question'];

/**
 * The cited claims that state nothing.
 * @param isNotAsked whether the row asks for no such claim: the rollout meets less than half of its own positive
 *   criteria, or there are none.
 */
export function emptyClaims(findings: NonNullable<RolloutCounts['findings']>, isNotAsked: boolean): number {
  const reasons = isNotAsked ? [...EMPTY_CLAIMS, ...EMPTY_UNLESS_MET] : EMPTY_CLAIMS;
  return reasons.reduce((sum, reason) => sum + (findings[reason] ?? 0), 0);
}
