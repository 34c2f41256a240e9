/**
 * From the columns of a data set to the fields of a row. A column map names the column of each field; without one the
 * columns are named like the fields.
 */

import * as z from 'zod';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { isJsonObject, parsedJson } from '../../../src/json.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { RunError, UsageError } from '../exit.ts';
import { readTextFile } from '../input.ts';
import { readLines } from '../lines.ts';
import { type Fields, lineFields } from '../rows.ts';
import { didYouMean } from '../suggest.ts';

/** Field to the path of its value in a record: a column, and the members and indexes below it. */
export type ColumnMap = ReadonlyMap<string, readonly string[]>;

const columnMapSchema = z.record(z.string(), z.string().min(1));

/** The columns of the data sets of known tools, by field: the first that a file has is read. */
const PRESETS = {
  ragas: {
    question: ['user_input', 'question', 'input'],
    response: ['response', 'answer', 'output'],
    sources: ['retrieved_contexts', 'contexts', 'context'],
    reference: ['reference', 'ground_truth'],
  },
  trl: {
    question: ['prompt.0.content', 'prompt', 'question', 'input'],
    response: ['completion.0.content', 'completion', 'response', 'output'],
    sources: ['sources', 'contexts', 'context'],
    reference: ['ground_truth', 'solution', 'answer', 'reference'],
  },
  verl: {
    question: ['extra_info.question', 'prompt.0.content', 'question'],
    response: ['response', 'output', 'completion'],
    sources: ['extra_info.sources', 'sources', 'contexts'],
    reference: ['reward_model.ground_truth', 'ground_truth'],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

/** Names of `--map` for the columns of known tools. */
export const MAP_PRESETS = ['ragas', 'trl', 'verl'] as const;

type MapPreset = (typeof MAP_PRESETS)[number];

function isPreset(name: string): name is MapPreset {
  return MAP_PRESETS.some((preset) => preset === name);
}

/** A column map, or the tool whose columns the first record decides. */
export type RowMap = ColumnMap | MapPreset;

/**
 * Reads `--map`: the name of a tool, a file, or the JSON itself, such as
 * `{"question": "prompt.0.content", "reference": "extra_info.answer"}`. @throws UsageError
 */
export async function readColumnMap(path: string): Promise<RowMap> {
  if (isPreset(path)) return path;
  const text = path.startsWith('{') ? path : await readTextFile(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`--map: ${path.startsWith('{') ? 'the text' : path} is not JSON`, EXAMPLE);
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
    if (!content.ok) throw new RunError(`line ${number}: ${content.problem === 'not_utf8' ? 'not UTF-8' : 'too long'}`);
    const read = lineFields(content);
    if (isFirst && read.ok) map = mapOf(read.value, given);
    if (read.ok) isFirst = false;
    yield encoder.encode(`${read.ok ? JSON.stringify(fieldsOf(mapped(read.value, map))) : content.text}\n`);
  }
}

/** The column of each field. @throws UsageError if the record lacks the columns that the map names. */
function mapOf(record: Fields, given: RowMap): ColumnMap {
  if (typeof given === 'string') {
    const found = presetColumns(record, given);
    const read = [...new Set(Object.values(PRESETS[given]).flat())].join(', ');
    if (found.length === 0)
      throw new UsageError(`--map ${given}: the file has none of its columns`, `They are ${read}.`);
    // Columns that are named like fields, such as criteria, stay.
    const own = Object.keys(record).filter((name) => ROW_FIELDS.has(name) && !found.some(([field]) => field === name));
    return new Map(
      [...found, ...own.map((name) => [name, name] as const)].map(([field, path]) => [field, path.split('.')]),
    );
  }
  checkColumns(record, given);
  return given;
}

function presetColumns(record: Fields, preset: MapPreset): (readonly [field: string, column: string])[] {
  return Object.entries(PRESETS[preset]).flatMap(([field, columns]: [string, readonly string[]]) => {
    const column = columns.find((path) => valueAt(record, path.split('.')) !== undefined);
    return column === undefined ? [] : [[field, column] as const];
  });
}

/** @throws UsageError with the `--map` to add, if no column is named like an answer and one is known as its name. */
function proposeMap(record: Fields): void {
  if (ANSWERS.some((name) => Object.hasOwn(record, name))) return;
  const [best] = MAP_PRESETS.map((preset) => presetColumns(record, preset)).toSorted((a, b) => b.length - a.length);
  if (best === undefined || !best.some(([field]) => field === 'response')) return;
  throw new UsageError(
    `the columns ${Object.keys(record).join(', ')} are no answer of a row`,
    `Add --map '${JSON.stringify(Object.fromEntries(best))}'.`,
  );
}

/** Does so for the first line of JSON lines, if `head` holds the whole of it. @throws UsageError */
export function proposeMapOfLine(head: string): void {
  const end = head.indexOf('\n');
  const text = end === -1 ? head : head.slice(0, end);
  const read = lineFields({ ok: true, text });
  if (read.ok) proposeMap(read.value);
}

/** Fields of which rows of answers have one. */
const ANSWERS = ['response', 'messages', 'cited_answer'];

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
    else if (isJsonObject(whole) && Object.hasOwn(whole, name)) value = whole[name];
    else return undefined;
  }
  return value;
}

const LABELS = ['id', 'note'];

/** Fields that a row may have. */
const ROW_FIELDS: ReadonlySet<string> = new Set([...LABELS, ...Object.keys(scoreRequestSchema.shape)]);

/** Fields whose value may be any text. */
const MAYBE_TEXT: ReadonlySet<string> = new Set([
  ...LABELS,
  ...Object.entries(scoreRequestSchema.shape).flatMap(([name, schema]) =>
    schema.safeParse('x').success ? [name] : [],
  ),
]);

/** Those that take no other value, such as an object or a list. Text of other fields is read as JSON if it is JSON. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  ...LABELS,
  // The column of trainers' data sets, for `rubrics convert`: the JSON text itself is kept.
  'ground_truth',
  ...Object.entries(scoreRequestSchema.shape).flatMap(([name, schema]) =>
    MAYBE_TEXT.has(name) && [{}, ['x'], [{}]].every((other) => !schema.safeParse(other).success) ? [name] : [],
  ),
]);

/** What pandas writes for no value, where a text is none. */
const NO_VALUE = /^\s*(?:nan|none|null|<na>)\s*$/i;
/** Names that pandas gives to the column of its index. */
const INDEX_COLUMNS = ['', 'Unnamed: 0'];

/** Reads the cells of a record as field values. An empty cell is an absent field; an empty `response` is empty text. */
function fieldsOf(record: Fields): Fields {
  return Object.fromEntries(
    Object.entries(record)
      .filter(([name, cell]) => (cell !== '' || name === 'response') && cell !== null && !INDEX_COLUMNS.includes(name))
      .filter(([name, cell]) => typeof cell !== 'string' || isText(name) || !NO_VALUE.test(cell))
      .map(([name, cell]) => [name, fieldValue(name, cell)]),
  );
}

function isText(field: string): boolean {
  return TEXT_FIELDS.has(field) || MAYBE_TEXT.has(field);
}

function fieldValue(field: string, cell: unknown): unknown {
  // A column of answers may be numeric, and the answer is compared as text.
  if (TEXT_FIELDS.has(field)) return typeof cell === 'number' ? String(cell) : cell;
  if (typeof cell !== 'string') return cell;
  const json = jsonIn(cell);
  const value = typeof json === 'string' ? (pythonValue(json) ?? json) : json;
  // A text that is a number or a constant is a text where one is possible.
  return typeof value === 'object' || !MAYBE_TEXT.has(field) ? value : cell;
}

/** A word of Python or numpy outside texts: a constant, a number, or what surrounds an array. */
const WORD = /[\w.+-]+[(=]?/y;
const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ...([
    ['None', 'null'],
    ['nan', 'null'],
    ['True', 'true'],
    ['False', 'false'],
  ] as const),
  ...([
    ['array(', ''],
    ['dtype=', ''],
    ['object', ''],
  ] as const),
]);

/**
 * The value of a Python list or dictionary, as pandas and numpy print it into a cell: `['a', "b"]`, `['a' 'b']`,
 * `[{'weight': 1.0, 'note': None}]`, `array(['a'], dtype=object)`; `undefined` = no such value. `\n` and `\t` are a
 * line break and a tab; behind any other backslash the character is read as it is.
 */
function pythonValue(text: string): unknown {
  if (!/^\s*(?:[[{]|array\()/.test(text)) return undefined;
  const pieces: string[] = [];
  const add = (value: string): void => {
    // numpy writes no commas.
    if (!',:[{'.includes(pieces.at(-1) ?? ',')) pieces.push(',');
    pieces.push(value);
  };
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (' \n\r\t)'.includes(character)) continue;
    if (character === "'" || character === '"') {
      const quoted: string[] = [];
      for (at++; at < text.length && text.charAt(at) !== character; at++) {
        quoted.push(text.charAt(at) === '\\' ? unescaped(text.charAt(++at)) : text.charAt(at));
      }
      add(JSON.stringify(quoted.join('')));
    } else if ('[{'.includes(character)) add(character);
    else if (character === ',' ? !isTrailing(text, at) : ':]}'.includes(character)) {
      pieces.push(character);
    } else if (character !== ',') {
      WORD.lastIndex = at;
      const word = WORD.exec(text)?.[0];
      if (word === undefined) return undefined;
      const value = CONSTANTS.get(word) ?? word;
      if (value !== '') add(value);
      at += word.length - 1;
    }
  }
  return parsedJson(pieces.join(''));
}

/** Whether no value follows a comma. */
function isTrailing(text: string, at: number): boolean {
  TRAILING.lastIndex = at;
  return TRAILING.test(text);
}

const TRAILING = /,\s*(?:dtype|[\]}])/y;

function unescaped(character: string): string {
  return character === 'n' ? '\n' : character === 't' ? '\t' : character;
}

/** The value of a JSON text; any other text stays as it is. */
function jsonIn(text: string): unknown {
  if (!/^\s*([[{]|-?\d|true\s*$|false\s*$)/.test(text)) return text;
  return parsedJson(text) ?? text;
}
