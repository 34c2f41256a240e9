/**
 * From the columns of a data set to the fields of a row. A column map names the column of each field; without one the
 * columns are named like the fields.
 */

import * as z from 'zod';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import {
  ANSWERS,
  bestPreset,
  type ColumnMap,
  fieldsOf,
  isPreset,
  type MapPreset,
  mapped,
  PRESET_COLUMNS,
  presetColumns,
  presetMap,
} from '../../../src/wire/rows/columns.ts';
import { RunError, UsageError } from '../exit.ts';
import { readTextFile } from '../input.ts';
import { readLines } from '../lines.ts';
import { type Fields, lineFields } from '../rows.ts';
import { didYouMean } from '../suggest.ts';

const columnMapSchema = z.record(z.string(), z.string().min(1));

/** A column map, or the tool whose columns the first record decides. */
export type RowMap = ColumnMap | MapPreset;

/**
 * Reads `--map`: the name of a tool, a file, or the JSON itself, such as
 * `{"question": "prompt", "reference": "extra_info.answer"}`. @throws UsageError
 */
export async function readColumnMap(path: string): Promise<RowMap> {
  if (isPreset(path)) return path;
  const text = path.startsWith('{') ? path : await readTextFile(path);
  const value = parsedJson(text);
  if (value === undefined)
    throw new UsageError(`--map: ${path.startsWith('{') ? 'the text' : path} is not JSON`, EXAMPLE);
  const read = columnMapSchema.safeParse(value);
  if (read.success) return new Map(Object.entries(read.data).map(([field, column]) => [field, column.split('.')]));
  const [problem] = problemsOfIssues(read.error.issues, value);
  throw new UsageError(
    `--map: ${problem === undefined ? 'unusable' : `${pathText(problem.path)}: ${problem.message}`}`,
    EXAMPLE,
  );
}

const EXAMPLE = 'Expected an object of column names, such as {"question": "prompt", "response": "completion"}.';

const encoder = new TextEncoder();

/**
 * Writes records as JSON lines. @param areAnswers whether each row must have an answer.
 * @throws UsageError if a mapped column does not exist, or no column is an answer but one is known as its name.
 */
export async function* rowLines(
  records: AsyncIterable<Fields>,
  given: RowMap | null,
  areAnswers: boolean,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  let map: ColumnMap | null = null;
  for await (const record of records) {
    if (isFirst && given === null && areAnswers) proposeMap(record);
    if (isFirst && given !== null) map = mapOf(record, given);
    isFirst = false;
    yield encoder.encode(`${JSON.stringify(fieldsOf(map === null ? record : mapped(record, map)))}\n`);
  }
}

/** Applies a column map to JSON lines. A line that is no JSON object stays as it is: its reader says what is wrong. */
export async function* mappedLines(
  chunks: AsyncIterable<Uint8Array>,
  given: RowMap | null,
): AsyncGenerator<Uint8Array> {
  if (given === null) {
    yield* chunks;
    return;
  }
  let isFirst = true;
  let map: ColumnMap = new Map();
  for await (const { number, content } of readLines(chunks, MAX_BODY_BYTES)) {
    if (!content.ok) throw new RunError(`line ${number}: ${content.error === 'not_utf8' ? 'not UTF-8' : 'too long'}`);
    const read = lineFields(content);
    if (isFirst && read.ok) map = mapOf(read.value, given);
    if (read.ok) isFirst = false;
    yield encoder.encode(`${read.ok ? JSON.stringify(fieldsOf(mapped(read.value, map))) : content.value}\n`);
  }
}

/** The column of each field. @throws UsageError if the record lacks the columns that the map names. */
function mapOf(record: Fields, given: RowMap): ColumnMap {
  if (typeof given !== 'string') {
    checkColumns(record, given);
    return given;
  }
  const found = presetMap(record, given);
  if (found !== null) return found;
  throw new UsageError(
    `--map ${given}: the file has none of its columns`,
    `They are ${PRESET_COLUMNS[given].join(', ')}.`,
  );
}

/** @throws UsageError with the `--map` to add, if no column is named like an answer and one is known as its name. */
function proposeMap(record: Fields): void {
  if (ANSWERS.some((name) => Object.hasOwn(record, name))) return;
  const preset = bestPreset(record);
  if (preset === null) return;
  const best = presetColumns(record, preset);
  throw new UsageError(
    `the columns ${Object.keys(record).join(', ')} are no answer of a row`,
    `Add --map '${JSON.stringify(Object.fromEntries(best))}'.`,
  );
}

/** Does so for the first line of JSON lines, if `head` holds the whole of it. @throws UsageError */
export function proposeMapOfLine(head: string): void {
  const end = head.indexOf('\n');
  const text = end === -1 ? head : head.slice(0, end);
  const read = lineFields({ ok: true, value: text });
  if (read.ok) proposeMap(read.value);
}

/** Later records may leave a column out (JSON lines do), so only the first one is checked. */
function checkColumns(record: Fields, map: ColumnMap): void {
  const columns = Object.keys(record);
  for (const [field, [column = '']] of map) {
    if (Object.hasOwn(record, column)) continue;
    const hint = didYouMean(column, columns) ?? `The columns are ${columns.join(', ')}.`;
    throw new UsageError(`--map: ${field}: there is no column "${column}"`, hint);
  }
}
