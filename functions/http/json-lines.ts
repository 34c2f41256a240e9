/** JSON lines over HTTP: reading them from a body that is still being sent, and streaming them into a reply. */

import { invalidInput, RequestError } from '../../service/failures.ts';
import { readLines } from '../../src/judgments/jsonl.ts';
import { MAX_BODY_BYTES } from '../../src/limits.ts';
import type { Lease } from '../leases.ts';
import { discardForAWhile, PassingBody, readChunk, requireType } from './body.ts';
import { BodyReader, PIECE_BYTES } from './body-reader.ts';
import type { Context } from './context.ts';

/** Headers of a reply of JSON lines. */
export const JSON_LINES_HEADERS = { 'content-type': 'application/jsonl' };

/** Lines are sent in chunks of this many UTF-16 code units: a stream read costs more than a line. */
const CHUNK_CHARS = 64 * 1024;

/**
 * The bytes of a body of JSON lines, as they arrive.
 * @param most what the caller holds of the body at a time.
 * @throws RequestError if the body has another content type, is empty or stalls, there is no room, or the connection
 * closes.
 */
export async function* chunksOf(c: Context, most: number): AsyncGenerator<Uint8Array> {
  const { headers, body } = c.req.raw;
  requireType(headers, 'jsonl');
  const empty = (): RequestError => invalidInput([], 'expected JSON lines; the body is empty');
  if (body === null) throw empty();
  const passing = new PassingBody(c, most);
  const reader = new BodyReader(body, c.get('bodyStallMs'));
  for (let isEmpty = true; ; isEmpty = false) {
    const piece = await reader.read(new Uint8Array(PIECE_BYTES));
    if (piece.byteLength === 0 && isEmpty) throw empty();
    if (piece.byteLength === 0) return;
    await passing.add(piece.byteLength);
    yield piece;
  }
}

/** Encodes text as a stream of bytes, produced as the client reads. */
export function streamOf(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}

/** Joins lines into chunks for `streamOf`. */
export async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/**
 * The lines of a body that is still being sent, one at a time, up to the size limit of all bodies. Nothing is read
 * ahead: while no line is requested, backpressure holds the sender. The lease reserves all bytes that have arrived, less
 * what the reader of the lines says that it does not keep.
 */
export class BodyLines {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;
  readonly #lease: Lease;
  readonly #lines: AsyncGenerator<string>;
  #bytes = 0;
  #number = 0;

  constructor(request: Request, lease: Lease) {
    this.#reader = request.body === null ? null : request.body.getReader();
    this.#lease = lease;
    this.#lines = this.#read();
  }

  /** Number of the last line read, from 1; blank lines count. */
  get number(): number {
    return this.#number;
  }

  /** Reads the next non-blank line; returns null at the end. @throws RequestError if it cannot be read. */
  async next(): Promise<string | null> {
    const { done, value } = await this.#lines.next();
    return done === true ? null : value;
  }

  /** Frees the room of what is not kept of a line that was read. @param chars UTF-16 code units. */
  dropped(chars: number): void {
    this.#lease.shrink(chars);
  }

  /** Reads and drops the rest for a limited time, so that a client that is still sending can receive the problem. */
  async discard(): Promise<void> {
    if (this.#reader !== null) await discardForAWhile(this.#reader);
  }

  /** Stops reading. A pending `next` then resolves as if the body had ended. */
  async cancel(): Promise<void> {
    // Cancelling fails only if the stream has already ended.
    await this.#reader?.cancel().catch(() => undefined);
  }

  async *#read(): AsyncGenerator<string> {
    // A line cannot exceed the limit of the whole body.
    for await (const line of readLines(this.#chunks(), MAX_BODY_BYTES)) {
      this.#number++;
      if (!line.ok) throw new RequestError({ reason: 'body_not_utf8' });
      if (line.value.trim() !== '') yield line.value;
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#reader === null ? null : await readChunk(this.#reader);
      if (chunk === null) return;
      this.#bytes += chunk.byteLength;
      if (this.#bytes > MAX_BODY_BYTES) {
        throw new RequestError({ reason: 'body_too_large', limit_bytes: MAX_BODY_BYTES });
      }
      if (!this.#lease.grow(chunk.byteLength)) throw new RequestError({ reason: 'overloaded' });
      yield chunk;
    }
  }
}
