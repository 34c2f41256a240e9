/** A replay as people read it: tables on standard output while lines come, and at the end what became of the whole. */
import type { ReplayLine, ReplayLineOf, ReplayRequest } from '../../src/wire/replay.ts';
import { countText, percentText } from '../judge/figure-text.ts';
import type { Screen } from '../output/screen.ts';
import { type Column, Table, type TableRow } from '../output/table.ts';
import { type PlotPoint, textPlot } from './plot.ts';
import {
  COMPONENT_COLUMNS,
  componentRows,
  DIFFERENT_COLUMNS,
  degenerateText,
  differentRows,
  MOVER_COLUMNS,
  moverRows,
  pointColumns,
  pointRow,
  QUESTION_COLUMNS,
  questionRows,
  rewardText,
  STEP_COLUMNS,
  stepRow,
} from './tables.ts';

/** Rollouts of a list that are shown; `--json` has more. */
const MOST_SHOWN = 8;

export class ReplayReport {
  readonly #screen: Screen;
  readonly #table: Table;
  readonly #points: ReplayLineOf<'point'>[] = [];

  constructor({ sweep }: ReplayRequest, screen: Screen) {
    this.#screen = screen;
    this.#table = this.#newTable(sweep === undefined ? STEP_COLUMNS : pointColumns(sweep.field));
  }

  /** Shows what a line says by itself. */
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
      case 'sample':
      case 'progress':
      case 'summary':
      case 'error':
    }
  }

  /** @param seconds that the whole took. */
  async end(summary: ReplayLineOf<'summary'>, seconds: number): Promise<void> {
    await this.#table.end();
    if (this.#points.length > 1) await this.#plots();
    const { figures, judges } = summary;
    if (figures !== null) {
      await this.#section('', COMPONENT_COLUMNS, componentRows(figures));
      await this.#section('moved most within their groups', MOVER_COLUMNS, moverRows(summary.movers, MOST_SHOWN));
    }
    if (judges !== null) {
      const heading = `${judges.judge} against the recorded judge: ${countText(judges.compared, 'rollout')} compared`;
      await this.#section(heading, QUESTION_COLUMNS, questionRows(judges));
      await this.#section('where they differ most', DIFFERENT_COLUMNS, differentRows(judges, MOST_SHOWN));
    }
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
    const table = this.#newTable(columns);
    for (const row of rows) await table.add(row);
    await table.end();
  }

  #newTable(columns: readonly Column[]): Table {
    const { width, resultStyle } = this.#screen;
    return new Table(columns, width, resultStyle, (line) => this.#screen.result(line));
  }
}

/** `run r1: citation_weight 0.2 -> 0.5` */
function changesText({ run, recipes }: ReplayLineOf<'replay'>): string[] {
  const changes = recipes.map(({ changed }) =>
    changed
      .map(({ name, before, after }) => `${name} ${JSON.stringify(before)} -> ${JSON.stringify(after)}`)
      .join(', '),
  );
  return [...new Set(changes)].map((text) => `run ${run}: ${text === '' ? 'the recorded recipe' : text}`);
}

function notices({ different, figures, measured, judges }: ReplayLineOf<'summary'>): string[] {
  const texts: string[] = [];
  const others = figures?.recorded.different ?? different.length;
  if (others > 0) {
    texts.push(`${countText(others, 'recorded reward')} not what this version composes from the recorded facts`);
  }
  const gaps = Object.entries(figures?.gaps ?? {});
  if (gaps.length > 0) texts.push(`not observed: ${gaps.map(([name, count]) => `${name} in ${count}`).join(', ')}`);
  if (measured !== null && measured.without_text > 0) {
    texts.push(`${countText(measured.without_text, 'rollout')} could not be judged: their text was not kept`);
  }
  if (measured !== null && measured.refused > 0) {
    texts.push(`${countText(measured.refused, 'rollout')} could not be judged: they lack what the recipe reads`);
  }
  if (judges !== null && judges.unmatched > 0) {
    texts.push(
      `${countText(judges.unmatched, 'rollout')} not compared: one of the judges failed, or read another answer`,
    );
  }
  return texts;
}

/** `25,600 rollouts in 3,200 groups · mean 7.99 -> 6.20 · … · 0 judge calls · 3.1 s (8,258 rollouts/s)` */
function conclusion({ rollouts, groups, judge_calls, figures }: ReplayLineOf<'summary'>, seconds: number): string {
  const parts = [`${countText(rollouts, 'rollout')} in ${countText(groups, 'group')}`];
  if (figures !== null) {
    const { before, after, advantages, degenerate } = figures;
    parts.push(
      `mean ${rewardText(before.mean)} -> ${rewardText(after.mean)}`,
      `${percentText(advantages.flipped_share)} of advantages flipped`,
      `${degenerateText(degenerate)} degenerate`,
    );
  }
  parts.push(countText(judge_calls, 'judge call'));
  const rate = seconds > 0 ? ` (${Math.round(rollouts / seconds).toLocaleString('en-US')} rollouts/s)` : '';
  return [...parts, `${seconds.toFixed(1)} s${rate}`].join(' · ');
}
