/** Reads bodies of untrusted size up to a limit: whole texts and event streams. */
import { createParser } from 'eventsource-parser';
import type { Lifetime } from './lifetime.ts';

/** The connection failed while a body was read. It carries no cause, because causes name internal hosts and ports. */
export class BrokenBodyError extends Error {
  constructor() {
    super('the connection failed while the body was read');
    this.name = 'BrokenBodyError';
  }
}

/**
 * Reads the text of a body. Returns `null` if it has more than `maxBytes` bytes; the rest is then not read.
 * @param heard is called for each piece that arrives.
 * @throws BrokenBodyError
 */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  heard: () => void = () => undefined,
): Promise<string | null> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const whole = await readChunks(body, (chunk) => {
    heard();
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return 'stop';
    text += decoder.decode(chunk, { stream: true });
    return 'more';
  });
  return whole ? text + decoder.decode() : null;
}

type EventsEnd = 'complete' | 'stopped' | 'ended' | 'too_large';

/** How long the end of a body may take after its last event, in milliseconds. */
const END_OF_BODY_MS = 100;

/**
 * Calls `onData` with the data of each server-sent event until it returns `stop` or `complete` (nothing else is
 * expected), the stream ends, or more than `maxBytes` bytes were read. An incomplete last event is dropped. A body that
 * is one JSON object and no stream, as gateways send errors, is the data of one event.
 * @param heard is called for each piece that arrives.
 * @throws BrokenBodyError
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  onData: (data: string) => 'more' | 'stop' | 'complete',
  heard: () => void = () => undefined,
): Promise<EventsEnd> {
  const decoder = new TextDecoder();
  let end: EventsEnd = 'ended';
  let bytes = 0;
  const object = new UnframedObject();
  const parser = createParser({
    onEvent: ({ data }) => {
      object.giveUp();
      if (end !== 'ended') return;
      const next = onData(data);
      if (next !== 'more') end = next === 'stop' ? 'stopped' : 'complete';
    },
  });
  await readChunks(body, (chunk) => {
    heard();
    bytes += chunk.byteLength;
    if (bytes > maxBytes) end = 'too_large';
    else {
      const text = decoder.decode(chunk, { stream: true });
      object.add(text);
      parser.feed(text);
    }
    if (end === 'ended') return 'more';
    return end === 'complete' ? 'complete' : 'stop';
  });
  if (end === 'ended' && object.text !== null && onData(object.text) === 'stop') return 'stopped';
  return end;
}

/** Longest object without events, in UTF-16 code units. */
const MAX_OBJECT_CHARS = 4 * 1024 * 1024;

/** Collects a body that is declared as a stream and holds one JSON object without an event. */
class UnframedObject {
  /** A list, since joining each piece to a text would copy the text each time. */
  #pieces: string[] = [];
  #length = 0;
  #isPossible = true;

  /** The object's text; `null` = the body is a stream. */
  get text(): string | null {
    return this.#isPossible && this.#pieces.length > 0 ? this.#pieces.join('') : null;
  }

  add(text: string): void {
    if (!this.#isPossible) return;
    const piece = this.#pieces.length === 0 ? text.trimStart() : text;
    if (piece === '') return;
    this.#length += piece.length;
    if (this.#length > MAX_OBJECT_CHARS || (this.#pieces.length === 0 && !piece.startsWith('{'))) this.giveUp();
    else this.#pieces.push(piece);
  }

  giveUp(): void {
    this.#isPossible = false;
    this.#pieces = [];
  }
}

/**
 * Returns true if the stream was read to its end. After a stop the rest is cancelled, which closes the connection. A
 * complete body may take a moment to end; then the connection is used again.
 */
async function readChunks(
  body: ReadableStream<Uint8Array>,
  onChunk: (chunk: Uint8Array) => 'more' | 'stop' | 'complete',
): Promise<boolean> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(breakOff);
    if (done) return true;
    const next = onChunk(value);
    if (next === 'more') continue;
    if (next === 'complete') {
      if (await endsSoon(reader)) return true;
      // It may have broken meanwhile, which takes nothing.
      await reader.cancel().catch(() => undefined);
      return false;
    }
    await reader.cancel().catch(breakOff);
    return false;
  }
}

/** Whether the body ends within END_OF_BODY_MS, without more bytes. */
async function endsSoon(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), END_OF_BODY_MS);
  const ended = reader.read().then(
    ({ done }) => done,
    // All events are there: a connection that breaks now takes nothing.
    () => false,
  );
  try {
    return await Promise.race([ended, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function breakOff(): never {
  throw new BrokenBodyError();
}

/** Limits of a stream, in bytes. Reading stops beyond them. */
export type StreamBounds = {
  readonly max_bytes: number;
  /** Limit for one event, and for the bytes between two events. */
  readonly max_event_bytes: number;
};

/**
 * `ended` = the body ended (the reply may be incomplete). `broken` = the connection failed. `over` = the lifetime
 * ended.
 */
export type StreamEnd = 'ended' | 'broken' | 'too_large' | 'over';

type Pulled = { readonly data: string; readonly end?: never } | { readonly end: StreamEnd };

/**
 * Reads server-sent events one at a time. It reads the next piece of the body only after all events of the last piece
 * were taken, so a slow reader slows the sender and at most one piece is in memory.
 */
export class EventPuller {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #life: Lifetime;
  readonly #bounds: StreamBounds;
  readonly #decoder = new TextDecoder();
  readonly #object = new UnframedObject();
  readonly #parser = createParser({ onEvent: ({ data }) => this.#waiting.push(data) });
  #waiting: string[] = [];
  #at = 0;
  #bytes = 0;
  #bytesSinceEvent = 0;

  constructor(body: ReadableStream<Uint8Array>, life: Lifetime, bounds: StreamBounds) {
    this.#reader = body.getReader();
    this.#life = life;
    this.#bounds = bounds;
    // Cancels even if no read is pending, because some senders ignore the signal.
    life.signal.addEventListener('abort', () => this.cancel());
  }

  /** Returns the data of the next event, or the reason for the end. An incomplete last event is dropped. */
  async next(): Promise<Pulled> {
    for (;;) {
      if (this.#life.signal.aborted) return { end: 'over' };
      const data = this.#waiting[this.#at];
      if (data !== undefined) {
        this.#at++;
        return { data };
      }
      const end = await this.#read();
      const whole = this.#object.text;
      if (end === 'ended' && whole !== null) {
        this.#object.giveUp();
        return { data: whole };
      }
      if (end !== null) return { end };
    }
  }

  /** Reads the end of a body whose last event was taken, so that its connection is used again. */
  async finish(): Promise<void> {
    await endsSoon(this.#reader);
  }

  /** Cancels the body, which closes the sender's connection. Returns at once, because some bodies never confirm it. */
  cancel(): void {
    this.#reader.cancel().catch(() => undefined);
  }

  async #read(): Promise<StreamEnd | null> {
    const reading = this.#reader.read().then(
      (read) => read,
      // The error is dropped, because it names internal hosts and ports.
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
    const text = this.#decoder.decode(piece, { stream: true });
    this.#object.add(text);
    this.#parser.feed(text);
    if (this.#waiting.length === 0) return null;
    this.#object.giveUp();
    this.#bytesSinceEvent = 0;
    return null;
  }
}
