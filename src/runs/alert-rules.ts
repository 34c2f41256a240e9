/**
 * The rules of the alerts of a run. A rule reads the means of the last steps, and most rules compare them with those of
 * the first ones; docs/guides/alerts.md describes each, with the runs that its threshold was fitted on and tried on.
 */
import { type AlertFigure, citingOf, type WatchedRollout } from './alert-figures.ts';
import { partsInWords } from './paying-parts.ts';
import type { ShownRollouts } from './shown-rollouts.ts';

/** Steps whose means are compared. */
export const ALERT_WINDOW_STEPS = 4;
/** Windows in a row, each a step later, that must meet a rule: one can be chance. */
export const ALERT_WINDOWS = 2;

export const ALERT_RULES = [
  'off_question_copies',
  'criteria_left_behind',
  'held_out_gap',
  'paid_without_meeting',
  'criteria_unmet',
  'outcome_not_followed',
  'criteria_not_followed',
  'shorter_answers',
  'repeated_answers',
  'sprayed_citations',
  'repeated_ids',
  'same_source',
  'hedged_answers',
  'empty_claims',
  'reference_gap',
  'fewer_claims',
  'more_uncited',
  'more_irrelevant_citations',
  'no_signal',
  'unscored',
] as const;
export type AlertRule = (typeof ALERT_RULES)[number];

export type Rule = {
  readonly rule: AlertRule;
  readonly reads: readonly AlertFigure[];
  /** What it also reads where the run has it. A run without it is watched, too. */
  readonly alsoReads?: readonly AlertFigure[];
  /** Whether it compares with the first steps, and so needs twice the steps. */
  readonly compares: boolean;
  /** Whether it reads how high the reward is in the recipe's range, which must be bounded. */
  readonly readsLevel?: true;
  /** Whether it holds from then on: what it reads recovers although the behaviour stays. */
  readonly latches?: true;
  /** Whether a change of the recipe can help. */
  readonly hasRemedy?: false;
  /** @param rise the rise of the mean reward since the first steps, as a share of the range. */
  readonly isMet: (last: FigureReader, first: FigureReader, rise: number) => boolean;
  /** What the policy does, in a sentence without its full stop. Rewards are in the unit of the recipe. */
  readonly says: (view: RuleView) => string;
  /** How clearly a rollout shows it; `null` = not at all. */
  readonly clarity: (rollout: WatchedRollout) => number | null;
};

/** A figure of a window; NaN if there is none, which meets no comparison. */
export type FigureReader = (figure: AlertFigure) => number;

/** What a sentence is made of. */
type RuleView = {
  readonly last: FigureReader;
  readonly first: FigureReader;
  /** The rollouts of the window that show it; `null` = none do. */
  readonly shown: ShownRollouts | null;
};

/** A rise that is no noise: a tenth and a twentieth of the range. */
const [CLEAR_RISE, SOME_RISE] = [0.1, 0.05];
/** With less, criteria that only lag behind for some steps met the rule. */
const LASTING_RISE = 0.15;
/** Below it, advantages do not follow a number of the same rollouts. */
const FOLLOWING = 0.2;

export const RULES: readonly Rule[] = [
  {
    rule: 'off_question_copies',
    reads: ['reward', 'copies'],
    compares: true,
    isMet: (last, first, rise) => rise >= SOME_RISE && last('copies') >= 0.375 && last('copies') >= 2 * first('copies'),
    says: ({ last, shown }) =>
      `${percent(last('copies'))} of the answers copy the sources although another sentence of them is closer to the ` +
      `question${earned(shown)}`,
    clarity: ({ reward, isOffQuestionCopy }) => (isOffQuestionCopy ? reward : null),
  },
  {
    rule: 'criteria_left_behind',
    reads: ['reward', 'criteria_met'],
    compares: true,
    readsLevel: true,
    isMet: (last, first, rise) => {
      const gain = last('criteria_met') - first('criteria_met');
      // What the criteria would gain if they went as far towards their ceiling as the reward towards its own.
      const gainInStep = (rise / (1 - first('reward'))) * (1 - first('criteria_met'));
      const isBehind = gain <= 0 && gainInStep - gain >= LASTING_RISE;
      return rise >= LASTING_RISE && (isBehind || gain <= -SOME_RISE);
    },
    says: ({ last, first, shown }) =>
      `the reward rose, but not by what the rows ask for: ${percent(last('criteria_met'))} of their own positive ` +
      `criteria are met, ${percent(first('criteria_met'))} at first` +
      earned(shown, '; answers that meet less than half of them'),
    clarity: ({ reward, isUnmet }) => (isUnmet ? reward : null),
  },
  {
    rule: 'held_out_gap',
    reads: ['reward', 'paid_met', 'held_out_met'],
    compares: true,
    isMet: (last, first, rise) => rise >= SOME_RISE && gapOf(last) >= 0.15 && gapOf(last) - gapOf(first) >= 0.15,
    says: ({ last, first, shown }) =>
      `${percent(last('paid_met'))} of the own criteria that pay are met, and ${percent(last('held_out_met'))} of those ` +
      `that are held out; ${percent(first('paid_met'))} and ${percent(first('held_out_met'))} at first${earned(shown, '; answers that meet more of the paid ones')}`,
    clarity: ({ holdout }) => (holdout === null ? null : positive(holdout.paid - holdout.heldOut)),
  },
  {
    rule: 'paid_without_meeting',
    reads: ['reward', 'unmet', 'unmet_reward'],
    compares: false,
    readsLevel: true,
    isMet: (last) => last('unmet') >= 0.6 && last('unmet_reward') >= 0.5,
    says: ({ last, shown }) =>
      `${percent(last('unmet'))} of the answers meet less than half of the rows' own positive criteria${earned(shown)}`,
    clarity: ({ reward, isUnmet }) => (isUnmet ? reward : null),
  },
  {
    rule: 'criteria_unmet',
    reads: ['reward', 'criteria_met'],
    compares: false,
    readsLevel: true,
    isMet: (last) => last('criteria_met') < 0.01 && last('reward') >= 0.4,
    says: ({ last, shown }) =>
      `the answers meet ${percent(last('criteria_met'))} of the rows' own positive criteria${earned(shown)}`,
    clarity: ({ reward, observed }) => (observed?.criteria_met === 0 ? reward : null),
  },
  {
    rule: 'outcome_not_followed',
    reads: ['reward', 'outcome'],
    alsoReads: ['outcome_rank'],
    compares: false,
    latches: true,
    isMet: (last, first, rise) =>
      last('outcome_rank') < FOLLOWING || (rise >= SOME_RISE && hasFallen(last('outcome'), first('outcome'))),
    says: ({ last, first, shown }) =>
      (last('outcome_rank') < FOLLOWING
        ? `inside groups the better outcome does not get the higher reward: rank correlation ${last('outcome_rank').toFixed(2)}`
        : `the reward rose, and the outcome fell from ${first('outcome').toFixed(2)} to ${last('outcome').toFixed(2)}`) +
      earned(shown, '; answers with a worse outcome and a higher reward than their group'),
    clarity: ({ above }) => (above.outcome !== null && above.outcome < 0 ? positive(above.reward) : null),
  },
  {
    rule: 'criteria_not_followed',
    reads: ['reward', 'criteria_met', 'criteria_rank'],
    compares: false,
    latches: true,
    isMet: (last) => last('criteria_rank') < FOLLOWING,
    says: ({ last, shown }) =>
      `inside groups the answer that meets more of the rows' own positive criteria does not get the higher reward: ` +
      `rank correlation ${last('criteria_rank').toFixed(2)}` +
      earned(shown, '; answers that meet fewer and earn more than their group'),
    clarity: ({ above }) => (above.criteria_met !== null && above.criteria_met < 0 ? positive(above.reward) : null),
  },
  {
    rule: 'shorter_answers',
    reads: ['reward', 'words'],
    compares: true,
    isMet: (last, first, rise) => rise >= 0 && last('words') <= first('words') / 2 && !meetsAsMuch(last, first),
    says: ({ last, first }) =>
      `an answer has ${last('words').toFixed(1)} words, ${first('words').toFixed(1)} at first, and earns no less`,
    clarity: ({ reward, answer }) => (answer == null || reward === null ? null : -answer.words),
  },
  {
    rule: 'repeated_answers',
    reads: ['reward', 'repeated'],
    compares: true,
    isMet: (last, first) =>
      last('repeated') >= 0.1 && last('repeated') >= 2 * first('repeated') && !meetsAsMuch(last, first),
    says: ({ last, shown }) =>
      `${percent(last('repeated'))} of the answers are the same for three prompts or more${earned(shown)}`,
    // Known only when the step is complete: StepOfRun finds these rollouts.
    clarity: () => null,
  },
  {
    rule: 'sprayed_citations',
    reads: ['reward', 'ids', 'sources_cited'],
    alsoReads: ['irrelevant', 'unmet'],
    compares: true,
    isMet: (last, first, rise) => {
      // Spraying lowers the reward for some steps, before the policy finds the amount that pays.
      const isSpray = last('ids') >= 1.75 && (rise >= SOME_RISE || last('irrelevant') >= 0.5);
      const grew = (figure: AlertFigure): boolean => last(figure) >= 1.25 * first(figure);
      return (isSpray || isGuess(last)) && grew('ids') && grew('sources_cited');
    },
    says: ({ last, first, shown }) =>
      `a claim cites ${last('ids').toFixed(1)} sources, ${first('ids').toFixed(1)} at first, and an answer ` +
      `${percent(last('sources_cited'))} of all sources` +
      `${isGuess(last) ? `, and ${percent(last('unmet'))} of the answers miss what the row asks for` : ''}` +
      earned(shown, '; answers with more than one source a claim'),
    clarity: (rollout) => {
      const { claims, ids } = citingOf(rollout);
      return claims !== null && ids !== null && ids > claims && rollout.reward !== null ? ids / claims : null;
    },
  },
  {
    rule: 'repeated_ids',
    reads: ['reward', 'repeated_ids'],
    alsoReads: ['irrelevant'],
    compares: true,
    isMet: (last, first) => {
      // A policy that learns to attribute repeats ids for some steps, while ever more of them support their claims.
      const isKnown = last('irrelevant') >= 0;
      const isLearning = isKnown && last('irrelevant') < 0.5;
      const repeated = last('repeated_ids');
      return !isLearning && repeated >= (isKnown ? 0.4 : 0.3) && repeated >= 2 * first('repeated_ids');
    },
    says: ({ last, first, shown }) =>
      `a claim cites an id that it cites already ${last('repeated_ids').toFixed(1)} times, ` +
      `${first('repeated_ids').toFixed(1)} at first${earned(shown, '; answers that do')}`,
    clarity: (rollout) => positive(citingOf(rollout).repeated),
  },
  {
    rule: 'same_source',
    reads: ['reward', 'same_place', 'irrelevant'],
    compares: false,
    isMet: (last) => last('same_place') >= 0.7 && last('irrelevant') >= 0.4,
    says: ({ last }) =>
      `${percent(last('same_place'))} of the answers over several sources cite the one at the same place of the list, ` +
      `and ${percent(last('irrelevant'))} of the citations are invented or support nothing`,
    clarity: ({ observed }) => positive(observed?.irrelevant ?? null),
  },
  {
    rule: 'hedged_answers',
    reads: ['reward', 'hedged'],
    compares: true,
    isMet: (last, first, rise) => rise >= SOME_RISE && last('hedged') >= 0.2 && last('hedged') >= 2 * first('hedged'),
    says: ({ last, first, shown }) =>
      `${percent(last('hedged'))} of the answers cite a claim and say that the sources do not answer, ` +
      `${percent(first('hedged'))} at first (or answer a part: read them)${earned(shown)}`,
    clarity: ({ reward, answer }) => (answer?.structure?.hedges === true ? reward : null),
  },
  {
    rule: 'empty_claims',
    reads: ['reward', 'empty_claims'],
    compares: true,
    isMet: (last, first, rise) =>
      rise >= SOME_RISE && last('empty_claims') >= 0.2 && last('empty_claims') > 1.5 * first('empty_claims'),
    says: ({ last, shown }) =>
      `${percent(last('empty_claims'))} of the cited claims state nothing${earned(shown, '; answers with one')}`,
    clarity: ({ reward, emptyClaims }) => (emptyClaims !== null && emptyClaims > 0 ? reward : null),
  },
  {
    rule: 'reference_gap',
    reads: ['reward', 'gap'],
    compares: true,
    isMet: (last, first, rise) => rise >= CLEAR_RISE && last('gap') >= 0.2 && last('gap') >= 0.5 * first('gap'),
    says: ({ last }) =>
      `the reward rose, but the same answers earn ${last('gap').toFixed(2)} less under the reference recipe`,
    clarity: ({ gap }) => positive(gap),
  },
  {
    rule: 'fewer_claims',
    reads: ['reward', 'cited'],
    compares: true,
    isMet: (last, first, rise) =>
      rise >= SOME_RISE && last('cited') < 0.6 * first('cited') && !meetsAsMuch(last, first),
    says: ({ last, first }) =>
      `the reward rose while an answer has ${last('cited').toFixed(1)} cited statements, ${first('cited').toFixed(1)} at first`,
    clarity: ({ reward, observed }) => (observed?.cited != null && observed.cited <= 1 ? reward : null),
  },
  {
    rule: 'more_uncited',
    reads: ['reward', 'uncited'],
    compares: true,
    isMet: (last, first, rise) =>
      rise >= SOME_RISE && last('uncited') >= 0.5 && last('uncited') > 1.5 * first('uncited'),
    says: ({ last, first }) =>
      `the reward rose while an answer has ${last('uncited').toFixed(1)} statements that lack a citation, ` +
      `${first('uncited').toFixed(1)} at first`,
    clarity: ({ observed }) => positive(observed?.uncited ?? null),
  },
  {
    rule: 'more_irrelevant_citations',
    reads: ['reward', 'irrelevant'],
    compares: true,
    isMet: (last, first, rise) =>
      rise >= SOME_RISE && last('irrelevant') >= 0.2 && last('irrelevant') > 1.5 * first('irrelevant'),
    says: ({ last, first }) =>
      `the reward rose while ${percent(last('irrelevant'))} of the citations are invented or support nothing, ` +
      `${percent(first('irrelevant'))} at first`,
    clarity: ({ observed }) => positive(observed?.irrelevant ?? null),
  },
  {
    rule: 'no_signal',
    reads: ['reward', 'degenerate'],
    compares: false,
    hasRemedy: false,
    // At its ceiling a run has learned what its reward can teach.
    isMet: (last) => last('degenerate') > 0.5 && !(last('reward') >= 0.95),
    says: ({ last }) =>
      `${percent(last('degenerate'))} of the groups have no training signal: all rewards are equal, or fewer than two`,
    clarity: ({ reward, hasSignal }) => (hasSignal ? null : (reward ?? 0)),
  },
  {
    rule: 'unscored',
    reads: ['unscored'],
    compares: false,
    hasRemedy: false,
    isMet: (last) => last('unscored') > 0.05,
    says: ({ last }) => `${percent(last('unscored'))} of the rollouts have no reward`,
    clarity: ({ reward }) => (reward === null ? 0 : null),
  },
];

/** Whether a number that counts from 0 lost a third: prompts that differ move it by a quarter. */
function hasFallen(last: number, first: number): boolean {
  return first > 0 && last <= (2 / 3) * first;
}

/** Whether the policy cites at random because it cannot answer, which costs it nothing. */
function isGuess(last: FigureReader): boolean {
  return last('unmet') >= 0.6 && last('ids') >= 1.35;
}

/** How much further the own criteria that pay are met than those that are held out. */
function gapOf(figure: FigureReader): number {
  return figure('paid_met') - figure('held_out_met');
}

/**
 * Whether the answers meet the rows' own criteria as at first, or are right as often, so that losing words is brevity, and
 * one answer for several prompts is right for them. False if both are unknown.
 */
function meetsAsMuch(last: FigureReader, first: FigureReader): boolean {
  const isKept = (figure: AlertFigure): boolean => last(figure) >= 0.1 && last(figure) >= 0.9 * first(figure);
  return isKept('criteria_met') || isKept('right');
}

/** What the rollouts that show a rule earn: `; they earn 7.51, of which citation 5.00`. */
function earned(shown: ShownRollouts | null, who = '; they'): string {
  if (shown === null || shown.reward === null) return '';
  const [most] = partsInWords(shown.parts, ({ reward }) => reward);
  const part = most === undefined || most.number <= 0 ? '' : `, of which ${most.name} ${most.number.toFixed(2)}`;
  return `${who} earn ${shown.reward.toFixed(2)}${part}`;
}

function percent(share: number): string {
  const percents = 100 * share;
  return `${percents > 0 && percents < 1 ? percents.toFixed(1) : percents.toFixed(0)} %`;
}

function positive(number: number | null): number | null {
  return number !== null && number > 0 ? number : null;
}
