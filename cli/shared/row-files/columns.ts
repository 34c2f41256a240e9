/**
 * From the columns of a data set to the fields of a row. A column map names the column of each field; without one the
 * columns are named like the fields.
 */

import * as z from 'zod';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import {
  type ColumnMap,
  columnsOfPreset,
  fieldsOf,
  isPreset,
  type MapPreset,
  mapped,
  presetMap,
  proposedMap,
} from '../../../src/wire/rows/columns.ts';
import type { FileRecord, RowLine } from '../../../src/wire/rows/row-line.ts';
import { UsageError } from '../exit.ts';
import { readTextFile } from '../input.ts';
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
  const text = path.startsWith('{') ? path : await mapFile(path);
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

/** @throws UsageError, with an example where the columns themselves were given: `question=prompt`. */
async function mapFile(path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (!/^\w+=/.test(path)) throw error;
    throw new UsageError(`--map: ${path} is no file, tool or JSON`, EXAMPLE);
  }
}

const EXAMPLE = 'Expected an object of column names, such as {"question": "prompt", "response": "completion"}.';

/**
 * Writes records as JSON text. @param areAnswers whether each row must have an answer.
 * @throws UsageError if a mapped column does not exist, or no column is an answer but one is known as its name.
 */
export async function* rowLines(
  records: AsyncIterable<FileRecord>,
  given: RowMap | null,
  areAnswers: boolean,
): AsyncGenerator<RowLine> {
  let isFirst = true;
  for await (const { number, record } of records) {
    if (!record.ok) {
      yield { number, bytesRead: 0, content: record };
      continue;
    }
    if (isFirst && given === null && areAnswers) proposeMap(record.value);
    const fields = given === null ? record.value : mappedRecord(record.value, given, isFirst);
    isFirst = false;
    yield { number, bytesRead: 0, content: { ok: true, value: JSON.stringify(fieldsOf(fields)) } };
  }
}

/** Applies a column map to lines. One that is no JSON object stays as it is: its reader says what is wrong. */
export async function* mappedLines(lines: AsyncIterable<RowLine>, map: RowMap | null): AsyncGenerator<RowLine> {
  let isFirst = true;
  for await (const line of lines) {
    const read = map === null ? null : lineFields(line.content);
    if (map === null || read?.ok !== true) {
      yield line;
      continue;
    }
    const fields = fieldsOf(mappedRecord(read.value, map, isFirst));
    isFirst = false;
    yield { ...line, content: { ok: true, value: JSON.stringify(fields) } };
  }
}

/** The fields of a record, by its own columns. @throws UsageError if the first one lacks the columns of the map. */
function mappedRecord(record: Fields, given: RowMap, isFirst: boolean): Fields {
  if (typeof given !== 'string') {
    if (isFirst) checkColumns(record, given);
    return mapped(record, given);
  }
  const found = presetMap(record, given);
  if (found !== null) return mapped(record, found);
  if (!isFirst) return record;
  throw new UsageError(
    `--map ${given}: the file has none of its columns`,
    `They are ${columnsOfPreset(given).join(', ')}.`,
  );
}

/** @throws UsageError with the `--map` to add, if no column is named like an answer and one is known as its name. */
function proposeMap(record: Fields): void {
  const map = proposedMap(record);
  if (map === null) return;
  throw new UsageError(`the columns ${Object.keys(record).join(', ')} are no answer of a row`, `Add --map '${map}'.`);
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
