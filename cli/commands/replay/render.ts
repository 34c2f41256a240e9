/** Prints a replay: a table of steps or sweep points while it runs, then components, moved rollouts and two judges. */

import type { JUDGED_QUESTIONS } from '../../../src/family/verdict-levels.ts';
import type { JudgeComparison, ReplayFigures } from '../../../src/runs/replay-report.ts';
import type { SweepValue } from '../../../src/runs/sweep-value.ts';
import type { ReplayRequest } from '../../../src/wire/replay.ts';
import type { ReplayLine, ReplayLineOf } from '../../../src/wire/replay-reply.ts';
import { countOf, differenceText, kappaText, percentText } from '../../shared/number-text.ts';
import type { Screen } from '../../shared/screen.ts';
import { type Column, resultTable, type Table, type TableRow } from '../../shared/table.ts';
import { type PlotPoint, textPlot } from './plot.ts';

/** Maximum number of rollouts that are printed of a list; `--json` prints more. */
const MAX_ROLLOUTS_SHOWN = 8;

export class ReplayReport {
  readonly #screen: Screen;
  readonly #table: Table;
  readonly #points: ReplayLineOf<'point'>[] = [];
  /** Rollouts without a verdict, by the id of the criterion. */
  readonly #missing = new Map<string, number>();

  constructor({ sweep }: ReplayRequest, screen: Screen) {
    this.#screen = screen;
    this.#table = resultTable(sweep === undefined ? STEP_COLUMNS : pointColumns(sweep.field), screen);
  }

  /** Prints one line of the replay, or keeps it for the end. */
  async add(line: ReplayLine): Promise<void> {
    switch (line.kind) {
      case 'replay':
        for (const text of changesText(line)) this.#screen.message(text, 'dim');
        return;
      case 'step':
        return this.#table.add(stepRow(line.step, line));
      case 'point':
        this.#points.push(line);
        return this.#table.add(pointRow(line.value, line));
      case 'group':
        for (const id of line.rubrics?.missing.flat() ?? []) this.#missing.set(id, (this.#missing.get(id) ?? 0) + 1);
        return;
      case 'sample':
      case 'progress':
      case 'summary':
      case 'error':
    }
  }

  /** Prints the rest. @param seconds duration of the replay. */
  async end(summary: ReplayLineOf<'summary'>, seconds: number): Promise<void> {
    await this.#table.end();
    if (this.#points.length > 1) await this.#plots();
    const { figures, judges } = summary;
    if (figures !== null) {
      await this.#section('', COMPONENT_COLUMNS, componentRows(figures));
      await this.#section(
        'moved most within their groups',
        MOVER_COLUMNS,
        moverRows(summary.movers, MAX_ROLLOUTS_SHOWN),
      );
    }
    if (judges !== null) {
      const heading = `${judges.judge} against the recorded judge: ${countOf(judges.compared, 'rollout')} compared`;
      await this.#section(heading, QUESTION_COLUMNS, questionRows(judges));
      await this.#section('where they differ most', DIFFERENT_COLUMNS, differentRows(judges, MAX_ROLLOUTS_SHOWN));
    }
    await this.#section('criteria without verdicts', MISSING_COLUMNS, missingRows(this.#missing));
    for (const text of notices(summary)) this.#screen.message(text, 'yellow');
    this.#screen.message(conclusion(summary, seconds), 'bold');
  }

  async #plots(): Promise<void> {
    const figures: [string, (point: ReplayLineOf<'point'>) => number | null][] = [
      ['mean reward', ({ after }) => after.mean],
      ['tau within groups', ({ tau }) => tau.mean],
    ];
    for (const [title, figure] of figures) {
      const points = this.#points.map((point): PlotPoint => ({ label: String(point.value), value: figure(point) }));
      await this.#screen.result('');
      for (const line of textPlot(title, points, this.#screen.width)) await this.#screen.result(line);
    }
  }

  async #section(heading: string, columns: readonly Column[], rows: readonly TableRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#screen.result(heading === '' ? '' : `\n${heading}`);
    const table = resultTable(columns, this.#screen);
    for (const row of rows) await table.add(row);
    await table.end();
  }
}

/** `run r1: citation_weight 0.2 -> 0.5` */
function changesText({ run, recipes, rubrics }: ReplayLineOf<'replay'>): string[] {
  const changes = recipes.map(({ changed }) =>
    changed
      .map(({ name, before, after }) => `${name} ${JSON.stringify(before)} -> ${JSON.stringify(after)}`)
      .join(', '),
  );
  const under = rubrics === undefined ? '' : ` · rubrics ${rubricsText(rubrics)}`;
  return [...new Set(changes)].map((text) => `run ${run}: ${text === '' ? 'the recorded recipe' : text}${under}`);
}

function rubricsText(rubrics: NonNullable<ReplayLineOf<'replay'>['rubrics']>): string {
  if ('at_step' in rubrics) return `as at the end of step ${rubrics.at_step}`;
  return `under the rules ${typeof rubrics.rules === 'string' ? rubrics.rules : JSON.stringify(rubrics.rules)}`;
}

function notices({ different, figures, measured, judges }: ReplayLineOf<'summary'>): string[] {
  const texts: string[] = [];
  const others = figures?.recorded.different ?? different.length;
  if (others > 0) {
    texts.push(`${countOf(others, 'recorded reward')} not what this version computes from the recorded facts`);
  }
  const gaps = Object.entries(figures?.gaps ?? {});
  if (gaps.length > 0) texts.push(`not observed: ${gaps.map(([name, count]) => `${name} in ${count}`).join(', ')}`);
  if (measured !== null && measured.without_text > 0) {
    texts.push(`${countOf(measured.without_text, 'rollout')} could not be judged: their text was not stored`);
  }
  if (measured !== null && measured.refused > 0) {
    texts.push(`${countOf(measured.refused, 'rollout')} could not be judged: they lack fields that the recipe reads`);
  }
  if (judges !== null && judges.unmatched > 0) {
    texts.push(
      `${countOf(judges.unmatched, 'rollout')} not compared: a judge failed, or the judges read different answers`,
    );
  }
  return texts;
}

/** `25,600 rollouts in 3,200 groups · mean 7.99 -> 6.20 · … · 0 judge calls · 3.1 s (8,258 rollouts/s)` */
function conclusion({ rollouts, groups, judge_calls, figures }: ReplayLineOf<'summary'>, seconds: number): string {
  const parts = [`${countOf(rollouts, 'rollout')} in ${countOf(groups, 'group')}`];
  if (figures !== null) {
    const { before, after, advantages, degenerate } = figures;
    parts.push(
      `mean ${rewardText(before.mean)} -> ${rewardText(after.mean)}`,
      `${percentText(advantages.flipped_share)} of advantages flipped`,
      `${degenerateText(degenerate)} degenerate`,
    );
  }
  parts.push(countOf(judge_calls, 'judge call'));
  const rate = seconds > 0 ? ` (${Math.round(rollouts / seconds).toLocaleString('en-US')} rollouts/s)` : '';
  return [...parts, `${seconds.toFixed(1)} s${rate}`].join(' · ');
}

/** The criteria that most rollouts have no verdict on; `--json` names them for each rollout. */
function missingRows(missing: ReadonlyMap<string, number>): TableRow[] {
  return [...missing]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_ROLLOUTS_SHOWN)
    .map(([id, count]) => ({ cells: [{ text: id.slice(0, SHOWN_ID_CHARS) }, { text: String(count) }] }));
}

/** Digits of an id that are printed; `citeward rubrics show` takes the same. */
const SHOWN_ID_CHARS = 12;

const right = (title: string, most = 12): Column => ({ title, align: 'right', most });

const left = (title: string, most: number): Column => ({ title, align: 'left', most });

/** Columns of both the step table and the sweep table. */
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

const MISSING_COLUMNS: readonly Column[] = [left('criterion', SHOWN_ID_CHARS), right('rollouts')];

const STEP_COLUMNS: readonly Column[] = [right('step'), right('was'), ...FIGURE_COLUMNS];

function pointColumns(field: string): Column[] {
  return [left(field, 32), ...FIGURE_COLUMNS];
}

function stepRow(step: number | null, figures: ReplayFigures): TableRow {
  return {
    cells: [
      { text: step === null ? 'none' : String(step) },
      { text: rewardText(figures.before.mean), colour: 'dim' },
      ...figureCells(figures),
    ],
  };
}

function pointRow(value: SweepValue, figures: ReplayFigures): TableRow {
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

/**
 * `3` or `5 (+4 -2)`: the number of groups with equal rewards after the change, how many groups became so, and how many
 * stopped being so.
 */
function degenerateText({ after, became, ceased }: ReplayFigures['degenerate']): string {
  const changes = [...(became > 0 ? [`+${became}`] : []), ...(ceased > 0 ? [`-${ceased}`] : [])];
  return changes.length === 0 ? String(after) : `${after} (${changes.join(' ')})`;
}

/** `8.13`, `-` */
function rewardText(value: number | null): string {
  return value === null ? '-' : value.toFixed(2);
}

const COMPONENT_COLUMNS: readonly Column[] = [
  left('component', 24),
  right('compared'),
  right('mean'),
  right('value shift'),
  right('reward shift'),
];

function componentRows({ components }: ReplayFigures): TableRow[] {
  return Object.entries(components).map(([name, { compared, mean, value, contribution }]) => ({
    cells: [
      { text: name },
      { text: String(compared), colour: 'dim' },
      { text: rewardText(mean) },
      { text: differenceText(value) },
      { text: differenceText(contribution) },
    ],
  }));
}

const MOVER_COLUMNS: readonly Column[] = [
  right('step'),
  left('group', 24),
  left('sample', 24),
  right('rank', 14),
  right('reward', 18),
];

function moverRows(movers: ReplayLineOf<'summary'>['movers'], most: number): TableRow[] {
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

const QUESTION_COLUMNS: readonly Column[] = [
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
  named: 'entities named',
  supported: 'statements supported',
};

function questionRows({ questions }: JudgeComparison): TableRow[] {
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

const DIFFERENT_COLUMNS: readonly Column[] = [
  right('step'),
  left('group', 24),
  left('sample', 24),
  right('other verdicts'),
];

function differentRows({ most_different }: JudgeComparison, most: number): TableRow[] {
  return most_different.slice(0, most).map(({ step, group, sample, verdicts }) => ({
    cells: [
      { text: step === null ? 'none' : String(step) },
      { text: group },
      { text: sample },
      { text: String(verdicts) },
    ],
  }));
}
