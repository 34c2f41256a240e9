/** Reads the rows to be labelled from a file of this machine. The file is not uploaded. */

import { isJsonObject, type JsonObject, parsedJson } from '../../../src/json.ts';
import { type LabelQuestion, labelFormatOf, levelOf, readLabelQuestion } from '../../../src/labels/labelled-row.ts';
import type { Result } from '../../../src/result.ts';
import { textLines } from '../api/text-lines.ts';
import { noRatings, type Ratings, rated } from './ratings.ts';

/** Each row takes as much memory as its text. */
const MAX_ROWS = 10_000;

const MAX_PROBLEMS_SHOWN = 5;

export type LabelFile = {
  readonly name: string;
  /** SHA-256 of the rows, base64url: progress is kept under it. */
  readonly digest: string;
  readonly rows: readonly LabelQuestion[];
  /** Ratings that the rows bring with them, from another rater's export. */
  readonly ratings: Ratings;
};

/** Reads JSON lines, also compressed by gzip. An error is a list of problems. */
export async function openLabelFile(file: File): Promise<Result<LabelFile, readonly string[]>> {
  const stream: ReadableStream<Uint8Array<ArrayBuffer>> = file.name.endsWith('.gz')
    ? file.stream().pipeThrough(new DecompressionStream('gzip'))
    : file.stream();
  const rows: LabelQuestion[] = [];
  const problems: string[] = [];
  let number = 0;
  try {
    for await (const line of textLines(stream)) {
      number++;
      if (rows.length === MAX_ROWS) return { ok: false, error: [`more than ${MAX_ROWS} rows; split the file`] };
      const read = readLine(line);
      if (read.ok) rows.push(read.value);
      else problems.push(`row ${number}: ${read.error}`);
      if (problems.length === MAX_PROBLEMS_SHOWN) break;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    problems.push('the file cannot be read: expected UTF-8 text, or such text compressed by gzip');
  }
  if (problems.length > 0) return { ok: false, error: problems };
  if (rows.length === 0) return { ok: false, error: ['the file has no rows'] };
  const digest = await digestOf(rows);
  return { ok: true, value: { name: file.name, digest, rows, ratings: broughtAlong(rows) } };
}

function readLine(line: string): Result<LabelQuestion, string> {
  const fields = fieldsOf(line);
  if (fields === null) return { ok: false, error: 'expected one JSON object a line' };
  const { note: _note, ...rest } = fields;
  const format = labelFormatOf(rest);
  if (format === null) return { ok: false, error: 'kind: required: "criterion", "claim" or "needs_citation"' };
  const read = readLabelQuestion(rest, format);
  if (read.ok) return read;
  return { ok: false, error: read.error.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') };
}

function fieldsOf(line: string): JsonObject | null {
  const value = parsedJson(line);
  return isJsonObject(value) ? value : null;
}

/** The digest of what is asked: the same rows with ratings added keep it. */
async function digestOf(rows: readonly LabelQuestion[]): Promise<string> {
  const asked = rows.map(({ set, question, sources, asked: own }) => [set, question, sources, own]);
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(asked)));
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

function broughtAlong(rows: readonly LabelQuestion[]): Ratings {
  return rows.reduce(
    (all, { ratings, asked }, row) =>
      ratings.reduce((some, { rater, label }) => {
        const level = levelOf(asked.kind, label);
        return level === null ? some : rated(some, rater, row, level);
      }, all),
    noRatings(),
  );
}
