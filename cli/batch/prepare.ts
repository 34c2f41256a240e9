/**
 * From an input to a file of envelopes that a batch can be made of: one pass that validates as the Worker will, with the
 * planner that it has too. A regular file of envelopes is used where it stands; rows, and what comes through a pipe, go into
 * a file beside, with every request on the line that it came from. Nothing is sent from here.
 */
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { MAX_BATCH_ERRORS, MAX_BATCH_LINE_BYTES } from '../../src/limits.ts';
import type { BatchEndpoint } from '../../src/wire/batches/batch.ts';
import { type ByteLine, isBlank, LineSplitter } from '../../src/wire/batches/byte-lines.ts';
import { BatchPlanner } from '../../src/wire/batches/chunk-plan.ts';
import type { BatchError } from '../../src/wire/batches/request-line.ts';
import { UsageError } from '../command.ts';
import { contentOfLine, type Line } from '../input/lines.ts';
import type { Input } from '../input/open-input.ts';
import type { LineProblem } from '../input/rows.ts';
import { type Asked, firstFlagAsked } from '../score/asked.ts';
import { LineFile } from './line-file.ts';
import { type FileKind, kindOf, wrapRow } from './rows.ts';

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

export type Prepared =
  | { readonly ok: true; readonly file: BatchFile }
  /** In the order of lines; the first ones only, if there are more. */
  | { readonly ok: false; readonly errors: readonly BatchError[]; readonly error_count: number };

export type Preparation = {
  readonly input: Input;
  /** `null` = that of the first line, or scoring. */
  readonly endpoint: BatchEndpoint | null;
  readonly asked: Asked;
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
      const found = kindOf(content);
      if (!found.ok) return this.#refuse(number, [found.problem]);
      this.#begin(found.kind);
    }
    if (this.#kind?.kind === 'rows') await this.#takeRow({ number, bytesRead: line.next, content });
    else await this.#takeEnvelope(line);
  }

  #begin(kind: FileKind): void {
    const { endpoint, asked } = this.#preparation;
    const flag = firstFlagAsked(asked);
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
