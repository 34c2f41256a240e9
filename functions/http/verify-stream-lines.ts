/**
 * The lines of a body that is still being sent, one at a time, within the limit of any body. Nothing is read ahead: who
 * asks for no line leaves the rest with the sender.
 */
import { readLines } from '../../src/judgments/jsonl.ts';
import { MAX_BODY_BYTES } from '../../src/limits.ts';
import { RequestError } from '../failures.ts';
import { discardForAWhile, readChunk } from './body.ts';

export class BodyLines {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;
  readonly #lines: AsyncGenerator<string>;
  #bytes = 0;
  #number = 0;

  constructor(request: Request) {
    this.#reader = request.body === null ? null : request.body.getReader();
    this.#lines = this.#read();
  }

  /** Number of the line read last, from 1; blank ones count. */
  get number(): number {
    return this.#number;
  }

  /** The next line that is not blank, `null` at the end. @throws RequestError if it cannot be read. */
  async next(): Promise<string | null> {
    const { done, value } = await this.#lines.next();
    return done === true ? null : value;
  }

  /** Reads what is left without keeping it, for a while, so that a caller who is still sending gets to see the refusal. */
  async discard(): Promise<void> {
    if (this.#reader !== null) await discardForAWhile(this.#reader);
  }

  /** Reads no more; a line that is being waited for is then the end. */
  async cancel(): Promise<void> {
    // What cannot be cancelled is over already.
    await this.#reader?.cancel().catch(() => undefined);
  }

  async *#read(): AsyncGenerator<string> {
    // No line can be longer than the body may be.
    for await (const line of readLines(this.#chunks(), MAX_BODY_BYTES)) {
      this.#number++;
      if (!line.ok) throw new RequestError({ reason: 'body_not_utf8' });
      if (line.text.trim() !== '') yield line.text;
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
      yield chunk;
    }
  }
}
