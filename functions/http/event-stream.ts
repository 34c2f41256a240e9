/**
 * Server-sent events to one client. A comment is written at once and then every second: a failing write is how a Worker
 * notices a disconnected client. `gone` then aborts, and with it the work behind the stream. The queue is bounded: a
 * producer that awaits `room` runs at the speed of the reader. What the stream holds counts until it ends, however long
 * that takes.
 */
import { failureOf, problemOf, wireReason } from '../../service/problems.ts';
import type { Lease } from '../leases.ts';
import { logEvent } from '../log-event.ts';

/** How often a comment is sent, to notice a disconnected client, and the lease of the stream renewed. */
const EVENT_HEARTBEAT_MS = 1_000;
/** Bytes of events that may wait for a client: ten times the events of a long answer with many defects. */
const MAX_QUEUED_EVENT_BYTES = 8 * 1024 * 1024;
/**
 * Maximum bytes of generated text that wait for a client. After some hundred tokens a slow client slows the generation,
 * so that no further tokens are paid for.
 */
export const MAX_QUEUED_POLICY_BYTES = 64 * 1024;

type Work = (events: EventStream) => Promise<void>;

/**
 * Creates a stream of the events that `work` sends. It ends with the work; an exception becomes the event `error`, with
 * the problem as its data, and ends the stream.
 * @param lease of what the work holds. The stream holds it until it ends.
 * @param failed runs between that event and the end, to handle what the client still sends. It must not throw.
 */
export function eventStream(
  requestId: string,
  lease: Lease,
  work: Work,
  failed?: () => Promise<void>,
): ReadableStream<Uint8Array> {
  return streamOf(new EventStream(MAX_QUEUED_EVENT_BYTES), requestId, lease, work, failed);
}

/** Like `eventStream`, but with the smaller queue MAX_QUEUED_POLICY_BYTES, for generated text. */
export function policyStream(requestId: string, lease: Lease, work: Work): ReadableStream<Uint8Array> {
  return streamOf(new EventStream(MAX_QUEUED_POLICY_BYTES), requestId, lease, work);
}

function streamOf(
  events: EventStream,
  requestId: string,
  lease: Lease,
  work: Work,
  failed: () => Promise<void> = async () => undefined,
): ReadableStream<Uint8Array> {
  const release = lease.hold();
  const heartbeat = setInterval(() => {
    events.comment();
    lease.grow(0);
  }, EVENT_HEARTBEAT_MS);
  void run(events, requestId, work, failed).finally(() => {
    clearInterval(heartbeat);
    release();
    return events.end();
  });
  return events.readable;
}

async function run(events: EventStream, requestId: string, work: Work, failed: () => Promise<void>): Promise<void> {
  events.comment();
  try {
    await work(events);
    logEnd(requestId, events, { end: events.gone.aborted ? 'gone' : 'done' });
  } catch (error) {
    // Errors caused by the disconnect itself are not failures.
    if (events.gone.aborted) return logEnd(requestId, events, { end: 'gone' });
    const failure = failureOf(error);
    const reason = wireReason(failure);
    // The message of an error may quote content, so it is not logged.
    logEnd(requestId, events, { end: 'failed', reason, ...(reason === 'internal' ? { error: nameOf(error) } : {}) });
    events.send('error', problemOf(failure, requestId));
    await failed();
  }
}

/** Logs how the stream ended, in a line of its own: the log line of the request is written when the reply begins. */
function logEnd(requestId: string, { sent }: EventStream, outcome: Readonly<Record<string, string>>): void {
  logEvent('log', { event: 'stream_ended', request_id: requestId, sent, ...outcome });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

export class EventStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #queueBytes: number;
  readonly #gone = new AbortController();
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();
  #sent = 0;

  /** @param queueBytes how much may wait to be read before `room` waits. */
  constructor(queueBytes: number) {
    this.#queueBytes = queueBytes;
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: queueBytes });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, strategy);
    this.readable = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => this.#gone.abort());
  }

  /** Aborts when the client has disconnected. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Number of events so far, including those that wait to be read. */
  get sent(): number {
    return this.#sent;
  }

  /** Sends an event; does nothing after the client has disconnected. */
  send(name: string, data: unknown): void {
    this.sendAll([{ name, data }]);
  }

  /** Sends several events in one write, because a write costs several times as much as an event. */
  sendAll(all: readonly { readonly name: string; readonly data: unknown }[]): void {
    if (all.length === 0) return;
    this.#sent += all.length;
    this.#write(all.map(({ name, data }) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(''));
  }

  /**
   * Sends an empty comment if no event is waiting: it keeps proxies from timing out and detects a disconnected client.
   */
  comment(): void {
    if (this.#writer.desiredSize === this.#queueBytes) this.#write(':\n\n');
  }

  /** Resolves when the queue has room, or the client has disconnected. */
  async room(): Promise<void> {
    if (!this.gone.aborted) await this.#settled(this.#writer.ready);
  }

  async end(): Promise<void> {
    if (!this.gone.aborted) await this.#settled(this.#writer.close());
  }

  #write(text: string): void {
    if (!this.gone.aborted) void this.#settled(this.#writer.write(this.#encoder.encode(text)));
  }

  /** Writes fail only because the reader has disconnected; `closed` reports the same. */
  #settled(done: Promise<void>): Promise<void> {
    return done.catch(() => this.#gone.abort());
  }
}
