/** The tables of `citeward replay`: steps while they come, points of a sweep, components, rollouts that moved, two judges. */

import type { JudgeComparison, ReplayFigures, SweepValue } from '../../src/runs/replay-report.ts';
import type { JUDGED_QUESTIONS } from '../../src/runs/two-judges.ts';
import type { ReplayLineOf } from '../../src/wire/replay.ts';
import { differenceText, kappaText, percentText } from '../judge/figure-text.ts';
import type { Column, TableRow } from '../output/table.ts';

const right = (title: string, most = 12): Column => ({ title, align: 'right', most });
const left = (title: string, most: number): Column => ({ title, align: 'left', most });

/** What both tables say of groups. */
const FIGURE_COLUMNS: readonly Column[] = [
  right('rollouts'),
  right('mean'),
  right('std'),
  right('shift'),
  right('flipped'),
  right('tau'),
  right('degenerate', 18),
  right('unscored'),
];

export const STEP_COLUMNS: readonly Column[] = [right('step'), right('was'), ...FIGURE_COLUMNS];

export function pointColumns(field: string): Column[] {
  return [left(field, 32), ...FIGURE_COLUMNS];
}

export function stepRow(step: number | null, figures: ReplayFigures): TableRow {
  return {
    cells: [
      { text: step === null ? 'none' : String(step) },
      { text: rewardText(figures.before.mean), colour: 'dim' },
      ...figureCells(figures),
    ],
  };
}

export function pointRow(value: SweepValue, figures: ReplayFigures): TableRow {
  return { cells: [{ text: String(value) }, ...figureCells(figures)] };
}

function figureCells({ rollouts, after, shift, advantages, tau, degenerate, unscored }: ReplayFigures) {
  const lost = Object.values(unscored.after).reduce((sum, count) => sum + count, 0);
  return [
    { text: String(rollouts) },
    { text: rewardText(after.mean) },
    { text: rewardText(after.std), colour: 'dim' as const },
    { text: differenceText(shift.mean) },
    { text: percentText(advantages.flipped_share) },
    { text: kappaText(tau.mean) },
    { text: degenerateText(degenerate), colour: degenerate.became > 0 ? ('yellow' as const) : null },
    { text: String(lost), colour: lost > 0 ? ('yellow' as const) : ('dim' as const) },
  ];
}

/** `3`, `5 (+4 -2)`: groups without a signal, those that became so and those that ceased to be. */
export function degenerateText({ after, became, ceased }: ReplayFigures['degenerate']): string {
  const changes = [...(became > 0 ? [`+${became}`] : []), ...(ceased > 0 ? [`-${ceased}`] : [])];
  return changes.length === 0 ? String(after) : `${after} (${changes.join(' ')})`;
}

/** `8.13`, `-` */
export function rewardText(value: number | null): string {
  return value === null ? '-' : value.toFixed(2);
}

export const COMPONENT_COLUMNS: readonly Column[] = [
  left('component', 24),
  right('compared'),
  right('value shift'),
  right('reward shift'),
];

export function componentRows({ components }: ReplayFigures): TableRow[] {
  return Object.entries(components).map(([name, { compared, value, contribution }]) => ({
    cells: [
      { text: name },
      { text: String(compared), colour: 'dim' },
      { text: differenceText(value) },
      { text: differenceText(contribution) },
    ],
  }));
}

export const MOVER_COLUMNS: readonly Column[] = [
  right('step'),
  left('group', 24),
  left('sample', 24),
  right('rank', 14),
  right('reward', 18),
];

export function moverRows(movers: ReplayLineOf<'summary'>['movers'], most: number): TableRow[] {
  return movers.slice(0, most).map(({ step, group, sample, rank, reward }) => ({
    cells: [
      { text: step === null ? 'none' : String(step) },
      { text: group },
      { text: sample },
      { text: `${rank.before} -> ${rank.after}` },
      { text: `${rewardText(reward.before)} -> ${rewardText(reward.after)}` },
    ],
  }));
}

export const QUESTION_COLUMNS: readonly Column[] = [
  left('verdicts on', 24),
  right('pairs'),
  right('equal'),
  right('kappa'),
  right('weighted'),
  right('higher by'),
];

const QUESTION_WORDS: Readonly<Record<(typeof JUDGED_QUESTIONS)[number], string>> = {
  criteria: 'criteria',
  support: 'support of claims',
  relevance: 'relevance of sources',
  needs_citation: 'need for a citation',
  outcome: 'outcome',
  equivalence: 'equivalence',
};

export function questionRows({ questions }: JudgeComparison): TableRow[] {
  return questions.map(({ question, pairs, same, kappa, weighted_kappa, mean_difference }) => ({
    cells: [
      { text: QUESTION_WORDS[question] },
      { text: String(pairs), colour: 'dim' },
      { text: percentText(same) },
      { text: kappaText(kappa) },
      { text: kappaText(weighted_kappa) },
      { text: differenceText(mean_difference) },
    ],
  }));
}

export const DIFFERENT_COLUMNS: readonly Column[] = [
  right('step'),
  left('group', 24),
  left('sample', 24),
  right('other verdicts'),
];

export function differentRows({ most_different }: JudgeComparison, most: number): TableRow[] {
  return most_different.slice(0, most).map(({ step, group, sample, verdicts }) => ({
    cells: [
      { text: step === null ? 'none' : String(step) },
      { text: group },
      { text: sample },
      { text: String(verdicts) },
    ],
  }));
}
