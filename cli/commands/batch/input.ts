/** The input of `batch submit` and `batch run`: its flags, and its errors by line on standard error. */
/** A directory for what a command puts aside while it runs, gone when it ends, also by Ctrl-C. */
/**
 * From an input to a file of envelopes that a batch can be made of: one pass that validates as the Worker will, with the
 * planner that it has too. A regular file of envelopes is used where it stands; rows, and what comes through a pipe, go into
 * a file beside, with every request on the line that it came from. Nothing is sent from here.
 */
/**
 * Lines of a batch's input: either requests in their envelopes, or plain rows as `citeward score` takes them, which are
 * put into envelopes here. The first line that is an object says which of the two a file holds.
 */

import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type * as z from 'zod';
import { MAX_BATCH_ERRORS, MAX_BATCH_LINE_BYTES } from '../../../src/limits.ts';
import { BATCH_ENDPOINTS, type BatchEndpoint } from '../../../src/wire/batches/batch.ts';
import { type ByteLine, isBlank, LineSplitter } from '../../../src/wire/batches/byte-lines.ts';
import { BatchPlanner } from '../../../src/wire/batches/chunk-plan.ts';
import type { BatchError } from '../../../src/wire/batches/request-line.ts';
import { groupRequestSchema } from '../../../src/wire/groups.ts';
import { refineRequestSchema } from '../../../src/wire/refine.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { verifyRequestSchema } from '../../../src/wire/verify.ts';
import { RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import type { Input } from '../../shared/input.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { contentOfLine, type Line } from '../../shared/lines.ts';
import { checkRecipe } from '../../shared/local-flags.ts';
import { countText } from '../../shared/number-text.ts';
import { refineFields, SCORING_ONLY_FIELDS } from '../../shared/row-fields.ts';
import { type LineProblem, lineFields, type RowResult, readRow, withoutFields } from '../../shared/rows.ts';
import {
  applyScoringOptions,
  defaultRecipe,
  firstScoringFlag,
  type ScoringOptions,
  scoringFieldsSet,
} from '../../shared/scoring-flags.ts';
import type { Screen } from '../../shared/screen.ts';
import { badLinesText } from '../../shared/summary.ts';
import { LineFile } from './line-file.ts';

/** @throws UsageError for flags, RunError if lines are bad; they are named by then. */
export async function checkedInput(
  flags: Flags,
  input: Input,
  asked: ScoringOptions,
  directory: string,
  screen: Screen,
): Promise<BatchFile> {
  const endpoint = flags.choice('endpoint', BATCH_ENDPOINTS);
  if (scoringFieldsSet(asked).has('recipe')) await checkRecipe(defaultRecipe(asked));
  const prepared = await prepareBatch({ input, endpoint, asked, directory });
  if (prepared.ok) return prepared.file;
  const { errors, error_count } = prepared;
  for (const error of errors) screen.message(errorText(error), 'red');
  if (error_count > MAX_BATCH_ERRORS) screen.message(`… ${countText(error_count)} in all`, 'red');
  throw new RunError(`${badLinesText(error_count)}: nothing was done`);
}

/** Runs `work` with the path of such a directory. */
export async function withWorkspace<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'citeward-batch-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const stayed = onInterruption(remove);
  try {
    return await work(directory);
  } finally {
    stayed();
    remove();
  }
}

/** A valid input. */
export type BatchFile = {
  /** Where its envelopes stand. */
  readonly path: string;
  /** The name that it is sent under. */
  readonly filename: string;
  readonly endpoint: BatchEndpoint;
  readonly requests: number;
  readonly chunks: number;
  readonly bytes: number;
  /** SHA-256 in hex of the endpoint, the requests and their lines. */
  readonly digest: string;
};

type Prepared =
  | { readonly ok: true; readonly file: BatchFile }
  /** In the order of lines; the first ones only, if there are more. */
  | { readonly ok: false; readonly errors: readonly BatchError[]; readonly error_count: number };

type Preparation = {
  readonly input: Input;
  /** `null` = that of the first line, or scoring. */
  readonly endpoint: BatchEndpoint | null;
  readonly asked: ScoringOptions;
  /** Where a file beside can be put. */
  readonly directory: string;
};

const DEFAULT_ENDPOINT: BatchEndpoint = '/v1/score';

/** Validates the whole input. @throws UsageError for flags that do not fit what it holds. */
export async function prepareBatch(preparation: Preparation): Promise<Prepared> {
  const { input, directory } = preparation;
  const reader = new InputReader(preparation, new LineFile(join(directory, 'requests.jsonl'), 'w'));
  const splitter = new LineSplitter(MAX_BATCH_LINE_BYTES);
  let bytes = 0;
  try {
    for await (const chunk of input.chunks) {
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

/** What stands in for lines that hold no request, some at a time. */
const LINE_FEEDS = new Uint8Array(4_096).fill(0x0a);

const encoder = new TextEncoder();

class InputReader {
  readonly #preparation: Preparation;
  readonly #beside: LineFile;
  readonly #digest = createHash('sha256');
  readonly #errors: BatchError[] = [];
  #errorCount = 0;
  #kind: FileKind | null = null;
  #planner: BatchPlanner | null = null;
  #endpoint: BatchEndpoint = DEFAULT_ENDPOINT;
  #linesBeside = 0;

  constructor(preparation: Preparation, beside: LineFile) {
    this.#preparation = preparation;
    this.#beside = beside;
  }

  async take(line: ByteLine): Promise<void> {
    const { number, bytes } = line;
    if (bytes !== null && isBlank(bytes)) return;
    const content = contentOfLine(bytes, number === 1);
    if (this.#kind === null) {
      const found = kindOfFile(content);
      if (!found.ok) return this.#refuse(number, [found.problem]);
      this.#begin(found.kind);
    }
    if (this.#kind?.kind === 'rows') await this.#takeRow({ number, bytesRead: line.next, content });
    else await this.#takeEnvelope(line);
  }

  #begin(kind: FileKind): void {
    const { endpoint, asked } = this.#preparation;
    const flag = firstScoringFlag(asked);
    if (kind.kind === 'envelopes' && flag !== null) {
      throw new UsageError(
        `${flag}: the file holds whole requests, which say themselves how they are scored`,
        'Leave the flag out, or give plain rows.',
      );
    }
    this.#kind = kind;
    this.#endpoint = endpoint ?? (kind.kind === 'envelopes' ? kind.url : null) ?? DEFAULT_ENDPOINT;
    if (this.#endpoint === '/v1/verify' && flag !== null) throw new UsageError(`${flag}: /v1/verify scores nothing`);
    this.#planner = new BatchPlanner(this.#endpoint);
    this.#digest.update(`${this.#endpoint}\n`);
  }

  async #takeRow(line: Line): Promise<void> {
    const wrapped = wrapRow(line, this.#endpoint, this.#preparation.asked);
    if (!wrapped.ok) return this.#refuse(line.number, wrapped.problems);
    await this.#plan(line.number, encoder.encode(wrapped.text));
  }

  async #takeEnvelope(line: ByteLine): Promise<void> {
    const { bytes } = line;
    if (this.#preparation.input.path === null && bytes !== null) return this.#plan(line.number, bytes);
    if (bytes !== null) this.#note(line.number, bytes);
    this.#planner?.add(line);
  }

  /** Plans a request that goes into the file beside, on the same line as in the input. */
  async #plan(number: number, bytes: Uint8Array): Promise<void> {
    for (let blank = number - 1 - this.#linesBeside; blank > 0; blank -= LINE_FEEDS.byteLength) {
      await this.#beside.write(LINE_FEEDS.subarray(0, blank));
    }
    const start = this.#beside.bytes;
    await this.#beside.write(Buffer.concat([bytes, LINE_FEED]));
    this.#linesBeside = number;
    this.#note(number, bytes);
    this.#planner?.add({ number, start, next: this.#beside.bytes, bytes });
  }

  #note(number: number, bytes: Uint8Array): void {
    this.#digest.update(`${number} `).update(bytes).update(LINE_FEED);
  }

  #refuse(line: number, problems: readonly LineProblem[]): void {
    this.#errorCount++;
    if (this.#errors.length >= MAX_BATCH_ERRORS) return;
    for (const { field, message } of problems) {
      const said = field === null ? message : `${field}: ${message}`;
      this.#errors.push({ code: 'invalid_row', message: said, param: field, line });
    }
  }

  async close(): Promise<void> {
    await this.#beside.close();
  }

  /** @param inputBytes of the input. */
  finish(inputBytes: number): Prepared {
    const plan = (this.#planner ?? new BatchPlanner(this.#endpoint)).finish();
    const ours = this.#errorCount > 0;
    if (!plan.ok || ours) {
      // Where no row was good, an empty plan is no error of its own.
      const planned = plan.ok ? [] : plan.errors.filter(({ code }) => !ours || code !== 'empty_file');
      const count = plan.ok || planned.length === 0 ? 0 : plan.error_count;
      const errors = [...this.#errors, ...planned].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
      return { ok: false, errors: errors.slice(0, MAX_BATCH_ERRORS), error_count: this.#errorCount + count };
    }
    const { input } = this.#preparation;
    const inPlace = this.#kind?.kind === 'envelopes' ? input.path : null;
    const filename = input.path === null ? 'stdin.jsonl' : basename(input.path);
    const file: BatchFile = {
      path: inPlace ?? this.#beside.path,
      filename,
      endpoint: this.#endpoint,
      requests: plan.total,
      chunks: plan.chunks.length,
      bytes: inPlace === null ? this.#beside.bytes : inputBytes,
      digest: this.#digest.digest('hex'),
    };
    return { ok: true, file };
  }
}

type FileKind =
  | { readonly kind: 'rows' }
  /** `url` is that of the line; `null` where it is no endpoint. */
  | { readonly kind: 'envelopes'; readonly url: BatchEndpoint | null };

/** Members that only an envelope has. */
const ENVELOPE_MEMBERS = ['custom_id', 'method', 'url', 'body'] as const;

type KindResult =
  | { readonly ok: true; readonly kind: FileKind }
  /** The line is no object, and so says nothing. */
  | { readonly ok: false; readonly problem: LineProblem };

/** What kind of file a line belongs to. */
export function kindOfFile(content: Line['content']): KindResult {
  const read = lineFields(content);
  if (!read.ok) return read;
  const { fields } = read;
  if (!ENVELOPE_MEMBERS.some((member) => Object.hasOwn(fields, member))) return { ok: true, kind: { kind: 'rows' } };
  const url = BATCH_ENDPOINTS.find((endpoint) => endpoint === fields['url']) ?? null;
  return { ok: true, kind: { kind: 'envelopes', url } };
}

type WrappedRow =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problems: readonly LineProblem[] };

/** The envelope of a row: the flags applied, its id or else its line as custom_id. Labels are not sent. */
export function wrapRow(line: Line, endpoint: BatchEndpoint, asked: ScoringOptions): WrappedRow {
  const read = readFor(line, endpoint, asked);
  if (!read.ok) return { ok: false, problems: read.problems };
  const { labels, request } = read.row;
  const custom_id = labels.id === null ? `line-${line.number}` : String(labels.id);
  return { ok: true, text: JSON.stringify({ custom_id, method: 'POST', url: endpoint, body: request }) };
}

function readFor(line: Line, endpoint: BatchEndpoint, asked: ScoringOptions): RowResult<z.output<z.ZodObject>> {
  switch (endpoint) {
    case '/v1/score':
      return readRow(line, scoreRequestSchema, (fields) => applyScoringOptions(fields, asked));
    case '/v1/groups':
      return readRow(line, groupRequestSchema, (fields) => applyScoringOptions(fields, asked));
    case '/v1/verify':
      return readRow(line, verifyRequestSchema, (fields) => withoutFields(fields, SCORING_ONLY_FIELDS));
    case '/v1/refine':
      return readRow(line, refineRequestSchema, (fields) => refineFields(fields, asked));
  }
}

/** `line 4: custom_id: expected …` */
export function errorText({ line, message }: Pick<BatchError, 'line' | 'message'>): string {
  return line === null ? message : `line ${line}: ${message}`;
}
