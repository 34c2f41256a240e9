/** The tables of labelled rows: accuracy, pairs, ways of asking, advantages, cost, and differences between judges. */
import type { Interval } from '../../../src/labels/cluster-bootstrap.ts';
import type { Way } from '../../../src/labels/label-probes.ts';
import { type LabelKind, LEVELS } from '../../../src/labels/labelled-row.ts';
import { differenceText, kappaText, NONE, percentText } from '../../shared/number-text.ts';
import type { Cell, Column, TableRow } from '../../shared/table.ts';
import { costCells, failedCell, right } from './cells.ts';
import type { JudgingReport } from './measured-judge.ts';
import type { CheckReport, KindFigures, LabelledFigures, PairPartFigures, PartFigures } from './report.ts';

/** How tables and sentences speak of each kind. */
export const KIND_TEXTS: Readonly<
  Record<
    LabelKind,
    { readonly title: string; readonly rows: string; readonly yes: string; readonly verdicts: readonly string[] }
  >
> = {
  criterion: { title: 'Criteria', rows: 'criteria', yes: 'met', verdicts: ['0', '1', '2'] },
  claim: { title: 'Claims', rows: 'claims', yes: 'supported', verdicts: ['none', 'partial', 'full'] },
  needs_citation: { title: 'Statements', rows: 'statements', yes: 'in need of a citation', verdicts: ['no', 'yes'] },
};

const INTERVAL_COLUMN = right('95 % interval', 15);

export const PART_COLUMNS: readonly Column[] = [
  { title: 'rows', align: 'left', most: 30 },
  right('count', 6),
  right('bal.', 6),
  INTERVAL_COLUMN,
  right('same', 6),
  right('kappa', 5),
  right('finds', 6),
  right('passes', 6),
  right('failed', 6),
];

/** @param few with several judges only all rows and the sets, so that the judges stand below each other. */
export function partRows(parts: readonly PartFigures[], few: boolean): TableRow[] {
  return parts
    .filter(({ part }) => !few || part === 'all' || part === 'set')
    .map((figures) => ({
      cells: [
        { text: partText(figures) },
        { text: `${figures.rows}` },
        { text: percentText(figures.balanced_accuracy) },
        { text: intervalText(figures.interval) },
        { text: percentText(figures.accuracy) },
        { text: kappaText(figures.kappa) },
        { text: percentText(figures.finds_yes) },
        { text: percentText(figures.passes_no) },
        failedCell(figures.rows === 0 ? null : figures.failed / figures.rows),
      ],
    }));
}

function partText({ part, name }: Pick<PartFigures | PairPartFigures, 'part' | 'name'>): string {
  return name === null ? part : `${part}: ${name}`;
}

/** `70.1% - 79.9%` */
export function intervalText(interval: Interval | null): string {
  return interval === null ? NONE : `${percentText(interval[0])} - ${percentText(interval[1])}`;
}

export function confusionColumns(kind: LabelKind): readonly Column[] {
  return [
    { title: 'rows', align: 'left', most: 30 },
    { title: 'label', align: 'left', most: 11 },
    ...KIND_TEXTS[kind].verdicts.toReversed().map((verdict) => right(verdict, 7)),
    right('failed', 7),
  ];
}

/** One row for each label that occurs, from the highest, of all rows and of each set. */
export function confusionRows({ kind, parts }: KindFigures): TableRow[] {
  const shown = parts.filter(({ part }) => part === 'all' || part === 'set');
  return shown.flatMap((figures) =>
    LEVELS[kind]
      .map((label, level) => ({
        label,
        counts: [...(figures.table[level] ?? []).toReversed(), figures.failed_by_level[level] ?? 0],
      }))
      .filter(({ counts }) => counts.some((count) => count > 0))
      .toReversed()
      .map(({ label, counts }) => ({
        cells: [partText(figures), `${label}`, ...counts.map(String)].map((text) => ({ text })),
      })),
  );
}

export const PAIR_COLUMNS: readonly Column[] = [
  { title: 'edit', align: 'left', most: 30 },
  right('pairs', 6),
  right('both', 6),
  INTERVAL_COLUMN,
  right('one', 6),
  right('none', 6),
  right('same', 6),
  right('reversed', 8),
  right('left out', 8),
];

export function pairRow(figures: PairPartFigures): TableRow {
  const { pairs } = figures;
  const of = (count: number): Cell => ({ text: percentText(pairs === 0 ? null : count / pairs) });
  return {
    cells: [
      { text: figures.name ?? 'all' },
      { text: `${pairs}` },
      { text: percentText(figures.both_right_share) },
      { text: intervalText(figures.interval) },
      of(figures.one_right),
      of(figures.none_right),
      of(figures.same_verdict),
      of(figures.reversed),
      { text: `${figures.incomplete}`, colour: figures.incomplete > 0 ? 'yellow' : null },
    ],
  };
}

export const WAY_TEXTS: Readonly<Record<Way, string>> = {
  alone: 'alone (halo)',
  first_of_batch: 'first of its batch',
  first_of_four: 'first of four (halo)',
  last_of_four: 'last of four (order)',
  padded_answer: 'padded answer',
  sources_reversed: 'sources reversed',
};

export const WAY_COLUMNS: readonly Column[] = [
  { title: 'asked', align: 'left', most: 20 },
  right('rows', 6),
  right('same', 6),
  right('raised', 6),
  right('lowered', 7),
  right('bias', 5),
  right('bal.', 6),
  right('95 % interval', 15),
];

export function wayRows({ ways, again }: KindFigures): TableRow[] {
  return [
    ...ways.map(({ way, rows, same, raised, lowered, mean_difference, accuracy }) => ({
      cells: [
        { text: WAY_TEXTS[way] },
        { text: `${rows}` },
        ...[same, raised, lowered].map((share) => ({ text: percentText(share) })),
        { text: differenceText(mean_difference) },
        { text: pointsText(accuracy.difference) },
        { text: pointsIntervalText(accuracy.interval) },
      ],
    })),
    ...(again === null || again === 'deterministic'
      ? []
      : [
          {
            cells: [
              { text: `again, ${again.judgments} times` },
              { text: `${again.rows}` },
              { text: percentText(again.changed === null ? null : 1 - again.changed) },
            ],
            spread: {
              text: `variance ${again.variance === null ? NONE : again.variance.toFixed(3)}, bal. ${again.balanced_accuracies.map(percentText).join(', ')}`,
            },
          },
        ]),
  ];
}

/** `+1.3`, in percentage points. */
export function pointsText(difference: number | null): string {
  if (difference === null) return NONE;
  const text = (100 * difference).toFixed(1);
  return text === '-0.0' || text === '0.0' ? '0.0' : difference > 0 ? `+${text}` : text;
}

export function pointsIntervalText(interval: Interval | null): string {
  return interval === null ? NONE : `${pointsText(interval[0])} … ${pointsText(interval[1])}`;
}

export const FLIP_COLUMNS: readonly Column[] = [
  { title: 'rows', align: 'left', most: 10 },
  right('groups', 6),
  right('answers', 7),
  right('kept', 6),
  right('flipped', 7),
  right('to zero', 7),
  right('from zero', 9),
  right('unscored', 8),
];

export function flipRows(labelled: LabelledFigures | null): TableRow[] {
  const flips = labelled?.advantages ?? null;
  if (flips === null) return [];
  const of = (count: number): Cell => ({ text: percentText(flips.answers === 0 ? null : count / flips.answers) });
  return [
    {
      cells: [
        { text: 'all' },
        { text: `${flips.groups}` },
        { text: `${flips.answers}` },
        of(flips.kept),
        of(flips.flipped),
        of(flips.silenced),
        of(flips.awakened),
        { text: `${flips.not_compared}` },
      ],
    },
  ];
}

export const COST_COLUMNS: readonly Column[] = [
  { title: 'asked', align: 'left', most: 20 },
  right('questions', 9),
  right('failed', 6),
  right('calls', 7),
  right('tokens', 12),
  right('latency', 12),
];

export function costRows(labelled: LabelledFigures | null): TableRow[] {
  if (labelled === null) return [];
  const { measured, ways, again } = labelled.judging;
  const row = (name: string, judging: JudgingReport): TableRow => ({
    cells: [{ text: name }, { text: `${judging.questions}` }, ...costCells(judging)],
  });
  return [
    row('as measured', measured),
    ...Object.entries(ways).map(([way, judging]) => row(way.replaceAll('_', ' '), judging)),
    ...again.map((judging, position) => row(`again ${position + 1}`, judging)),
  ];
}

export const DIFFERENCE_COLUMNS: readonly Column[] = [
  { title: 'judge', align: 'left', most: 24 },
  { title: 'rows', align: 'left', most: 14 },
  right('count', 6),
  right('bal.', 6),
  right('95 % interval', 15),
  right('only it', 7),
  right('only 1st', 8),
  right('McNemar p', 9),
  { title: 'shown', align: 'left', most: 6 },
];

export function differenceRow(one: CheckReport['differences'][number]): TableRow {
  return {
    cells: [
      { text: one.second },
      { text: KIND_TEXTS[one.kind].rows },
      { text: `${one.rows}` },
      { text: pointsText(one.difference) },
      { text: pointsIntervalText(one.interval) },
      { text: `${one.only_second_right}` },
      { text: `${one.only_first_right}` },
      { text: one.mcnemar_p < 0.0001 ? '<0.0001' : one.mcnemar_p.toFixed(4) },
      { text: one.shown ? 'yes' : 'no' },
    ],
  };
}
