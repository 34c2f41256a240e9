/**
 * Server-sent events to one caller (ARCHITECTURE.md rule 11). A comment is written at once and every second, and a write
 * that fails is how a caller is noticed to be gone, wherever the Worker runs; then `gone` aborts, and with it whatever
 * works for the stream. What waits to be read is bounded: a producer that awaits `room` is slowed by a slow reader.
 */
import { failureOf, problemOf, wireReason } from './problems.ts';

/** A comment is sent so often, so that a caller who has gone is noticed. */
const EVENT_HEARTBEAT_MS = 1_000;
/** Events that wait for a caller who does not read, in bytes: ten times what a long answer with many faults gives. */
export const MAX_QUEUED_EVENT_BYTES = 8 * 1024 * 1024;
/** The same where a policy writes: a slow caller slows it after some hundred tokens, and pays for no more of them. */
export const MAX_QUEUED_POLICY_BYTES = 64 * 1024;

type Work = (events: EventStream) => Promise<void>;

/**
 * A stream of what `work` sends. It ends when the work does; an exception of the work becomes the event `error` with the
 * problem as its data, and the end.
 *
 * @param failed runs between that event and the end, for what the caller still sends; it does not throw.
 */
export function eventStream(requestId: string, work: Work, failed?: () => Promise<void>): ReadableStream<Uint8Array> {
  return streamOf(new EventStream(MAX_QUEUED_EVENT_BYTES), requestId, work, failed);
}

/** The same for what a policy writes. */
export function policyStream(requestId: string, work: Work): ReadableStream<Uint8Array> {
  return streamOf(new EventStream(MAX_QUEUED_POLICY_BYTES), requestId, work);
}

function streamOf(
  events: EventStream,
  requestId: string,
  work: Work,
  failed: () => Promise<void> = async () => undefined,
): ReadableStream<Uint8Array> {
  const heartbeat = setInterval(() => events.comment(), EVENT_HEARTBEAT_MS);
  void run(events, requestId, work, failed).finally(() => {
    clearInterval(heartbeat);
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
    // Whatever broke because nobody listens any more is nobody's problem.
    if (events.gone.aborted) return logEnd(requestId, events, { end: 'gone' });
    const failure = failureOf(error);
    const reason = wireReason(failure);
    // Its message may quote content and stays out of the log.
    logEnd(requestId, events, { end: 'failed', reason, ...(reason === 'internal' ? { error: nameOf(error) } : {}) });
    events.send('error', problemOf(failure, requestId));
    await failed();
  }
}

/** The log line of a request is written when its reply begins; this one says how the stream went on. */
function logEnd(requestId: string, { sent }: EventStream, outcome: Readonly<Record<string, string>>): void {
  console.log(JSON.stringify({ event: 'stream_ended', request_id: requestId, sent, ...outcome }));
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

  /** @param queueBytes that may wait to be read before `room` waits, too. */
  constructor(queueBytes: number) {
    this.#queueBytes = queueBytes;
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: queueBytes });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, strategy);
    this.readable = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => this.#gone.abort());
  }

  /** Aborts once the caller has gone away. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Events so far, those that wait to be read included. */
  get sent(): number {
    return this.#sent;
  }

  /** Sends an event. Nothing happens once the caller is gone. */
  send(name: string, data: unknown): void {
    this.sendAll([{ name, data }]);
  }

  /** The same for events that come together: one write, as each costs several times what an event does. */
  sendAll(all: readonly { readonly name: string; readonly data: unknown }[]): void {
    if (all.length === 0) return;
    this.#sent += all.length;
    this.#write(all.map(({ name, data }) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(''));
  }

  /** A line that says nothing, if nothing else waits to be read: it keeps proxies patient, and notices who is gone. */
  comment(): void {
    if (this.#writer.desiredSize === this.#queueBytes) this.#write(':\n\n');
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
