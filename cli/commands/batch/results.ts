/** Lines of output and error files as they are read back: by whom they were asked for, and what a summary counts of them. */
/**
 * What an interrupted run left: the results that are there, and where the last whole one ends. A line that was cut off is
 * taken away, to be made again.
 */
/** Counting the results of a batch while they go by: what its summary says. */

import { createReadStream } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import * as z from 'zod';
import { LineSplitter } from '../../../src/wire/batches/byte-lines.ts';
import { requestId } from '../../../src/wire/batches/result-line.ts';
import { RunError } from '../../shared/exit.ts';
import { contentOfLine } from '../../shared/lines.ts';
import { countText, durationText } from '../../shared/number-text.ts';
import { lineFields } from '../../shared/rows.ts';

/** Longest line that is read, in bytes: a reply names every claim and statement with its place, and has no texts. */
export const MAX_RESULT_LINE_BYTES = 64 * 1024 * 1024;

const resultSchema = z.object({
  id: z.string(),
  custom_id: z.string(),
  response: z.object({ status_code: z.int(), body: z.looseObject({}) }).nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

type ResultLine = z.infer<typeof resultSchema>;

/** Reads one line; `null` if it is no line of a batch's results. */
export function readResultLine(bytes: Uint8Array | null): ResultLine | null {
  const read = lineFields(contentOfLine(bytes, false));
  if (!read.ok) return null;
  const parsed = resultSchema.safeParse(read.fields);
  return parsed.success ? parsed.data : null;
}

/**
 * Reads a file of results, if it is there, and cuts it after its last whole line.
 * @param batch the batch that they have to belong to.
 * @throws RunError if it holds anything else: then it is not touched.
 */
export async function readFinishedLines(
  path: string,
  batch: string,
  onLine: (line: ResultLine) => void,
): Promise<void> {
  const bytes = await sizeOf(path);
  if (bytes === null) return;
  const splitter = new LineSplitter(MAX_RESULT_LINE_BYTES);
  let whole = 0;
  for await (const chunk of createReadStream(path)) {
    for (const { number, next, bytes: content } of splitter.push(chunk)) {
      onLine(resultOf(content, path, number, batch));
      whole = next;
    }
  }
  if (whole < bytes) await truncate(path, whole);
}

const LINE_NUMBER = /_(\d{1,9})$/;

function resultOf(content: Uint8Array | null, path: string, number: number, batch: string): ResultLine {
  const result = readResultLine(content);
  if (result === null) throw new RunError(`${path} line ${number}: no line of a batch's results; nothing was changed`);
  const line = LINE_NUMBER.exec(result.id)?.[1];
  if (line !== undefined && result.id === requestId(batch, Number(line))) return result;
  throw new RunError(
    `${path} line ${number} is of another input, or was made with other flags; nothing was changed`,
    'Give other names with --output and --errors, or --force to begin anew.',
  );
}

/** `null` = it is not there. */
async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new RunError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What of a reply is a reward: of a score one, of a group one a sample, of a verification none. */
const rewardSchema = z.number().nullable();

const scoredSchema = z.looseObject({ reward: rewardSchema, reason: z.string().nullable() });

const groupSchema = z.looseObject({ rewards: z.array(rewardSchema), members: z.array(scoredSchema) });

export class BatchSummary {
  #done = 0;
  #scored = 0;
  #sum = 0;
  readonly #unscored = new Map<string, number>();
  readonly #failed = new Map<string, number>();

  add({ response, error }: Pick<ResultLine, 'response' | 'error'>): void {
    if (error !== null || response === null) {
      count(this.#failed, error?.code ?? 'unknown');
      return;
    }
    this.#done++;
    const group = groupSchema.safeParse(response.body);
    const single = group.success ? null : scoredSchema.safeParse(response.body);
    const members = group.success ? group.data.members : single?.success === true ? [single.data] : [];
    for (const { reward, reason } of members) {
      if (reward === null) count(this.#unscored, reason ?? 'unknown');
      else {
        this.#scored++;
        this.#sum += reward;
      }
    }
  }

  /** Lines with a reply. */
  get done(): number {
    return this.#done;
  }

  /** Lines without one. */
  get failed(): number {
    return [...this.#failed.values()].reduce((sum, one) => sum + one, 0);
  }

  /** `19 lines · 17 done · mean reward 6.412 · failed: 2 input_invalid · 3.2 s` @param seconds `null` = not said. */
  summary(seconds: number | null): string {
    const lines = this.#done + this.failed;
    const parts = [`${countText(lines)} ${lines === 1 ? 'line' : 'lines'}`, `${countText(this.#done)} done`];
    if (this.#scored > 0) parts.push(`mean reward ${(this.#sum / this.#scored).toFixed(3)}`);
    if (this.#unscored.size > 0) parts.push(`unscored: ${reasonsText(this.#unscored)}`);
    if (this.#failed.size > 0) parts.push(`failed: ${reasonsText(this.#failed)}`);
    if (seconds !== null) parts.push(durationText(seconds));
    return parts.join(' · ');
  }
}

function count(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

/** The most frequent first. */
function reasonsText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([reason, times]) => `${countText(times)} ${reason}`).join(', ');
}
