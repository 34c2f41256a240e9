/** From the columns of a data set to the fields of a row, also by the columns of known tools. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { scoreRequestSchema } from '../score.ts';
import { cellProblem, cellValue } from './cell-values.ts';
import { lastOf } from './messages.ts';

/** Field to the path of its value in a record: a column, and the members and indexes below it. */
export type ColumnMap = ReadonlyMap<string, readonly string[]>;

/** The columns of the data sets of known tools, by field: the first that a file has is read. */
const PRESETS = {
  ragas: {
    question: ['user_input', 'question', 'input'],
    response: ['response', 'answer', 'output'],
    sources: ['retrieved_contexts', 'contexts', 'context'],
    reference: ['reference', 'ground_truth'],
  },
  trl: {
    question: ['prompt', 'question', 'input'],
    response: ['completion', 'response', 'output'],
    sources: ['sources', 'contexts', 'context'],
    reference: ['ground_truth', 'solution', 'answer', 'reference'],
  },
  verl: {
    question: ['extra_info.question', 'prompt', 'question'],
    response: ['response', 'output', 'completion'],
    sources: ['extra_info.sources', 'sources', 'contexts'],
    reference: ['reward_model.ground_truth', 'ground_truth'],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

/** Names of `--map` for the columns of known tools. */
const MAP_PRESETS = ['ragas', 'trl', 'verl'] as const;

export type MapPreset = (typeof MAP_PRESETS)[number];

export function isPreset(name: string): name is MapPreset {
  return MAP_PRESETS.some((preset) => preset === name);
}

/** All columns that a preset reads. */
export function columnsOfPreset(preset: MapPreset): readonly string[] {
  return [...new Set(Object.values(PRESETS[preset]).flat())];
}

/** The fields whose columns a record of the tool has, each with its column: one that has a value, if there is one. */
function presetColumns(record: JsonObject, preset: MapPreset): (readonly [field: string, column: string])[] {
  return Object.entries(PRESETS[preset]).flatMap(([field, columns]: [string, readonly string[]]) => {
    const found = columns
      .map((column) => ({ column, value: valueAt(record, column.split('.')) }))
      .filter(({ value }) => value !== undefined);
    const first = found.find(({ value }) => value !== null && value !== '') ?? found[0];
    return first === undefined ? [] : [[field, first.column] as const];
  });
}

/** The map of the columns of a tool; `null` if the record has none of them. Columns that are named like fields stay. */
export function presetMap(record: JsonObject, preset: MapPreset): ColumnMap | null {
  const found = presetColumns(record, preset);
  if (found.length === 0) return null;
  const own = Object.keys(record).filter((name) => ROW_FIELDS.has(name) && !found.some(([field]) => field === name));
  return new Map(
    [...found, ...own.map((name) => [name, name] as const)].map(([field, path]) => [field, path.split('.')]),
  );
}

/** The tool of which a record has the most columns, an answer among them; `null` = none. */
function bestPreset(record: JsonObject): MapPreset | null {
  const found = MAP_PRESETS.map((preset) => ({ preset, columns: presetColumns(record, preset) }));
  const [best] = found
    .filter(({ columns }) => columns.some(([field]) => field === 'response'))
    .toSorted((one, other) => other.columns.length - one.columns.length);
  return best?.preset ?? null;
}

/** Fields of which rows of answers have one. */
const ANSWERS = ['response', 'messages', 'cited_answer'];

/** Whether a record has a field of an answer, if only by its name. */
export function hasAnswer(record: JsonObject): boolean {
  return ANSWERS.some((name) => Object.hasOwn(record, name));
}

/** The value of `--map` for a record without an answer by its name; `null` if it has one, or no column is known as one. */
export function proposedMap(record: JsonObject): string | null {
  const preset = hasAnswer(record) ? null : bestPreset(record);
  const map = preset === null ? null : presetMap(record, preset);
  return map === null
    ? null
    : JSON.stringify(Object.fromEntries([...map].map(([field, path]) => [field, path.join('.')])));
}

/**
 * The fields of a record by a column map. A list of chat messages is, as the question, its last message of the user,
 * and as the response, its last one of the assistant.
 */
export function mapped(record: JsonObject, map: ColumnMap): JsonObject {
  const found = [...map].map(([field, path]) => [field, shownText(field, valueAt(record, path))] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined && value !== null));
}

function shownText(field: string, value: unknown): unknown {
  const role = field === 'question' ? 'user' : field === 'response' ? 'assistant' : null;
  return role === null ? value : (lastOf(role, value) ?? value);
}

/** Columns may hold the text of a value, which the path goes on into. */
function valueAt(record: JsonObject, path: readonly string[]): unknown {
  let value: unknown = record;
  for (const name of path) {
    const whole = typeof value === 'string' ? cellValue(value) : value;
    if (Array.isArray(whole)) value = whole[Number(name)];
    else if (isJsonObject(whole) && Object.hasOwn(whole, name)) value = whole[name];
    else return undefined;
  }
  return value;
}

const LABELS = ['id', 'note'];

/** Fields that a row may have. */
export const ROW_FIELDS: ReadonlySet<string> = new Set([...LABELS, ...Object.keys(scoreRequestSchema.shape)]);

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
export function fieldsOf(record: JsonObject): JsonObject {
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
  const value = cellValue(cell);
  // Where a text is possible, one that is a number, a constant, or a list of these is a text.
  const isRecords = Array.isArray(value) ? value.every(isJsonObject) : isJsonObject(value);
  return isRecords || !MAYBE_TEXT.has(field) ? value : cell;
}

/** The fields whose text is a printed list or object that cannot be read exactly, each with the reason. */
export function cellProblems(fields: JsonObject): { readonly field: string; readonly message: string }[] {
  return Object.entries(fields).flatMap(([field, cell]) => {
    if (typeof cell !== 'string' || TEXT_FIELDS.has(field)) return [];
    if (field === 'cited_answer' && PRINTED_OBJECT.test(cell)) return [{ field, message: UNREAD_OBJECT }];
    // A text may begin like a list of texts, but not like one of records.
    const message = MAYBE_TEXT.has(field) && !PRINTED_RECORDS.test(cell) ? null : cellProblem(cell);
    return message === null ? [] : [{ field, message }];
  });
}

const UNREAD_OBJECT = 'a printed object, whose citations are not read: save it as JSON, such as by model_dump_json()';
const PRINTED_OBJECT = /^\s*[A-Z]\w*\(\w+=.*\)\s*$/s;
const PRINTED_RECORDS = /^\s*[[(]\s*(?:\{\s*['"]|[A-Z]\w*\(\w+=)/;

/** Reads the answer of a vendor that a row has as Python prints it; one in JSON text is read where answers are. */
export function withReadAnswer(fields: JsonObject): JsonObject {
  const { cited_answer } = fields;
  return typeof cited_answer === 'string' && /^\s*(?:\[\s*)?\{\s*'/.test(cited_answer)
    ? { ...fields, cited_answer: cellValue(cited_answer) }
    : fields;
}

/**
 * Names the texts of a plain list of sources, or a single text, 1, 2, …, as markers `[1]` cite them. The list may be
 * printed as text; one that cannot be read exactly stays, and is refused where the sources are checked.
 */
export function withSourceTexts(fields: JsonObject): JsonObject {
  const given = fields['sources'];
  if (typeof given === 'string' && cellProblem(given) !== null) return fields;
  const read = typeof given === 'string' ? cellValue(given) : given;
  const sources: unknown = typeof given === 'string' && !Array.isArray(read) ? [given] : read;
  if (!Array.isArray(sources) || sources.length === 0) return fields;
  if (!sources.every((one) => typeof one === 'string')) return { ...fields, sources };
  return { ...fields, sources: sources.map((text, n) => ({ id: String(n + 1), text })) };
}

/** The record of a Parquet row. Each record has all columns of the file; null says that it has no value there. */
export function recordOf(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, jsonOf(value ?? null)]));
}

/**
 * The JSON value of a Parquet value. Members that are null are left out: a Parquet struct has all its members in every
 * row, so null says that the row has none.
 */
function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, jsonOf(member)]));
}
