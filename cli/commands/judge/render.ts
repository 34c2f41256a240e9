/** Prints the report of `citeward judge check`: tables within 100 columns, then one sentence for each figure. */

import type { LabelKind } from '../../../src/labels/labelled-row.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import { countOf, differenceText, durationText, kappaText, percentText } from '../../shared/number-text.ts';
import type { Screen } from '../../shared/screen.ts';
import type { Style } from '../../shared/style.ts';
import { badLinesText } from '../../shared/summary.ts';
import { type Cell, type Column, Table, type TableRow } from '../../shared/table.ts';
import { costCells, right } from './cells.ts';
import {
  COST_COLUMNS,
  confusionColumns,
  confusionRows,
  costRows,
  DIFFERENCE_COLUMNS,
  differenceRow,
  FLIP_COLUMNS,
  flipRows,
  intervalText,
  KIND_TEXTS,
  PAIR_COLUMNS,
  PART_COLUMNS,
  pairRow,
  partRows,
  WAY_COLUMNS,
  wayRows,
} from './labelled-tables.ts';
import { readingsOf } from './readings.ts';
import {
  type CheckReport,
  type ComparisonFigures,
  type CriteriaFigures,
  type JudgeReport,
  judgingReportsOf,
  type KindFigures,
} from './report.ts';

export async function print(report: CheckReport, screen: Screen, json: boolean): Promise<void> {
  const readings = readingsOf(report);
  if (json) {
    await screen.result(JSON.stringify({ ...report, readings }));
    return;
  }
  await printTables(report, { style: screen.resultStyle, write: (line) => screen.result(line) });
  for (const reading of readings) await screen.result(plainLine(reading));
}

export function summaryOf(report: CheckReport, seconds: number): string {
  const { rollouts, labelled, left_out, bad, without_answer } = report.rows;
  const calls = judgingReportsOf(report).reduce((sum, report) => sum + report.calls, 0);
  return [
    ...(rollouts > 0 || labelled === 0 ? [countOf(rollouts, 'rollout')] : []),
    ...(without_answer > 0 ? [`${without_answer} without an answer`] : []),
    ...(labelled > 0 ? [countOf(labelled, 'labelled row')] : []),
    ...(left_out > 0 ? [`${left_out} left out, of the questions of examples`] : []),
    ...(bad > 0 ? [badLinesText(bad)] : []),
    countOf(calls, 'judge call'),
    durationText(seconds),
  ].join(' · ');
}

/** The columns add up to at most 100; a narrower terminal wraps the lines, so that no figure is left out. */
const WIDTH = 120;

type TableOutput = { readonly style: Style; readonly write: (line: string) => Promise<void> };

/** Prints the tables of the rows that the input has. With several judges each line begins with the judge. */
async function printTables(report: CheckReport, output: TableOutput): Promise<void> {
  const { judges, differences } = report;
  const names = judges.length > 1;
  const rowsOf = (rows: (judge: JudgeReport) => readonly TableRow[]): TableRow[] =>
    judges.flatMap((judge) => rows(judge).map((row) => (names ? named(judge.name, row) : row)));
  const print = async (
    title: string,
    columns: readonly Column[],
    rows: (judge: JudgeReport) => readonly TableRow[],
  ) => {
    const all = rowsOf(rows);
    if (all.length > 0) await printTable(title, names ? [JUDGE_COLUMN, ...columns] : columns, all, output);
  };

  await print('Criteria: each way of judging compared with the joint one', CRITERIA_COLUMNS, ({ criteria }) =>
    criteria === null ? [] : criteriaRows(criteria),
  );
  await print('Criteria: verdicts that another order changes', ORDER_COLUMNS, ({ criteria }) =>
    criteria === null ? [] : orderRows(criteria),
  );
  for (const kind of kindsOf(judges)) {
    const figures = ({ labelled }: JudgeReport): KindFigures[] =>
      labelled?.kinds.filter((one) => one.kind === kind) ?? [];
    const { title } = KIND_TEXTS[kind];
    await print(`${title}: verdicts compared with labels`, PART_COLUMNS, (judge) =>
      figures(judge).flatMap(({ parts }) => partRows(parts, names)),
    );
    if (!names) {
      await print(`${title} by label and verdict`, confusionColumns(kind), (judge) =>
        figures(judge).flatMap(confusionRows),
      );
    }
    await print(`${title}: pairs that differ by one edit`, PAIR_COLUMNS, (judge) =>
      figures(judge).flatMap(({ pairs }) => (names ? pairs.slice(0, 1) : pairs).map(pairRow)),
    );
    await print(`${title}: asked in other ways`, WAY_COLUMNS, (judge) => figures(judge).flatMap(wayRows));
  }
  await print('Advantages that the errors of the judge change', FLIP_COLUMNS, ({ labelled }) => flipRows(labelled));
  await print('Cost of the labelled rows', COST_COLUMNS, ({ labelled }) => costRows(labelled));
  if (differences.length > 0) {
    const rows = differences.map(differenceRow);
    await printTable('Each judge compared with the first, row by row', DIFFERENCE_COLUMNS, rows, output);
  }
}

function kindsOf(judges: readonly JudgeReport[]): readonly LabelKind[] {
  return judges[0]?.labelled?.kinds.map(({ kind }) => kind) ?? [];
}

function named(name: string, { cells, ...row }: TableRow): TableRow {
  return { ...row, cells: [{ text: name }, ...cells] };
}

const JUDGE_COLUMN: Column = { title: 'judge', align: 'left', most: 24 };

async function printTable(
  title: string,
  columns: readonly Column[],
  rows: readonly TableRow[],
  { style, write }: TableOutput,
): Promise<void> {
  await write(style('bold', title));
  const table = new Table(columns, WIDTH, style, write);
  for (const row of rows) await table.add(row);
  await table.end();
  await write('');
}

const CRITERIA_COLUMNS: readonly Column[] = [
  { title: 'judged', align: 'left', most: 14 },
  right('verdicts', 13),
  right('same', 6),
  right('kappa', 5),
  right('bias', 5),
  right('failed', 6),
  right('calls', 7),
  right('tokens', 12),
  right('latency', 12),
];

function criteriaRows({ joint, per_criterion, batched, reversed, shuffled, replicates }: CriteriaFigures): TableRow[] {
  return [
    { cells: [{ text: 'joint' }, ...dashes(4), ...costCells(joint)] },
    comparisonRow('one by one', per_criterion),
    ...(batched === null ? [] : [comparisonRow('in batches', batched)]),
    comparisonRow('order reversed', reversed),
    comparisonRow('order shuffled', shuffled),
    ...(replicates === 'deterministic'
      ? [{ cells: [{ text: 'again' }], spread: { text: 'deterministic: no sampling', colour: 'dim' as const } }]
      : replicates.map((one, position) => comparisonRow(`again ${position + 1}`, one))),
  ];
}

function comparisonRow(name: string, figures: ComparisonFigures): TableRow {
  const { verdicts_asked: requested, verdicts_compared: compared } = figures;
  return {
    cells: [
      { text: name },
      compared === requested ? { text: `${requested}` } : { text: `${compared}/${requested}`, colour: 'yellow' },
      { text: percentText(figures.exact_agreement) },
      { text: kappaText(figures.kappa) },
      { text: differenceText(figures.mean_difference) },
      ...costCells(figures),
    ],
  };
}

const ORDER_COLUMNS: readonly Column[] = [
  { title: 'criteria', align: 'left', most: 14 },
  right('verdicts', 8),
  right('flipped', 7),
  right('95 % interval', 15),
];

function orderRows({ shuffled }: CriteriaFigures): TableRow[] {
  return shuffled.flips.map(({ criteria, verdicts, share, interval }) => ({
    cells: [criteria, `${verdicts}`, percentText(share), intervalText(interval)].map((text) => ({ text })),
  }));
}

function dashes(count: number): Cell[] {
  return Array.from({ length: count }, () => ({ text: '-', colour: 'dim' as const }));
}
