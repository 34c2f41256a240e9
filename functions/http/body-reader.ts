/**
 * Reads the body of a request piece by piece, and ends one that stalls: each piece has a time limit, and the whole body
 * a least rate. A caller that announces a body and sends none, or a byte now and then, holds nothing for long.
 */
import { RequestError } from '../../service/failures.ts';
import { MAX_DISCARDED_BYTES } from '../../src/limits.ts';

/**
 * The least that a read waits for, unless the body ends. The platform delivers chunks of 4 KB, and every read leaves
 * garbage of constant size: 100 MB for a file of 200 MB.
 */
export const PIECE_BYTES = 64 * 1024;
/** Time limit of a piece, unless tests set another one. */
export const STALL_MS = 10_000;
/** The least rate of a whole body, after the time limit of its first piece. */
const FLOOR_BYTES_PER_MS = 32;

/** Reads from a body, of which nothing has been read. */
export class BodyReader {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #stallMs: number;
  #bytes = 0;
  #isCancelled = false;
  /** Time spent in reads. What the reader of the body waits for itself, such as a store, does not count. */
  #readMs = 0;

  /** @param stallMs time limit of a piece, STALL_MS outside tests. */
  constructor(body: ReadableStream<Uint8Array>, stallMs: number) {
    this.#reader = body.getReader({ mode: 'byob' });
    this.#stallMs = stallMs;
  }

  /**
   * Reads at least PIECE_BYTES into a view, fills it if it is smaller, or reads the rest of the body; returns an empty
   * view at its end. The buffer is taken: that of the result replaces it, at the end too.
   * @throws RequestError if the body stalls or the connection closes.
   */
  async read(view: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const start = performance.now();
    const leftMs = Math.min(this.#stallMs, this.#stallMs + this.#bytes / FLOOR_BYTES_PER_MS - this.#readMs);
    const reading = this.#reader.readAtLeast(Math.min(PIECE_BYTES, view.byteLength), view);
    try {
      const { value } = await inTime(reading, leftMs);
      if (value === undefined) throw new Error('BodyReader: a read that was not cancelled returned no buffer');
      this.#readMs += performance.now() - start;
      this.#bytes += value.byteLength;
      return value;
    } catch (error) {
      this.#isCancelled = true;
      // Cancelling fails only if the stream has already ended.
      this.#reader.cancel().catch(() => undefined);
      throw error;
    }
  }

  /** Reads the rest and drops it, up to a limit, the end, or a stall, so that the caller receives the reply. */
  async discard(limitBytes = MAX_DISCARDED_BYTES): Promise<void> {
    if (this.#isCancelled) return;
    let buffer = new ArrayBuffer(PIECE_BYTES);
    try {
      for (let bytes = 0; bytes <= limitBytes; ) {
        const piece = await this.read(new Uint8Array(buffer));
        if (piece.byteLength === 0) return;
        bytes += piece.byteLength;
        buffer = piece.buffer;
      }
      await this.#reader.cancel();
    } catch (error) {
      // Who does not send the rest does not wait for the reply.
      if (!(error instanceof RequestError)) throw error;
    }
  }
}

/** Waits for a read of a body. @throws RequestError if it takes too long, or the connection closes. */
export function inTime<T>(reading: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new RequestError({ reason: 'body_too_slow' })), Math.max(0, limitMs));
    const done = (value: T): void => {
      clearTimeout(timer);
      resolve(value);
    };
    reading.then(done, () => {
      clearTimeout(timer);
      // The error of the stream says no more than `body_interrupted`, so it is dropped.
      reject(new RequestError({ reason: 'body_interrupted' }));
    });
  });
}
