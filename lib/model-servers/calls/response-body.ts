/** Reading what a server sends without trusting it to stop: whole texts and event streams, up to a number of bytes. */
import { createParser } from 'eventsource-parser';
import type { Lifetime } from './lifetime.ts';

/** The connection broke while a body was read. Says nothing more: what it knows are hosts and ports of the inside. */
export class BrokenBodyError extends Error {
  constructor() {
    super('the connection broke while its body was read');
    this.name = 'BrokenBodyError';
  }
}

/**
 * The text of a body, or `null` if it is larger than `maxBytes`. The rest of a larger one is not read.
 * @throws BrokenBodyError
 */
export async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string | null> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const whole = await readChunks(body, (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return 'stop';
    text += decoder.decode(chunk, { stream: true });
    return 'more';
  });
  return whole ? text + decoder.decode() : null;
}

export type EventsEnd = 'stopped' | 'ended' | 'too_large';

/**
 * Hands the data of each server-sent event to `onData` until it says stop, the stream ends or is larger than `maxBytes`.
 * An event that the stream breaks off in is never handed on.
 * @throws BrokenBodyError
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  onData: (data: string) => 'more' | 'stop',
): Promise<EventsEnd> {
  const decoder = new TextDecoder();
  let end: EventsEnd = 'ended';
  let bytes = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (end !== 'stopped' && onData(data) === 'stop') end = 'stopped';
    },
  });
  await readChunks(body, (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) end = 'too_large';
    else parser.feed(decoder.decode(chunk, { stream: true }));
    return end === 'ended' ? 'more' : 'stop';
  });
  return end;
}

/** True if the stream was read to its end; after a stop the rest is cancelled. */
async function readChunks(
  body: ReadableStream<Uint8Array>,
  onChunk: (chunk: Uint8Array) => 'more' | 'stop',
): Promise<boolean> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(breakOff);
    if (done) return true;
    if (onChunk(value) === 'stop') {
      await reader.cancel().catch(breakOff);
      return false;
    }
  }
}

function breakOff(): never {
  throw new BrokenBodyError();
}

/** What a stream may be: beyond it, nobody reads on. */
export type StreamBounds = {
  readonly max_bytes: number;
  /** Of one event, and of what may stand between two. */
  readonly max_event_bytes: number;
};

/** `ended`: the body did, not necessarily the reply. `broken`: the connection. `over`: the lifetime. */
export type StreamEnd = 'ended' | 'broken' | 'too_large' | 'over';

export type Pulled = { readonly data: string; readonly end?: never } | { readonly end: StreamEnd };

export class EventPuller {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #life: Lifetime;
  readonly #bounds: StreamBounds;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ data }) => this.#waiting.push(data) });
  #waiting: string[] = [];
  #at = 0;
  #bytes = 0;
  #bytesSinceEvent = 0;

  constructor(body: ReadableStream<Uint8Array>, life: Lifetime, bounds: StreamBounds) {
    this.#reader = body.getReader();
    this.#life = life;
    this.#bounds = bounds;
    // Also where nobody asks for more: not every sender listens to the signal itself.
    life.signal.addEventListener('abort', () => this.cancel());
  }

  /** The data of the next event, or why there is none. An event that the stream breaks off in is never handed on. */
  async next(): Promise<Pulled> {
    for (;;) {
      if (this.#life.signal.aborted) return { end: 'over' };
      const data = this.#waiting[this.#at];
      if (data !== undefined) {
        this.#at++;
        return { data };
      }
      const end = await this.#read();
      if (end !== null) return { end };
    }
  }

  /** Lets go of the body; the sender sees its connection closed. Does not wait: some bodies never confirm it. */
  cancel(): void {
    this.#reader.cancel().catch(() => undefined);
  }

  async #read(): Promise<StreamEnd | null> {
    const reading = this.#reader.read().then(
      (read) => read,
      // What the error knows are hosts and ports of the inside.
      () => null,
    );
    const waited = await this.#life.during(reading);
    if (waited.ended) return 'over';
    if (waited.value === null) return 'broken';
    if (waited.value.done) return 'ended';
    return this.#feed(waited.value.value);
  }

  #feed(piece: Uint8Array): StreamEnd | null {
    const { max_bytes, max_event_bytes } = this.#bounds;
    this.#bytes += piece.byteLength;
    this.#bytesSinceEvent += piece.byteLength;
    if (this.#bytes > max_bytes || this.#bytesSinceEvent > max_event_bytes) return 'too_large';
    this.#waiting = [];
    this.#at = 0;
    this.#parser.feed(this.#decoder.decode(piece, { stream: true }));
    if (this.#waiting.length > 0) this.#bytesSinceEvent = 0;
    return null;
  }
}
