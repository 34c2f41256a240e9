/** The tables of `citeward judge check`: readable at 100 columns. */
import type { Style } from '../output/style.ts';
import { type Cell, type Column, Table, type TableRow } from '../output/table.ts';
import { differenceText, kappaText, latencyText, percentText, tokensText } from './figure-text.ts';
import type { LaneReport } from './lane.ts';
import type { CheckReport, ClaimFigures, ClaimsFigures, ComparisonFigures, CriteriaFigures } from './report.ts';
import { LABELS } from './rows.ts';

/** The columns take 100 at most by their own limits; a narrower terminal wraps, so that no figure is left out. */
const WIDTH = 120;

export type Output = { readonly style: Style; readonly write: (line: string) => Promise<void> };

/** Prints what there is. */
export async function printTables({ criteria, claims }: CheckReport, output: Output): Promise<void> {
  if (criteria !== null) {
    await printTable('Criteria: each way of judging against the joint one', CRITERIA, criteriaRows(criteria), output);
  }
  if (claims !== null) {
    await printTable('Claims: verdicts against labels', CLAIMS, claimRows(claims), output);
    await printTable('Claims by label and verdict', CONFUSION, confusionRows(claims), output);
  }
}

async function printTable(
  title: string,
  columns: readonly Column[],
  rows: readonly TableRow[],
  { style, write }: Output,
): Promise<void> {
  await write(style('bold', title));
  const table = new Table(columns, WIDTH, style, write);
  for (const row of rows) await table.add(row);
  await table.end();
  await write('');
}

function right(title: string, most: number): Column {
  return { title, align: 'right', most };
}

const CRITERIA: readonly Column[] = [
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

function criteriaRows({ joint, per_criterion, reversed, replicates }: CriteriaFigures): TableRow[] {
  return [
    { cells: [{ text: 'joint' }, ...dashes(4), ...costCells(joint)] },
    comparisonRow('one by one', per_criterion),
    comparisonRow('order reversed', reversed),
    ...(replicates === 'deterministic'
      ? [{ cells: [{ text: 'again' }], spread: { text: 'deterministic: nothing is sampled', colour: 'dim' as const } }]
      : replicates.map((one, position) => comparisonRow(`again ${position + 1}`, one))),
  ];
}

function comparisonRow(name: string, figures: ComparisonFigures): TableRow {
  const { verdicts_asked: asked, verdicts_compared: compared } = figures;
  return {
    cells: [
      { text: name },
      compared === asked ? { text: `${asked}` } : { text: `${compared}/${asked}`, colour: 'yellow' },
      { text: percentText(figures.exact_agreement) },
      { text: kappaText(figures.kappa) },
      { text: differenceText(figures.mean_difference) },
      ...costCells(figures),
    ],
  };
}

function costCells(lane: LaneReport): Cell[] {
  return [
    failedCell(lane.failure_rate),
    { text: `${lane.calls}` },
    { text: tokensText(lane) },
    { text: latencyText(lane.mean_latency_ms) },
  ];
}

function failedCell(rate: number | null): Cell {
  return { text: percentText(rate), colour: rate !== null && rate > 0 ? 'yellow' : null };
}

function dashes(count: number): Cell[] {
  return Array.from({ length: count }, () => ({ text: '-', colour: 'dim' as const }));
}

const CLAIMS: readonly Column[] = [
  { title: 'set', align: 'left', most: 22 },
  right('claims', 7),
  right('3-way', 6),
  right('bal.', 6),
  right('kappa', 5),
  right('yes/no', 6),
  right('bal.', 6),
  right('kappa', 5),
  right('bias', 5),
  right('failed', 6),
];

function claimRows({ all, sets }: ClaimsFigures): TableRow[] {
  return [...sets.map((one) => claimRow(one.set, one)), ...(sets.length > 1 ? [claimRow('all', all)] : [])];
}

function claimRow(name: string, { claims, three_way, supported_or_not, failure_rate }: ClaimFigures) {
  return {
    cells: [
      { text: name },
      { text: `${claims}` },
      ...[three_way, supported_or_not].flatMap(({ accuracy, balanced_accuracy, kappa }) => [
        { text: percentText(accuracy) },
        { text: percentText(balanced_accuracy) },
        { text: kappaText(kappa) },
      ]),
      { text: differenceText(supported_or_not.mean_difference) },
      failedCell(failure_rate),
    ],
  };
}

const CONFUSION: readonly Column[] = [
  { title: 'set', align: 'left', most: 40 },
  { title: 'label', align: 'left', most: 11 },
  right('full', 7),
  right('partial', 7),
  right('none', 7),
  right('failed', 7),
];

/** Labels that occur, from supported to unsupported. */
function confusionRows({ all, sets }: ClaimsFigures): TableRow[] {
  const named = [
    ...sets.map((one) => ({ name: one.set, ...one })),
    ...(sets.length > 1 ? [{ name: 'all', ...all }] : []),
  ];
  return named.flatMap(({ name, confusion }) =>
    LABELS.toReversed().flatMap((label) => {
      const { full, partial, none, failed } = confusion[label];
      if (full + partial + none + failed === 0) return [];
      return [{ cells: [name, label, full, partial, none, failed].map((cell) => ({ text: `${cell}` })) }];
    }),
  );
}
