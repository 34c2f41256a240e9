/**
 * Validates a batch's input in one pass and cuts it into chunks of limited lines and bytes; a line that exceeds the
 * byte limit becomes a chunk of its own. If any line is invalid, nothing of the batch is scored, as with OpenAI.
 */
import { MAX_BATCH_ERRORS, MAX_BATCH_LINE_BYTES, MAX_BATCH_REQUESTS } from '../../limits.ts';
import type { Result } from '../../result.ts';
import type { BatchEndpoint } from './batch.ts';
import { type ByteLine, isBlankLine } from './byte-lines.ts';
import { type BatchError, readEnvelope } from './request-line.ts';

/** Consecutive lines of the input file that are scored together. */
export type Chunk = {
  /** Number of the first line. */
  readonly first_line: number;
  /** Number of requests, without blank lines. */
  readonly requests: number;
  /** Byte range in the file. */
  readonly start: number;
  readonly end: number;
};

/** `total`: the requests of all chunks. */
type BatchPlan = { readonly chunks: readonly Chunk[]; readonly total: number };

/** The first MAX_BATCH_ERRORS errors of an input, in the order of its lines, and how many it has. */
export type BatchErrors = { readonly errors: readonly BatchError[]; readonly error_count: number };

/** Size of a chunk, which one consumer scores at once. A line above `bytes` is a chunk of its own. */
export type ChunkLimits = {
  /** Requests per chunk at most, by endpoint. */
  readonly requests: Readonly<Record<BatchEndpoint, number>>;
  readonly bytes: number;
};

export const CHUNK_LIMITS: ChunkLimits = {
  requests: {
    '/v1/score': 100,
    '/v1/verify': 100,
    // A group has up to MAX_GROUP samples, so a chunk makes about a thousand judgments at most.
    '/v1/groups': 8,
    // A comparison makes 2 judgments of two answers, and 64 of MAX_COMPARED by default.
    '/v1/compare': 8,
    // If a consumer dies, the whole chunk is generated again.
    '/v1/refine': 4,
    '/v1/rubrics': 16,
  },
  bytes: 4 * 1024 * 1024,
};

export class BatchPlanner {
  readonly #endpoint: BatchEndpoint;
  readonly #limits: ChunkLimits;
  readonly #ids = new Map<string, number>();
  readonly #errors: BatchError[] = [];
  readonly #chunks: Chunk[] = [];
  #errorCount = 0;
  #total = 0;
  #open: Chunk | null = null;

  constructor(endpoint: BatchEndpoint, limits: ChunkLimits = CHUNK_LIMITS) {
    this.#endpoint = endpoint;
    this.#limits = limits;
  }

  add(line: ByteLine): void {
    const { number, bytes } = line;
    if (bytes === null) {
      const message = `This line has more than ${MAX_BATCH_LINE_BYTES} bytes.`;
      this.#refuse({ code: 'line_too_large', message, param: null, line: number });
      return;
    }
    if (isBlankLine(bytes)) return;
    this.#total++;
    if (this.#total === MAX_BATCH_REQUESTS + 1) {
      const message = `The file has more than ${MAX_BATCH_REQUESTS} requests.`;
      this.#refuse({ code: 'too_many_requests', message, param: null, line: number });
    }
    const read = readEnvelope(bytes, number, this.#endpoint);
    if (!read.ok) {
      this.#refuse(read.error);
      return;
    }
    const { custom_id } = read.value;
    const first = this.#ids.get(custom_id);
    if (first !== undefined) {
      const message = `Line ${first} has the same custom_id; give each line its own.`;
      this.#refuse({ code: 'duplicate_custom_id', message, param: 'custom_id', line: number });
      return;
    }
    this.#ids.set(custom_id, number);
    this.#place(line);
  }

  finish(): Result<BatchPlan, BatchErrors> {
    if (this.#total === 0 && this.#errorCount === 0) {
      this.#refuse({ code: 'empty_file', message: 'The file has no requests.', param: null, line: null });
    }
    if (this.#open !== null) this.#chunks.push(this.#open);
    this.#open = null;
    return this.#errorCount > 0
      ? { ok: false, error: { errors: this.#errors, error_count: this.#errorCount } }
      : { ok: true, value: { chunks: this.#chunks, total: this.#total } };
  }

  #refuse(error: BatchError): void {
    this.#errorCount++;
    if (this.#errors.length < MAX_BATCH_ERRORS) this.#errors.push(error);
  }

  #place({ number, start, next }: ByteLine): void {
    const open = this.#open;
    const { requests, bytes } = this.#limits;
    if (open !== null && open.requests < requests[this.#endpoint] && next - open.start <= bytes) {
      this.#open = { ...open, requests: open.requests + 1, end: next };
      return;
    }
    if (open !== null) this.#chunks.push(open);
    this.#open = { first_line: number, requests: 1, start, end: next };
  }
}
