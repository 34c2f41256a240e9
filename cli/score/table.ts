/** The table of `citeward score`. */
import type { ScoreResponse } from '../../src/wire/score.ts';
import type { Labels } from '../input/rows.ts';
import { remarksOfScore, remarksText } from '../output/remarks.ts';
import { type Colour, colourOfShare } from '../output/style.ts';
import type { Cell, Column, TableRow } from '../output/table.ts';

const FINDINGS_WIDTH = 28;

export const SCORE_COLUMNS: readonly Column[] = [
  { title: 'id', align: 'left', most: 24 },
  { title: 'reward', align: 'right', most: 12 },
  { title: 'rubric', align: 'right', most: 6 },
  { title: 'cite', align: 'right', most: 5 },
  { title: 'recall', align: 'right', most: 6 },
  { title: 'prec', align: 'right', most: 5 },
  { title: 'fmt', align: 'left', most: 3 },
  { title: 'findings', align: 'left', most: FINDINGS_WIDTH },
  { title: 'note', align: 'left', most: 200 },
];

/** A row's first cell: its id, or the line it stands on. */
export function idCell(line: number, labels: Labels): Cell {
  return { text: String(labels.id ?? `line ${line}`) };
}

/** A row with a result. An unscored reward is a reason in words, never a number. */
export function scoreRow(line: number, labels: Labels, reply: ScoreResponse): TableRow {
  const id = idCell(line, labels);
  if (reply.reward === null) return unscoredRow(id, reply.reason ?? 'unknown', '');
  const reward = {
    text: reply.reward.toFixed(2),
    colour: rewardColour(reply.reward, reply.recipe.reward_range),
  };
  // The columns are those of cited answers; other families say their parts in words.
  if (reply.family !== 'refiner') return { cells: [id, reward], spread: { text: partsText(reply), colour: 'dim' } };
  const { rubric, citation, format } = reply.components;
  const { citation_recall: recall, citation_precision: precision } = reply.details;
  return {
    cells: [
      id,
      reward,
      { text: numberText(rubric.value) },
      { text: citation.status === 'not_applicable' ? 'n/a' : numberText(citation.value) },
      { text: numberText(recall), colour: 'dim' },
      { text: numberText(precision), colour: 'dim' },
      format.value === 1 ? { text: 'ok' } : { text: 'bad', colour: 'yellow' },
      { text: remarksText(remarksOfScore(reply), FINDINGS_WIDTH) },
      { text: labels.note ?? '', colour: 'dim' },
    ],
  };
}

/** A row without a result. */
export function unscoredRow(id: Cell, reason: string, detail: string): TableRow {
  const text = detail === '' ? `unscored: ${reason}` : `unscored: ${reason} (${detail})`;
  return { cells: [id], spread: { text, colour: 'yellow' } };
}

/** `outcome 1.00 · rubric 0.40`: each part's value. */
function partsText(reply: ScoreResponse): string {
  const parts = Object.entries(reply.components).map(([name, { value }]) => `${name} ${numberText(value)}`);
  if (reply.family === 'long-trace' && !reply.details.final) parts.push("before the group's maximum divides it");
  return parts.join(' · ');
}

/** By the share of the recipe's range; none where the range has no bound. */
export function rewardColour(reward: number, [least, most]: readonly [number | null, number | null]): Colour | null {
  return least !== null && most !== null && most > least ? colourOfShare((reward - least) / (most - least)) : null;
}

export function numberText(value: number | null): string {
  return value === null ? '-' : value.toFixed(2);
}
