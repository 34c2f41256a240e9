/**
 * Server-sent events to one caller (ARCHITECTURE.md rule 11). A comment is written at once and every second, and a write
 * that fails is how a caller is noticed to be gone, wherever the Worker runs; then `gone` aborts, and with it whatever
 * works for the stream. What waits to be read is bounded: a producer that awaits `room` is slowed by a slow reader.
 */
import { EVENT_HEARTBEAT_MS, MAX_QUEUED_EVENT_BYTES } from '../../src/limits.ts';
import { failureOf, problemOf } from './errors.ts';

/**
 * A stream of what `work` sends. It ends when the work does; an exception of the work becomes the event `error` with the
 * problem as its data, and the end.
 */
export function eventStream(
  requestId: string,
  work: (events: EventStream) => Promise<void>,
): ReadableStream<Uint8Array> {
  const events = new EventStream();
  const heartbeat = setInterval(() => events.comment(), EVENT_HEARTBEAT_MS);
  void run(events, requestId, work).finally(() => {
    clearInterval(heartbeat);
    return events.end();
  });
  return events.readable;
}

async function run(events: EventStream, requestId: string, work: (events: EventStream) => Promise<void>) {
  events.comment();
  try {
    await work(events);
  } catch (error) {
    // Whatever broke because nobody listens any more is nobody's problem.
    if (events.gone.aborted) return;
    const failure = failureOf(error);
    // Its message may quote content and stays out of the log.
    if (failure.reason === 'internal') console.error(JSON.stringify({ event: 'stream_failed', error: nameOf(error) }));
    events.send('error', problemOf(failure, requestId));
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

export class EventStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #gone = new AbortController();
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();

  constructor() {
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MAX_QUEUED_EVENT_BYTES });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, strategy);
    this.readable = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => this.#gone.abort());
  }

  /** Aborts once the caller has gone away. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Sends an event. Nothing happens once the caller is gone. */
  send(name: string, data: unknown): void {
    this.#write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** A line that says nothing, if nothing else waits to be read: it keeps proxies patient, and notices who is gone. */
  comment(): void {
    if (this.#writer.desiredSize === MAX_QUEUED_EVENT_BYTES) this.#write(':\n\n');
  }

  /** Resolves when there is room for more, or the caller is gone. */
  async room(): Promise<void> {
    if (!this.gone.aborted) await this.#settled(this.#writer.ready);
  }

  async end(): Promise<void> {
    if (!this.gone.aborted) await this.#settled(this.#writer.close());
  }

  #write(text: string): void {
    if (!this.gone.aborted) void this.#settled(this.#writer.write(this.#encoder.encode(text)));
  }

  /** What fails here fails because the reader is gone, which `closed` tells as well. */
  #settled(done: Promise<void>): Promise<void> {
    return done.catch(() => this.#gone.abort());
  }
}
