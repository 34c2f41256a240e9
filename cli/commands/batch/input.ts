/**
 * The input of `batch submit` and `batch run`. One pass validates it as the Worker does. A file of requests is used in
 * place. Plain rows and piped input are copied into a temporary file, each request on the line that it came from.
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, parse } from 'node:path';
import type * as z from 'zod';
import { MAX_BATCH_ERRORS, MAX_BATCH_LINE_BYTES } from '../../../src/limits.ts';
import type { Result } from '../../../src/result.ts';
import { contentOfLine, type Line } from '../../../src/text/lines.ts';
import { BATCH_ENDPOINTS, type BatchEndpoint } from '../../../src/wire/batches/batch.ts';
import { type ByteLine, isBlankLine, LineSplitter } from '../../../src/wire/batches/byte-lines.ts';
import { type BatchErrors, BatchPlanner } from '../../../src/wire/batches/chunk-plan.ts';
import type { BatchError } from '../../../src/wire/batches/request-line.ts';
import { compareRequestSchema } from '../../../src/wire/compare.ts';
import { groupRequestSchema } from '../../../src/wire/groups.ts';
import { makeRubricsRequestSchema } from '../../../src/wire/make-rubrics.ts';
import { refineRequestSchema } from '../../../src/wire/refine.ts';
import { ROW_FAULTS, type RowLine } from '../../../src/wire/rows/row-line.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { verifyRequestSchema } from '../../../src/wire/verify.ts';
import { checkRecipe } from '../../shared/check-recipe.ts';
import { RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import type { Input, RowInput } from '../../shared/input.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { countText } from '../../shared/number-text.ts';
import { comparedFields, refineFields, rubricsFields, verifyFields } from '../../shared/row-fields.ts';
import { type LineProblem, lineFields, type RowResult, readRow } from '../../shared/rows.ts';
import {
  applyScoringOptions,
  firstScoringFlag,
  type ScoringOptions,
  scoringFieldsSet,
} from '../../shared/scoring-flags.ts';
import type { Screen } from '../../shared/screen.ts';
import { badLinesText } from '../../shared/summary.ts';
import { LineFile } from './line-file.ts';

/** Checks the input and prints its errors. @throws UsageError for wrong flags, RunError for invalid lines. */
export async function checkedInput(
  flags: Flags,
  input: Input | RowInput,
  scoring: ScoringOptions,
  directory: string,
  screen: Screen,
): Promise<BatchFile> {
  const endpoint = flags.choice('endpoint', BATCH_ENDPOINTS);
  if (scoringFieldsSet(scoring).has('recipe')) await checkRecipe(scoring);
  const prepared = await prepareBatch({ input, endpoint, scoring, directory });
  if (prepared.ok) return prepared.value;
  const { errors, error_count } = prepared.error;
  for (const error of errors) screen.message(`${input.name}: ${errorText(error, input.unit)}`, 'red');
  if (error_count > MAX_BATCH_ERRORS) screen.message(`… ${countText(error_count)} in all`, 'red');
  throw new RunError(`${badLinesText(error_count, input.unit)}: nothing was done`);
}

/** Runs `work` with a temporary directory that is removed at the end, also after Ctrl-C. */
export async function withWorkspace<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'citeward-batch-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const removeHandler = onInterruption(remove);
  try {
    return await work(directory);
  } finally {
    removeHandler();
    remove();
  }
}

/** A valid input as a file of requests, with its plan. */
export type BatchFile = {
  /** The file that holds the requests in their envelopes. */
  readonly path: string;
  /** The name for the upload. */
  readonly filename: string;
  readonly endpoint: BatchEndpoint;
  readonly requests: number;
  readonly chunks: number;
  readonly bytes: number;
  /** SHA-256 in hex of the endpoint, the requests and their lines. */
  readonly digest: string;
};

type Prepared = Result<BatchFile, BatchErrors>;

type Preparation = {
  readonly input: Input | RowInput;
  /** The endpoint of the flags; `null` = the endpoint of the first line, else `/v1/score`. */
  readonly endpoint: BatchEndpoint | null;
  readonly scoring: ScoringOptions;
  /** Directory of the temporary file. */
  readonly directory: string;
};

const DEFAULT_ENDPOINT: BatchEndpoint = '/v1/score';

/** Validates the whole input. @throws UsageError for flags that do not fit its content. */
export async function prepareBatch(preparation: Preparation): Promise<Prepared> {
  const { input, directory } = preparation;
  const reader = new InputReader(preparation, new LineFile(join(directory, 'requests.jsonl'), 'w'));
  const splitter = new LineSplitter(MAX_BATCH_LINE_BYTES);
  let bytes = 0;
  try {
    if (input.chunks === null) for await (const line of input.lines) await reader.takeConverted(line);
    for await (const chunk of input.chunks ?? []) {
      bytes += chunk.byteLength;
      for (const line of splitter.push(chunk)) await reader.take(line);
    }
    for (const line of splitter.finish()) await reader.take(line);
  } finally {
    await reader.close();
  }
  return reader.finish(bytes);
}

const LINE_FEED = Uint8Array.of(0x0a);

/** Line feeds in place of lines without a request, so that every later request keeps its line number. */
const LINE_FEEDS = new Uint8Array(4_096).fill(0x0a);

const encoder = new TextEncoder();

/** Reads the lines of the input, validates each request and copies it if necessary. */
class InputReader {
  readonly #preparation: Preparation;
  readonly #copy: LineFile;
  readonly #digest = createHash('sha256');
  readonly #errors: BatchError[] = [];
  #errorCount = 0;
  #kind: FileKind | null = null;
  #planner: BatchPlanner | null = null;
  #endpoint: BatchEndpoint = DEFAULT_ENDPOINT;
  #linesCopied = 0;

  constructor(preparation: Preparation, copy: LineFile) {
    this.#preparation = preparation;
    this.#copy = copy;
  }

  async take(line: ByteLine): Promise<void> {
    const { number, bytes } = line;
    if (bytes !== null && isBlankLine(bytes)) return;
    const content = contentOfLine(bytes, number === 1);
    if (this.#kind === null) {
      const found = kindOfFile(content);
      if (!found.ok) return this.#refuse(number, [found.error]);
      this.#begin(found.value);
    }
    if (this.#kind?.kind === 'rows') await this.#takeRow({ number, bytesRead: line.next, content });
    else await this.#takeEnvelope(line);
  }

  /** Takes a row of a file that is not read as bytes. */
  async takeConverted({ number, content }: RowLine): Promise<void> {
    if (!content.ok) return this.#refuse(number, [{ field: null, message: ROW_FAULTS[content.error] }]);
    const bytes = encoder.encode(content.value);
    await this.take({ number, start: 0, next: 0, bytes: bytes.byteLength > MAX_BATCH_LINE_BYTES ? null : bytes });
  }

  #begin(kind: FileKind): void {
    const { endpoint, scoring } = this.#preparation;
    const flag = firstScoringFlag(scoring);
    const rowFlag = flag ?? (scoring.offsets === null ? null : '--offsets');
    if (kind.kind === 'envelopes' && rowFlag !== null) {
      throw new UsageError(
        `${rowFlag}: the file holds complete requests, and the flag applies to plain rows only`,
        'Leave the flag out, or give plain rows.',
      );
    }
    this.#kind = kind;
    this.#endpoint = endpoint ?? (kind.kind === 'envelopes' ? kind.url : null) ?? DEFAULT_ENDPOINT;
    if (this.#endpoint === '/v1/verify' && flag !== null)
      throw new UsageError(`${flag}: the endpoint /v1/verify does not score`);
    if (this.#endpoint === '/v1/compare') refuseOtherThanJudging(scoring);
    this.#planner = new BatchPlanner(this.#endpoint);
    this.#digest.update(`${this.#endpoint}\n`);
  }

  async #takeRow(line: Line): Promise<void> {
    const wrapped = wrapRow(line, this.#endpoint, this.#preparation.scoring);
    if (!wrapped.ok) return this.#refuse(line.number, wrapped.error);
    await this.#plan(line.number, encoder.encode(wrapped.value));
  }

  async #takeEnvelope(line: ByteLine): Promise<void> {
    const { bytes } = line;
    if (this.#preparation.input.path === null && bytes !== null) return this.#plan(line.number, bytes);
    if (bytes !== null) this.#digestLine(line.number, bytes);
    this.#planner?.add(line);
  }

  /** Copies a request into the temporary file, on the same line as in the input, and plans it. */
  async #plan(number: number, bytes: Uint8Array): Promise<void> {
    for (let blank = number - 1 - this.#linesCopied; blank > 0; blank -= LINE_FEEDS.byteLength) {
      await this.#copy.write(LINE_FEEDS.subarray(0, blank));
    }
    const start = this.#copy.bytes;
    await this.#copy.write(Buffer.concat([bytes, LINE_FEED]));
    this.#linesCopied = number;
    this.#digestLine(number, bytes);
    this.#planner?.add({ number, start, next: this.#copy.bytes, bytes });
  }

  #digestLine(number: number, bytes: Uint8Array): void {
    this.#digest.update(`${number} `).update(bytes).update(LINE_FEED);
  }

  #refuse(line: number, problems: readonly LineProblem[]): void {
    this.#errorCount++;
    if (this.#errors.length >= MAX_BATCH_ERRORS) return;
    for (const { field, message } of problems) {
      const text = field === null ? message : `${field}: ${message}`;
      this.#errors.push({ code: 'invalid_row', message: text, param: field, line });
    }
  }

  async close(): Promise<void> {
    await this.#copy.close();
  }

  /** @param inputBytes size of the whole input. */
  finish(inputBytes: number): Prepared {
    const plan = (this.#planner ?? new BatchPlanner(this.#endpoint)).finish();
    const hasBadRows = this.#errorCount > 0;
    if (!plan.ok || hasBadRows) {
      // If all rows are invalid, the plan is empty for that reason.
      const planned = plan.ok ? [] : plan.error.errors.filter(({ code }) => !hasBadRows || code !== 'empty_file');
      const count = plan.ok || planned.length === 0 ? 0 : plan.error.error_count;
      const errors = [...this.#errors, ...planned].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
      const error_count = this.#errorCount + count;
      return { ok: false, error: { errors: errors.slice(0, MAX_BATCH_ERRORS), error_count } };
    }
    const { input } = this.#preparation;
    const inPlace = this.#kind?.kind === 'envelopes' ? input.path : null;
    const filename = filenameOf(input);
    const file: BatchFile = {
      path: inPlace ?? this.#copy.path,
      filename,
      endpoint: this.#endpoint,
      requests: plan.value.total,
      chunks: plan.value.chunks.length,
      bytes: inPlace === null ? this.#copy.bytes : inputBytes,
      digest: this.#digest.digest('hex'),
    };
    return { ok: true, value: file };
  }
}

/** The name for the upload: that of the file, with the ending of what is sent. */
function filenameOf({ name, path, unit }: Pick<Input, 'name' | 'path' | 'unit'>): string {
  if (path !== null) return basename(path);
  return unit === 'row' ? `${parse(name).name}.jsonl` : 'stdin.jsonl';
}

/** A file holds either plain rows or requests in the envelope of the OpenAI Batch API. */
type FileKind =
  | { readonly kind: 'rows' }
  /** `url` is the endpoint that the line names; `null` if it is no endpoint of batches. */
  | { readonly kind: 'envelopes'; readonly url: BatchEndpoint | null };

/** Fields that only an envelope has. */
const ENVELOPE_MEMBERS = ['custom_id', 'method', 'url', 'body'] as const;

/** The kind of the file that begins with this line. */
export function kindOfFile(content: Line['content']): Result<FileKind, LineProblem> {
  const read = lineFields(content);
  if (!read.ok) return read;
  const fields = read.value;
  if (!ENVELOPE_MEMBERS.some((member) => Object.hasOwn(fields, member))) return { ok: true, value: { kind: 'rows' } };
  const url = BATCH_ENDPOINTS.find((endpoint) => endpoint === fields['url']) ?? null;
  return { ok: true, value: { kind: 'envelopes', url } };
}

/**
 * The envelope of a row as JSON, with the flags applied. The custom_id is the id of the row, else `line-N`; labels are
 * not sent.
 */
export function wrapRow(
  line: Line,
  endpoint: BatchEndpoint,
  scoring: ScoringOptions,
): Result<string, readonly LineProblem[]> {
  const read = readRowFor(line, endpoint, scoring);
  if (!read.ok) return { ok: false, error: read.error };
  const { labels, request } = read.value;
  const custom_id = labels.id === null ? `line-${line.number}` : String(labels.id);
  return { ok: true, value: JSON.stringify({ custom_id, method: 'POST', url: endpoint, body: request }) };
}

/** A comparison has no recipe, no panel and no offsets. @throws UsageError */
function refuseOtherThanJudging(scoring: ScoringOptions): void {
  const other = [...scoringFieldsSet(scoring)].find((field) => field !== 'judge' && field !== 'judgments');
  if (other === undefined) return;
  const flag = other === 'recipe' && scoring.recipe === null ? 'set' : other;
  throw new UsageError(`--${flag}: the endpoint /v1/compare takes --judge and --judgments only`);
}

function readRowFor(line: Line, endpoint: BatchEndpoint, scoring: ScoringOptions): RowResult<z.output<z.ZodObject>> {
  switch (endpoint) {
    case '/v1/score':
      return readRow(line, scoreRequestSchema, (fields) => applyScoringOptions(fields, scoring));
    case '/v1/groups':
      return readRow(line, groupRequestSchema, (fields) => applyScoringOptions(fields, scoring));
    case '/v1/compare':
      return readRow(line, compareRequestSchema, (fields) => comparedFields(fields, scoring));
    case '/v1/verify':
      return readRow(line, verifyRequestSchema, (fields) => verifyFields(fields, scoring.offsets));
    case '/v1/refine':
      return readRow(line, refineRequestSchema, (fields) => refineFields(fields, scoring));
    case '/v1/rubrics':
      return readRow(line, makeRubricsRequestSchema, rubricsFields);
  }
}

/** `line 4: custom_id: expected …` */
export function errorText(
  { line, message }: Pick<BatchError, 'line' | 'message'>,
  unit: Input['unit'] = 'line',
): string {
  return line === null ? message : `${unit} ${line}: ${message}`;
}
