/** Scores the CaRR examples and prints which criteria of each answer count, and why the others do not. */

import { rewardColour } from '../../cli/commands/score/render.ts';
import { idCell } from '../../cli/shared/row-printer.ts';
import { type Column, Table } from '../../cli/shared/table.ts';
import type { Client } from '../../clients/typescript/client.ts';
import { readExamples } from './rollouts.ts';
import type { Paper } from './tables.ts';

export const CARR_EXAMPLES = 'examples/carr.jsonl';

const COLUMNS: readonly Column[] = [
  { title: 'id', align: 'left', most: 18 },
  { title: 'reward', align: 'right', most: 6 },
  { title: 'outcome', align: 'right', most: 7 },
  { title: 'criteria', align: 'left', most: 60 },
];

/** @throws Error if a row has no reward. */
export async function printCriteria(client: Client, paper: Paper): Promise<void> {
  const table = new Table(COLUMNS, paper.width, paper.style, async (line) => paper.write(line));
  for (const row of await readExamples(CARR_EXAMPLES, 'named by each row')) {
    const { recipe, ...request } = row.request;
    const named = typeof recipe === 'string' ? recipe : { ...recipe };
    const reply = await client.score({ ...request, recipe: named, detail: 'full' });
    if (!reply.ok) throw new Error(`${row.labels.id ?? `line ${row.line}`}: ${JSON.stringify(reply.failure)}`);
    if (!('names' in reply.body))
      throw new Error(`${CARR_EXAMPLES} line ${row.line}: not a recipe with named criteria`);
    const { reward, components, entity_rubrics: criteria } = reply.body;
    if (reward === null) throw new Error(`${row.labels.id ?? `line ${row.line}`} is unscored: ${reply.body.reason}`);
    const failed = new Map<string, number>();
    for (const { failed: reason } of criteria) if (reason !== null) failed.set(reason, (failed.get(reason) ?? 0) + 1);
    const reasons = [...failed].map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`);
    const counted = criteria.filter(({ counts }) => counts === true).length;
    await table.add({
      cells: [
        idCell(row.line, row.labels),
        { text: reward.toFixed(2), colour: rewardColour(reward, reply.body.recipe.reward_range) },
        { text: components.outcome.value === 1 ? 'right' : 'wrong' },
        { text: [`${counted} of ${criteria.length}`, ...reasons].join(', ') },
      ],
    });
  }
  await table.end();
}
