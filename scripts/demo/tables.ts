/** The two tables of the demo: scores with findings, and rewards before and after a replay. */

import { numberText, rewardColour } from '../../cli/commands/score/render.ts';
import { remarksOfScore, remarksText } from '../../cli/shared/remarks.ts';
import { idCell } from '../../cli/shared/row-printer.ts';
import type { Style } from '../../cli/shared/style.ts';
import { type Column, Table } from '../../cli/shared/table.ts';
import { fitText } from '../../cli/shared/text-width.ts';
import { plainLine } from '../../src/text/foreign-line.ts';
import type { Pass, ScoredRow } from './rollouts.ts';

export type Paper = { readonly width: number; readonly style: Style; readonly write: (line: string) => void };

const FINDINGS_WIDTH = 38;

const STORY_COLUMNS: readonly Column[] = [
  { title: 'id', align: 'left', most: 24 },
  { title: 'reward', align: 'right', most: 6 },
  { title: 'rubric', align: 'right', most: 6 },
  { title: 'cite', align: 'right', most: 4 },
  { title: 'recall', align: 'right', most: 6 },
  { title: 'prec', align: 'right', most: 4 },
  { title: 'findings', align: 'left', most: FINDINGS_WIDTH },
];

/** Prints one line of numbers and findings per row, with the row's note below it. */
export async function printStory(pass: Pass, paper: Paper): Promise<void> {
  const lines: string[] = [];
  const table = new Table(STORY_COLUMNS, paper.width, paper.style, async (line) => {
    lines.push(line);
  });
  for (const { row, reply, reward } of pass.rows) {
    const { rubric, citation } = reply.components;
    const { citation_recall: recall, citation_precision: precision } = reply.details;
    await table.add({
      cells: [
        idCell(row.line, row.labels),
        { text: reward.toFixed(2), colour: rewardColour(reward, reply.recipe.reward_range) },
        { text: numberText(rubric.value) },
        { text: citation.status === 'not_applicable' ? 'n/a' : numberText(citation.value) },
        { text: numberText(recall) },
        { text: numberText(precision) },
        { text: remarksText(remarksOfScore(reply), FINDINGS_WIDTH) },
      ],
    });
  }
  await table.end();
  const [titles, ...rows] = lines;
  if (titles !== undefined) paper.write(titles);
  rows.forEach((line, position) => {
    paper.write(line);
    const note = pass.rows[position]?.row.labels.note ?? '';
    if (note !== '') paper.write(paper.style('dim', fitText(`  ${plainLine(note)}`, paper.width)));
  });
}

const REPLAY_COLUMNS: readonly Column[] = [
  { title: 'id', align: 'left', most: 24 },
  { title: 'before', align: 'right', most: 6 },
  { title: 'after', align: 'right', most: 6 },
  { title: 'change', align: 'right', most: 6 },
  { title: 'rubric', align: 'right', most: 6 },
  { title: 'cite', align: 'right', most: 4 },
];

/** Prints the old and new reward of every row, largest changes first. */
export async function printReplay(before: Pass, after: Pass, paper: Paper): Promise<void> {
  const old = new Map(before.rows.map(({ row, reward }) => [row.line, reward]));
  const moved = after.rows.map((scored: ScoredRow) => {
    const was = old.get(scored.row.line);
    if (was === undefined) throw new Error(`printReplay: line ${scored.row.line} was not scored before`);
    return { ...scored, was, change: scored.reward - was };
  });
  moved.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  const table = new Table(REPLAY_COLUMNS, paper.width, paper.style, async (line) => paper.write(line));
  for (const { row, reply, reward, was, change } of moved) {
    const { rubric, citation } = reply.components;
    await table.add({
      cells: [
        idCell(row.line, row.labels),
        { text: was.toFixed(2) },
        { text: reward.toFixed(2), colour: rewardColour(reward, reply.recipe.reward_range) },
        { text: changeText(change), colour: Math.abs(change) < 0.005 ? 'dim' : change > 0 ? 'green' : 'red' },
        { text: numberText(rubric.value) },
        { text: citation.status === 'not_applicable' ? 'n/a' : numberText(citation.value) },
      ],
    });
  }
  await table.end();
}

function changeText(change: number): string {
  if (Math.abs(change) < 0.005) return '0.00';
  return `${change > 0 ? '+' : '-'}${Math.abs(change).toFixed(2)}`;
}
