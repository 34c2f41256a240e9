/**
 * From the files of known tools to rows: a sample of an inspect log, a result of promptfoo, a completion that TRL kept,
 * a row of ragas, a line of a batch. A file is recognised by its first record; what holds no answers is refused by name.
 */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { bestPreset, fieldsOf, mapped, presetMap, ROW_FIELDS } from './columns.ts';
import { contentOf, lastOf, messagesOf, textOf } from './messages.ts';

/** What the records of a file are. */
export type RecordReading =
  | {
      readonly kind: 'rows';
      /** As a person knows it: `a TRL completions file`; `null` = the records are rows of Citeward. */
      readonly tool: string | null;
      /** The rows of a record: none if it has no answer, several for a group. */
      readonly rowsOf: (record: JsonObject) => readonly JsonObject[];
    }
  /** The results of a batch of Citeward: scores, whose answers are in the input of the batch. */
  | { readonly kind: 'batch_results' }
  | Unreadable;

/** A file that holds no answers. */
export type Unreadable = { readonly kind: 'unreadable'; readonly problem: string; readonly hint: string };

/** Says how to read the records of a file. @param first its first record. */
export function readingOf(first: JsonObject): RecordReading {
  if (isBatchResult(first)) return { kind: 'batch_results' };
  if (isBatchRequest(first)) return { kind: 'rows', tool: 'a batch input', rowsOf: batchRows };
  if (isPromptfooResult(first)) return { kind: 'rows', tool: 'promptfoo results', rowsOf: promptfooRows };
  if (isInspectSample(first)) return { kind: 'rows', tool: 'inspect samples', rowsOf: inspectRows };
  if (isTrlCompletion(first)) return { kind: 'rows', tool: 'a TRL completions file', rowsOf: trlRows };
  if (isScore(first))
    return unreadable('holds scores, not answers', 'View the rows that were scored: npx citeward view ROWS.jsonl');
  const isOfRagas = first['user_input'] !== undefined || first['retrieved_contexts'] !== undefined;
  if (isOfRagas || !hasAnswer(first)) {
    const preset = isOfRagas ? 'ragas' : bestPreset(first);
    if (preset !== null) {
      const map = presetMap(first, preset);
      const tool = preset === 'ragas' ? 'a ragas data set' : `a ${preset} data set`;
      if (map !== null) return { kind: 'rows', tool, rowsOf: (record) => [fieldsOf(mapped(record, map))] };
    }
  }
  return { kind: 'rows', tool: null, rowsOf: (record) => [record] };
}

function unreadable(problem: string, hint: string): Unreadable {
  return { kind: 'unreadable', problem, hint };
}

/**
 * The records of a whole JSON document: the samples of an inspect log, the results of promptfoo; `null` = it is of no
 * known tool.
 */
export function recordsOfDocument(document: JsonObject): readonly JsonObject[] | Unreadable | null {
  const { samples, results, eval: evaluation } = document;
  if (isJsonObject(evaluation) && 'status' in document) {
    if (Array.isArray(samples) && samples.length > 0) return samples.filter(isJsonObject);
    return unreadable('is an inspect log without samples', 'Run inspect without --no-log-samples.');
  }
  if (isJsonObject(results) && Array.isArray(results['results'])) return results['results'].filter(isJsonObject);
  return null;
}

/** Whether a JSON document with this beginning is the file of a tool, so that it is read as one value. */
export function isToolDocument(head: string): boolean {
  return /^\uFEFF?\s*\{\s*"(?:version"\s*:\s*\d+\s*,\s*"status"|evalId")/u.test(head);
}

function hasAnswer(record: JsonObject): boolean {
  return ['response', 'messages', 'cited_answer'].some((name) => Object.hasOwn(record, name));
}

// Batches of Citeward.

/** Whether a record is a line of the results of a batch. */
export function isBatchResult({ custom_id, response, error }: JsonObject): boolean {
  return custom_id !== undefined && response !== undefined && error !== undefined;
}

function isBatchRequest({ custom_id, body, url }: JsonObject): boolean {
  return custom_id !== undefined && isJsonObject(body) && typeof url === 'string';
}

function batchRows({ custom_id, body }: JsonObject): readonly JsonObject[] {
  if (!isJsonObject(body)) return [];
  const { responses, ...shared } = body;
  if (!Array.isArray(responses)) return [{ id: custom_id, ...body }];
  return responses.map((response: unknown, sample) => ({
    ...shared,
    id: `${String(custom_id)}/${sample}`,
    ...(isJsonObject(response) ? response : { response }),
    run: { group: String(custom_id), sample },
  }));
}

/** A line of `score --json`. */
function isScore({ reward, family, claims, response }: JsonObject): boolean {
  return reward !== undefined && response === undefined && (family !== undefined || claims !== undefined);
}

// promptfoo: `promptfoo eval -o results.json`, or results.jsonl with one of the results on each line.

function isPromptfooResult({ vars, prompt, provider, response, messages }: JsonObject): boolean {
  return isJsonObject(vars) && isJsonObject(prompt) && provider !== undefined && response !== null && !messages;
}

function promptfooRows({ vars, prompt, response, score, provider, testIdx }: JsonObject): readonly JsonObject[] {
  const { output } = isJsonObject(response) ? response : {};
  if (output === undefined || output === null) return [];
  const given = isJsonObject(vars) ? vars : {};
  const raw = isJsonObject(prompt) ? prompt['raw'] : undefined;
  const model = isJsonObject(provider) ? provider['label'] || provider['id'] : provider;
  return [
    {
      ...withSources(given),
      question: textOf(given['question'] ?? given['query'] ?? raw) ?? '',
      response: textOf(output) ?? JSON.stringify(output),
      ...(testIdx === undefined ? {} : { id: `test ${String(testIdx)}` }),
      note: `${String(model)}${typeof score === 'number' ? `, promptfoo score ${score}` : ''}`,
    },
  ];
}

// inspect: the samples of a log, one file each in an archive (.eval), a list in a JSON log.

function isInspectSample({ input, messages, output, epoch }: JsonObject): boolean {
  return input !== undefined && Array.isArray(messages) && isJsonObject(output) && epoch !== undefined;
}

/** The row's fields are where the scorer of Citeward reads them: in the metadata, or in their entry `citeward`. */
function inspectRows(sample: JsonObject): readonly JsonObject[] {
  const { id, epoch, input, target, output, metadata, messages, scores } = sample;
  if (!isJsonObject(output) || !Array.isArray(output['choices'])) return [];
  const [choice]: readonly unknown[] = output['choices'];
  const response = textOf(output['completion']) ?? (isJsonObject(choice) ? contentOf(choice['message']) : null);
  if (response === null || response === '') return [];
  const own = isJsonObject(metadata) ? metadata : {};
  const given = withSources(isJsonObject(own['citeward']) ? own['citeward'] : own);
  const found = toolTexts(Array.isArray(messages) ? messages : []);
  const hasSources = given['tool_output'] !== undefined || given['sources'] !== undefined;
  return [
    {
      ...(hasSources || found === '' ? {} : { tool_output: found }),
      ...(typeof target === 'string' && target !== '' ? { reference: target } : {}),
      ...given,
      question: textOf(given['question']) ?? textOf(input) ?? lastOf('user', input) ?? '',
      response,
      id: `${String(id)}, epoch ${String(epoch)}`,
      ...(isJsonObject(scores) ? { note: scoresText(scores) } : {}),
      run: { group: String(id), sample: typeof epoch === 'number' ? epoch : 0 },
    },
  ];
}

function scoresText(scores: JsonObject): string {
  const parts = Object.entries(scores).map(([name, score]) => {
    const value = isJsonObject(score) ? score['value'] : null;
    return `${name} ${typeof value === 'number' || typeof value === 'string' ? value : 'not scored'}`;
  });
  return parts.join(', ');
}

// TRL: output_dir/completions/completions_00010.parquet of log_completions=True.

function isTrlCompletion({ step, prompt, completion }: JsonObject): boolean {
  return step !== undefined && prompt !== undefined && completion !== undefined;
}

function trlRows(record: JsonObject): readonly JsonObject[] {
  const { step, prompt: givenPrompt, completion: givenCompletion, advantage, ...others } = record;
  const [prompt, completion] = [messagesOf(givenPrompt), messagesOf(givenCompletion)];
  const question = textOf(prompt) ?? lastOf('user', prompt);
  const response = textOf(completion) ?? lastOf('assistant', completion);
  if (question === null || response === null) return [];
  const fields = withSources(others);
  const found = toolTexts(
    [prompt, completion].flatMap((part): readonly unknown[] => (Array.isArray(part) ? part : [])),
  );
  const hasSources = fields['tool_output'] !== undefined || fields['sources'] !== undefined;
  const sources = found !== '' ? found : allText(prompt);
  const rewards = Object.entries(others).flatMap(([name, value]) =>
    typeof value === 'number' && !ROW_FIELDS.has(name) ? [`${name} ${value}`] : [],
  );
  return [
    {
      ...(hasSources || !HAS_SOURCES.test(sources) ? {} : { tool_output: sources }),
      ...fields,
      question,
      response,
      note: [...rewards, `advantage ${String(advantage)}`].join(', '),
      run: { step: Number(step) },
    },
  ];
}

/** A source as an answer can cite it. */
const HAS_SOURCES = /<(?:snippet|webpage|document|source)\s+id=/u;

// What the tools have in common.

/** The fields of a row among others, with the names that retrieval tools give to sources. */
function withSources(record: JsonObject): JsonObject {
  const known = Object.entries(record).filter(([name]) => ROW_FIELDS.has(name) && name !== 'run' && name !== 'id');
  const sources = record['sources'] ?? record['contexts'] ?? record['retrieved_contexts'] ?? record['context'];
  const fields = Object.fromEntries(known);
  if (sources === undefined || fields['tool_output'] !== undefined) return fieldsOf(fields);
  return fieldsOf({ ...fields, sources });
}

function toolTexts(messages: readonly unknown[]): string {
  return messages
    .filter((message) => isJsonObject(message) && message['role'] === 'tool')
    .map((message) => contentOf(message) ?? '')
    .join('\n');
}

function allText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map((message: unknown) => contentOf(message) ?? '').join('\n') : '';
}

/**
 * What a file is whose first bytes no reader of rows takes, and what to do; `null` = it may be text with rows, Parquet
 * or an archive. @param head as text, decoded by its byte order mark, else as UTF-8.
 */
export function unreadableBytes(head: string): Unreadable | null {
  if (KNOWN_BINARY.test(head)) return null;
  const known = FORMATS.find(({ start }) => start.test(head));
  if (known !== undefined) return unreadable(known.problem, known.hint);
  return head.slice(0, BINARY_CHARS).includes('\0')
    ? unreadable('is binary data of no known kind', 'Give JSON, CSV or Parquet.')
    : null;
}

/** The encoding that a byte order mark of UTF-16 names; `null` = none. @param head the first four bytes or more. */
export function utf16Of(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  // Two null bytes more are the mark of UTF-32.
  if (head[0] === 0xff && head[1] === 0xfe) return head[2] === 0 && head[3] === 0 ? null : 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null;
}

/** A null character among these first ones means binary data. */
const BINARY_CHARS = 200;
/** Parquet, and an archive. */
const KNOWN_BINARY = /^(?:PAR1|PK)/u;

const AS_TABLE = 'Save the rows with to_parquet or to_json(orient="records", lines=True).';
const PACKED = 'Unpack it, or pack it with gzip.';

/** U+FFFD is a byte that is no UTF-8. */
const FORMATS: readonly { readonly start: RegExp; readonly problem: string; readonly hint: string }[] = [
  {
    start: /^\s*<(?:!doctype|html|\?xml|table)/iu,
    problem: 'is a page, not data',
    hint: 'Save the data as JSON or CSV.',
  },
  { start: /^(?:ARROW1|\uFFFD{4}.\0\0\0)/su, problem: 'is an Arrow file', hint: AS_TABLE },
  { start: /^\uFFFD\p{Cc}/u, problem: 'is a pickle', hint: AS_TABLE },
  { start: /^\uFFFDHDF/u, problem: 'is an HDF5 file', hint: AS_TABLE },
  { start: /^SQLite format 3/u, problem: 'is a database', hint: 'Export the rows as JSON or CSV.' },
  { start: /^%PDF/u, problem: 'is a PDF', hint: 'Give the file of its data.' },
  {
    start: /^(?:BZh\d|\uFFFD7zXZ|\(\uFFFD\/\uFFFD|7z\uFFFD\uFFFD)/u,
    problem: 'is packed with another program than gzip',
    hint: PACKED,
  },
  { start: /^\uFFFD\uFFFD\0\0/u, problem: 'is UTF-32', hint: 'Save it as UTF-8.' },
  {
    start: /^(?:[^\0]\0){4}|^(?:\0[^\0]){4}/u,
    problem: 'is UTF-16 without a byte order mark',
    hint: 'Save it as UTF-8.',
  },
  {
    start: /^(?:---\s*\n|(?:version|evalId|results):[ \t]*(?:\n|\S))/u,
    problem: 'is YAML',
    hint: 'Save it as JSON: promptfoo eval -o results.json.',
  },
  {
    start: /^\s*\{\s*(?:"[^"\\]*"\s*:\s*\{\s*"0"\s*:|"columns"\s*:\s*\[)/u,
    problem: 'is a table by columns, not rows',
    hint: 'Save it with to_json(orient="records", lines=True).',
  },
];
