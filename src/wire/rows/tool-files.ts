/**
 * From the files of known tools to rows: a sample of an inspect log, a result of promptfoo, a completion that TRL kept,
 * a row of ragas, a line of a batch. The first record with columns that only one tool has tells the tool of the file;
 * each record is read by its own columns. What holds no answers is refused by name.
 */
import { textIn } from '../../citations/formats/json.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { Result } from '../../result.ts';
import { fieldsOf, hasAnswer, type MapPreset, mapped, presetMap, proposedMap, ROW_FIELDS } from './columns.ts';
import { contentOf, lastOf, messagesOf } from './messages.ts';
import { type Unreadable, unreadable } from './unreadable-files.ts';

/** The results of a batch of Citeward: scores, whose answers are in the input of the batch. */
export type BatchResults = { readonly kind: 'batch_results' };

/** A tool whose files are read. */
type Tool = {
  /** As a person knows its files: `a TRL completions file`. */
  readonly name: string;
  /** Whether a record has columns that only this tool writes. */
  readonly wrote: (record: JsonObject) => boolean;
  /** The rows of a record: none if it has no answer, several for a group. */
  readonly rowsOf: (record: JsonObject) => readonly JsonObject[];
};

/** Reads the records of one file, in their order, as rows. */
export class RowReader {
  #tool: Tool | null;
  readonly #areCells: boolean;
  #leftOut = 0;
  /** Whether a record has told whose rows the file holds. */
  #isTold: boolean;

  /**
   * @param tool of a whole JSON document; `null` = the records tell it.
   * @param areCells whether values are cells of a table, in which an empty one is an absent field and lists are texts.
   */
  constructor({ tool, areCells }: { readonly tool: Tool | null; readonly areCells: boolean }) {
    this.#tool = tool;
    this.#isTold = tool !== null;
    this.#areCells = areCells;
  }

  /** Such as `promptfoo results`; `null` = so far the records are rows of Citeward. */
  get tool(): string | null {
    return this.#tool?.name ?? null;
  }

  /** Records of the tool without an answer so far. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** The rows of the next record. An error concerns the whole file. */
  read(record: JsonObject): Result<readonly JsonObject[], Unreadable | BatchResults> {
    if (!this.#isTold) {
      const refusal = refusalOf(record);
      if (refusal !== null) return { ok: false, error: refusal };
      this.#tool = TOOLS.find(({ wrote }) => wrote(record)) ?? null;
      this.#isTold = this.#tool !== null || hasAnswer(record);
      const map = this.#isTold ? null : proposedMap(record);
      if (map !== null) {
        const columns = Object.keys(record).join(', ');
        const problem = `has the columns ${columns}, of which none is an answer by its name`;
        return { ok: false, error: unreadable(problem, `Name the columns: npx citeward view FILE --map '${map}'`) };
      }
    }
    if (this.#tool === null) return { ok: true, value: [this.#areCells ? fieldsOf(record) : record] };
    const rows = this.#tool.rowsOf(record);
    if (rows.length === 0) this.#leftOut++;
    return { ok: true, value: rows };
  }
}

/** Why a file with this record among its first ones has no answers; `null` = it may have some. */
function refusalOf(record: JsonObject): Unreadable | BatchResults | null {
  if (isBatchResult(record)) return { kind: 'batch_results' };
  if (isModelBatchResult(record)) {
    return unreadable(
      'is the output of a batch of a model server',
      'Make rows of its answers: question, response, sources.',
    );
  }
  if (hasAll(record, 'Grader Reason', 'Comment')) {
    return unreadable(
      'is a table that promptfoo exported: texts are changed for spreadsheets, and prompts are missing',
      'Export JSON: promptfoo export eval EVAL_ID -o results.json.',
    );
  }
  if (!isScore(record)) return null;
  return unreadable('holds scores, not answers', 'View the rows that were scored: npx citeward view ROWS.jsonl');
}

export type DocumentRecords = {
  readonly kind: 'records';
  readonly tool: Tool;
  /** One that is no JSON object is no record. */
  readonly records: readonly unknown[];
};

/** The records of a whole JSON document: the samples of an inspect log, or the results of promptfoo. */
export function recordsOfDocument(document: JsonObject): DocumentRecords | Unreadable {
  const { samples, results, eval: evaluation } = document;
  if (isJsonObject(evaluation) && 'status' in document) {
    if (Array.isArray(samples) && samples.length > 0) return { kind: 'records', tool: INSPECT, records: samples };
    return unreadable('is an inspect log without samples', 'Run inspect without --no-log-samples.');
  }
  const found = isJsonObject(results) ? results['results'] : results;
  if (Array.isArray(found) && found.length > 0) return { kind: 'records', tool: PROMPTFOO, records: found };
  return unreadable(
    'is a JSON document without samples or results',
    'Give the results of promptfoo, or an inspect log.',
  );
}

/** Whether a JSON document with this beginning is the file of a tool, so that it is read as one value. */
export function isToolDocument(head: string): boolean {
  return /^\uFEFF?\s*\{\s*"(?:version"\s*:\s*\d+\s*,\s*"(?:status|results)"|evalId")/u.test(head);
}

// Batches of Citeward.

/** Whether a record is a line of the results of a batch of Citeward. */
export function isBatchResult(record: JsonObject): boolean {
  return isBatchLine(record) && !isModelBatchResult(record);
}

function isBatchLine({ custom_id, response, error }: JsonObject): boolean {
  return custom_id !== undefined && response !== undefined && error !== undefined;
}

/** Whether a record is a line of the output of a batch of OpenAI, or of a server with its API. */
export function isModelBatchResult(record: JsonObject): boolean {
  const { response } = record;
  const body = isBatchLine(record) && isJsonObject(response) ? response['body'] : null;
  if (!isJsonObject(body)) return false;
  // Citeward's bodies are replies of its routes, or problems (RFC 9457), which have none of these.
  return typeof body['object'] === 'string' || Array.isArray(body['choices']) || isJsonObject(body['error']);
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

function isPromptfooResult({ vars, prompt, provider, messages }: JsonObject): boolean {
  return isJsonObject(vars) && isJsonObject(prompt) && provider !== undefined && !messages;
}

function promptfooRows({ vars, prompt, response, score, provider, testIdx }: JsonObject): readonly JsonObject[] {
  const { output } = isJsonObject(response) ? response : {};
  if (output === undefined || output === null) return [];
  const given = isJsonObject(vars) ? vars : {};
  const raw = isJsonObject(prompt) ? prompt['raw'] : undefined;
  const model = isJsonObject(provider) ? provider['label'] || provider['id'] : provider;
  return [
    {
      ...withCriteria(withSources(given)),
      question: textIn(given['question'] ?? given['query'] ?? raw) ?? '',
      response: textIn(output) ?? JSON.stringify(output),
      ...(testIdx === undefined ? {} : { id: `test ${String(testIdx)}` }),
      note: `${String(model)}${typeof score === 'number' ? `, promptfoo score ${score}` : ''}`,
    },
  ];
}

/** promptfoo makes one test of each member of a list, so that a variable holds the text of one criterion. */
function withCriteria(fields: JsonObject): JsonObject {
  const listed = ['positive_rubrics', 'negative_rubrics'].flatMap((name) => {
    const given = fields[name];
    return typeof given === 'string' && given !== '' ? [[name, [given]]] : [];
  });
  return { ...fields, ...Object.fromEntries(listed) };
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
  const response = textIn(output['completion']) ?? (isJsonObject(choice) ? contentOf(choice['message']) : null);
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
      question: textIn(given['question']) ?? textIn(input) ?? lastOf('user', input) ?? '',
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
  const { step, prompt: givenPrompt, completion: givenCompletion, ...others } = record;
  const [prompt, completion] = [messagesOf(givenPrompt), messagesOf(givenCompletion)];
  const question = textIn(prompt) ?? lastOf('user', prompt);
  const response = textIn(completion) ?? lastOf('assistant', completion);
  if (question === null || response === null) return [];
  const fields = withSources(others);
  const found = toolTexts(
    [prompt, completion].flatMap((part): readonly unknown[] => (Array.isArray(part) ? part : [])),
  );
  const hasSources = fields['tool_output'] !== undefined || fields['sources'] !== undefined;
  const sources = found !== '' ? found : allText(prompt);
  // A reward that TRL could not compute is NaN; those of a CSV file are texts.
  const rewards = Object.entries(others).flatMap(([name, value]) => {
    const reward = numberOf(value);
    return reward === null || ROW_FIELDS.has(name) ? [] : [`${name} ${reward}`];
  });
  const at = numberOf(step);
  return [
    {
      ...(hasSources || !HAS_SOURCES.test(sources) ? {} : { tool_output: sources }),
      ...fields,
      question,
      response,
      ...(rewards.length === 0 ? {} : { note: rewards.join(', ') }),
      ...(at === null ? {} : { run: { step: at } }),
    },
  ];
}

/** A finite number, or the one that a text is. */
function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** A source as an answer can cite it. */
const HAS_SOURCES = /<(?:snippet|webpage|document|source)\s+id=/u;

// Data sets, by the columns of `--map` of the same name.

function dataSet(preset: MapPreset, name: string, wrote: Tool['wrote']): Tool {
  const rowsOf = (record: JsonObject): readonly JsonObject[] => {
    const map = presetMap(record, preset);
    const row = map === null ? {} : fieldsOf(mapped(record, map));
    return hasAnswer(row) ? [row] : [];
  };
  return { name, wrote, rowsOf };
}

function hasAll(record: JsonObject, ...columns: readonly string[]): boolean {
  return columns.every((column) => Object.hasOwn(record, column));
}

/**
 * ragas names its columns `user_input` and `retrieved_contexts` since 0.2. Before, the answer of the model was `answer`;
 * in other data sets that is the reference, so it is taken for the model's only beside `ground_truth`.
 */
function isRagasRow(record: JsonObject): boolean {
  if (hasAll(record, 'user_input') || hasAll(record, 'retrieved_contexts')) return true;
  return hasAll(record, 'question', 'answer', 'contexts', 'ground_truth') && !hasAnswer(record);
}

function isTrlRow(record: JsonObject): boolean {
  return hasAll(record, 'prompt', 'completion') && !hasAnswer(record);
}

function isVerlRow(record: JsonObject): boolean {
  return hasAll(record, 'reward_model') && VERL_ANSWERS.some((column) => hasAll(record, column));
}

const VERL_ANSWERS = ['response', 'output', 'completion'];

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

const PROMPTFOO: Tool = { name: 'promptfoo results', wrote: isPromptfooResult, rowsOf: promptfooRows };
const INSPECT: Tool = { name: 'inspect samples', wrote: isInspectSample, rowsOf: inspectRows };

/** In the order in which they are asked. */
const TOOLS: readonly Tool[] = [
  { name: 'a batch input', wrote: isBatchRequest, rowsOf: batchRows },
  PROMPTFOO,
  INSPECT,
  { name: 'a TRL completions file', wrote: isTrlCompletion, rowsOf: trlRows },
  dataSet('ragas', 'a ragas data set', isRagasRow),
  dataSet('verl', 'a verl data set', isVerlRow),
  dataSet('trl', 'a TRL data set', isTrlRow),
];
