/**
 * From the columns of a data set to the fields of a row. A column map names the column of each field; without one the
 * columns are named like the fields.
 */
import * as z from 'zod';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { RunError, UsageError } from '../exit.ts';
import { readTextFile } from '../input.ts';
import { readLines } from '../lines.ts';
import { type Fields, isFields, lineFields } from '../rows.ts';
import { didYouMean } from '../suggest.ts';

/** Field to the path of its value in a record: a column, and the members and indexes below it. */
export type ColumnMap = ReadonlyMap<string, readonly string[]>;

const columnMapSchema = z.record(z.string(), z.string().min(1));

/** Reads a column map: `{"question": "prompt.0.content", "reference": "extra_info.answer"}`. @throws UsageError */
export async function readColumnMap(path: string): Promise<ColumnMap> {
  const text = await readTextFile(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`--map: ${path} is not JSON`, EXAMPLE);
  }
  const read = columnMapSchema.safeParse(value);
  if (read.success) return new Map(Object.entries(read.data).map(([field, column]) => [field, column.split('.')]));
  const [problem] = problemsOfIssues(read.error.issues, value);
  throw new UsageError(
    `--map: ${problem === undefined ? 'unusable' : `${pathText(problem.path)}: ${problem.message}`}`,
    EXAMPLE,
  );
}

const EXAMPLE =
  'Expected an object of column names, such as {"question": "prompt.0.content", "response": "completion"}.';

const encoder = new TextEncoder();

/** Writes records as JSON lines. @throws UsageError if a mapped column does not exist. */
export async function* rowLines(records: AsyncIterable<Fields>, map: ColumnMap | null): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const record of records) {
    if (isFirst && map !== null) checkColumns(record, map);
    isFirst = false;
    yield encoder.encode(`${JSON.stringify(fieldsOf(map === null ? record : mapped(record, map)))}\n`);
  }
}

/** Applies a column map to JSON lines. A line that is no JSON object stays as it is: its reader says what is wrong. */
export async function* mappedLines(
  chunks: AsyncIterable<Uint8Array>,
  map: ColumnMap | null,
): AsyncGenerator<Uint8Array> {
  if (map === null) {
    yield* chunks;
    return;
  }
  let isFirst = true;
  for await (const { number, content } of readLines(chunks, MAX_BODY_BYTES)) {
    if (!content.ok) throw new RunError(`line ${number}: ${content.problem === 'not_utf8' ? 'not UTF-8' : 'too long'}`);
    const read = lineFields(content);
    if (isFirst && read.ok) checkColumns(read.value, map);
    if (read.ok) isFirst = false;
    yield encoder.encode(`${read.ok ? JSON.stringify(fieldsOf(mapped(read.value, map))) : content.text}\n`);
  }
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

function mapped(record: Fields, map: ColumnMap): Fields {
  const found = [...map].map(([field, path]) => [field, valueAt(record, path)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined && value !== null));
}

/** Columns may hold the JSON text of a value, which the path goes on into. */
function valueAt(record: Fields, path: readonly string[]): unknown {
  let value: unknown = record;
  for (const name of path) {
    const whole = typeof value === 'string' ? jsonIn(value) : value;
    if (Array.isArray(whole)) value = whole[Number(name)];
    else if (isFields(whole) && Object.hasOwn(whole, name)) value = whole[name];
    else return undefined;
  }
  return value;
}

const LABELS = ['id', 'note'];

/** Fields whose value may be any text. */
const MAYBE_TEXT: ReadonlySet<string> = new Set([
  ...LABELS,
  ...Object.entries(scoreRequestSchema.shape).flatMap(([name, schema]) =>
    schema.safeParse('x').success ? [name] : [],
  ),
]);

/** Those that have no other values, such as an object or a list. Text of other fields is read as JSON where it is JSON. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  ...LABELS,
  // The column of trainers' data sets, for `rubrics convert`: the JSON text itself is kept.
  'ground_truth',
  ...Object.entries(scoreRequestSchema.shape).flatMap(([name, schema]) =>
    MAYBE_TEXT.has(name) && [{}, ['x'], [{}]].every((other) => !schema.safeParse(other).success) ? [name] : [],
  ),
]);

/** Reads the cells of a record as field values. An empty cell is an absent field, but for the response: it may be empty. */
function fieldsOf(record: Fields): Fields {
  return Object.fromEntries(
    Object.entries(record)
      .filter(([name, cell]) => (cell !== '' || name === 'response') && cell !== null)
      .map(([name, cell]) => [name, fieldValue(name, cell)]),
  );
}

function fieldValue(field: string, cell: unknown): unknown {
  // A column of answers may be numeric, and the answer is compared as text.
  if (TEXT_FIELDS.has(field)) return typeof cell === 'number' ? String(cell) : cell;
  if (typeof cell !== 'string') return cell;
  const value = jsonIn(cell);
  // A text that is a number or a constant is a text where one is possible.
  return typeof value === 'object' || !MAYBE_TEXT.has(field) ? value : cell;
}

/** The value of a JSON text; any other text stays as it is. */
function jsonIn(text: string): unknown {
  if (!/^\s*([[{]|-?\d|true\s*$|false\s*$)/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
