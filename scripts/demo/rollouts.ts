/** Reads the answers of the demo and scores them over HTTP. */

import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { ScoreSummary } from '../../cli/commands/score/render.ts';
import { mapInOrder } from '../../cli/shared/in-order.ts';
import { type Row, readRow } from '../../cli/shared/rows.ts';
import type { Client } from '../../clients/typescript/client.ts';
import type { RecipeInput } from '../../src/families/resolve.ts';
import { MAX_BODY_BYTES } from '../../src/limits.ts';
import { readLines } from '../../src/text/lines.ts';
import type { ScoreResponse } from '../../src/wire/score.ts';
import { type ScoreRequest, scoreRequestSchema } from '../../src/wire/score.ts';

export const ANSWERS = 'examples/baikal.jsonl';

export type ExampleRow = Row<ScoreRequest>;

export type ScoredRow = {
  readonly row: ExampleRow;
  readonly reply: Extract<ScoreResponse, { claims: unknown }>;
  readonly reward: number;
};

export type Pass = { readonly rows: readonly ScoredRow[]; readonly tally: ScoreSummary; readonly seconds: number };

/** Reads example rows, to be scored under the recipe, or under the recipe that a row names. @throws Error if a line is not a rollout. */
export async function readExamples(path: string, recipe: RecipeInput): Promise<ExampleRow[]> {
  const rows: ExampleRow[] = [];
  const file = createReadStream(resolve(import.meta.dirname, '../..', path));
  for await (const line of readLines(file, MAX_BODY_BYTES)) {
    const read = readRow(line, scoreRequestSchema, (fields) => ({ recipe, ...fields }));
    if (!read.ok) throw new Error(`${path} line ${line.number}: ${read.error.map((one) => one.message).join('; ')}`);
    rows.push(read.value);
  }
  return rows;
}

const CONCURRENCY = 4;

/** Scores all rows. @throws Error if a row has no reward: the demo has everything that scoring needs. */
export async function scoreAll(
  client: Client,
  rows: readonly ExampleRow[],
  changes: { readonly recipe?: RecipeInput; readonly judgments?: 'only' },
): Promise<Pass> {
  const scored: ScoredRow[] = [];
  const tally = new ScoreSummary();
  const started = performance.now();
  async function* eachRow(): AsyncGenerator<ExampleRow> {
    yield* rows;
  }
  const replies = mapInOrder(eachRow(), CONCURRENCY, async (row) => {
    const { recipe = row.request.recipe, judgments = row.request.judgments } = changes;
    const scored = { judgments, recipe: typeof recipe === 'string' ? recipe : { ...recipe } };
    return { row, reply: await client.score({ ...row.request, ...scored, detail: 'full' }) };
  });
  for await (const { row, reply } of replies) {
    if (!reply.ok) throw new Error(`${row.labels.id ?? `line ${row.line}`}: ${JSON.stringify(reply.failure)}`);
    const { reward, reason } = reply.body;
    if (!('claims' in reply.body)) throw new Error('the demo needs a refiner recipe');
    if (reward === null) throw new Error(`${row.labels.id ?? `line ${row.line}`} is unscored: ${reason}`);
    scored.push({ row, reply: reply.body, reward });
    tally.add({ kind: 'done', reply: reply.body });
  }
  return { rows: scored, tally, seconds: (performance.now() - started) / 1000 };
}
