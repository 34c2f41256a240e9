/**
 * The lines of result and error files: reads them, checks those of an interrupted run, and counts them for the summary.
 */
import { createReadStream } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import * as z from 'zod';
import { contentOfLine } from '../../../src/text/lines.ts';
import { LineSplitter } from '../../../src/wire/batches/byte-lines.ts';
import { requestId } from '../../../src/wire/batches/result-line.ts';
import { RunError } from '../../shared/exit.ts';
import { isMissingFile, messageOf } from '../../shared/input.ts';
import { countOf, countText, durationText } from '../../shared/number-text.ts';
import { lineFields } from '../../shared/rows.ts';

/**
 * Maximum length of a line, in bytes. A reply lists every claim and statement with its position, but no source texts.
 */
export const MAX_RESULT_LINE_BYTES = 64 * 1024 * 1024;

const resultSchema = z.object({
  id: z.string(),
  custom_id: z.string(),
  response: z.object({ status_code: z.int(), body: z.looseObject({}) }).nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

type ResultLine = z.infer<typeof resultSchema>;

/** Reads one line; `null` if it is not a line of batch results. */
export function readResultLine(bytes: Uint8Array | null): ResultLine | null {
  const read = lineFields(contentOfLine(bytes, false));
  if (!read.ok) return null;
  const parsed = resultSchema.safeParse(read.value);
  return parsed.success ? parsed.data : null;
}

/**
 * Reads the results of an interrupted run, if the file exists, and truncates it after its last complete line. The cut
 * line is then scored again.
 * @param batch the id of the batch that all lines must belong to.
 * @throws RunError if a line belongs to another batch; the file is then left unchanged.
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
  if (result === null) throw new RunError(`${path} line ${number} is not a result of a batch; nothing was changed`);
  const line = LINE_NUMBER.exec(result.id)?.[1];
  if (line !== undefined && result.id === requestId(batch, Number(line))) return result;
  throw new RunError(
    `${path} line ${number} belongs to another input, or was made with other flags; nothing was changed`,
    'Name other files with --output and --errors, or start again with --force.',
  );
}

/** `null` = there is no such file. */
async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw new RunError(`cannot read ${path}: ${messageOf(error)}`);
  }
}

/** A score has one reward, a group one for each member, a verification none. */
const rewardSchema = z.number().nullable();

const scoredSchema = z.looseObject({ reward: rewardSchema, reason: z.string().nullable() });

const groupSchema = z.looseObject({ rewards: z.array(rewardSchema), members: z.array(scoredSchema) });

/** Counts the results of a batch for its summary. */
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

  /** Lines without a reply. */
  get failed(): number {
    return [...this.#failed.values()].reduce((sum, one) => sum + one, 0);
  }

  /** `19 lines · 17 done · mean reward 6.412 · failed: 2 input_invalid · 3.2 s` @param seconds `null` = not shown. */
  text(seconds: number | null): string {
    const parts = [countOf(this.#done + this.failed, 'line'), `${countText(this.#done)} done`];
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

/** `2 input_invalid, 1 judge_timeout`, the most frequent first. */
function reasonsText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([reason, times]) => `${countText(times)} ${reason}`).join(', ');
}
