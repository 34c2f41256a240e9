/**
 * A queue in memory. Speaks the HTTP protocol of workerd's `queue` binding: POST of `/message` and of `/batch`. A
 * restart loses the messages, which is allowed: Citeward's messages are hints, and the alarms of its batches send lost
 * ones again. A message that fails as often as its consumer allows goes to the dead-letter queue.
 */
import { DurableObject } from 'cloudflare:workers';
import * as z from 'zod';
import { failed } from './replies.ts';

/** What the object is bound to. */
export type QueueEnvironment = {
  /** Citeward, whose `queue` handler is called. */
  readonly CITEWARD: Fetcher;
  /** By the name of the queue. */
  readonly CONSUMERS: Readonly<Record<string, Consumer>>;
  readonly QUEUE_OBJECTS: DurableObjectNamespace<QueueObject>;
};

/** The consumer of a queue, from wrangler.toml. */
type Consumer = {
  readonly max_batch_size: number;
  /** Seconds. */
  readonly max_batch_timeout: number;
  readonly max_retries: number;
  readonly dead_letter_queue: string | null;
  /** Seconds. */
  readonly retry_delay: number;
  /** Batches that the consumer works on at the same time. */
  readonly max_concurrency: number;
};

const MAX_MESSAGE_BYTES = 128_000;
/** Interval of the measurements, and the delay of a timer up to which the process counts as idle. */
const PROBE_MS = 5;
const IDLE_DELAY_MS = 5;
/** Messages that wait. The oldest are dropped beyond it: their senders send them again. */
const MAX_WAITING = 100_000;

const FORMATS = ['text', 'json', 'bytes', 'v8'] as const;
const messageSchema = z.object({
  contentType: z.enum(FORMATS).default('v8'),
  delaySecs: z.number().min(0).optional(),
  /** Base64. */
  body: z.string(),
});
const batchSchema = z.object({ messages: z.array(messageSchema) });

type Message = {
  readonly id: string;
  readonly timestamp: Date;
  readonly format: (typeof FORMATS)[number];
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly attempts: number;
};

export class QueueObject extends DurableObject<QueueEnvironment> {
  #waiting: Message[] = [];
  #running = 0;
  /** The timer that delivers a batch which is not full. */
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** The timer that measures whether the process has time for another batch. */
  #probe: ReturnType<typeof setTimeout> | null = null;

  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const delay = request.headers.get('X-Msg-Delay-Secs');
    const delay_s = delay === null ? 0 : Number(delay);
    if (pathname === '/message') {
      const bytes = new Uint8Array(await request.arrayBuffer());
      const format = z.enum(FORMATS).safeParse(request.headers.get('X-Msg-Fmt') ?? 'v8');
      if (!format.success) return failed(400, `expected one of the formats ${FORMATS.join(', ')}`);
      if (bytes.byteLength > MAX_MESSAGE_BYTES) return tooLarge();
      this.#add(newMessage(format.data, bytes), delay_s);
    } else if (pathname === '/batch') {
      const messages = batchSchema.parse(await request.json()).messages.map(({ contentType, delaySecs, body }) => ({
        message: newMessage(contentType, bytesOf(body)),
        delay_s: delaySecs ?? delay_s,
      }));
      if (messages.some(({ message }) => message.bytes.byteLength > MAX_MESSAGE_BYTES)) return tooLarge();
      for (const { message, delay_s: own } of messages) this.#add(message, own);
    } else if (pathname !== '/metrics') {
      return failed(404, 'expected /message, /batch or /metrics');
    }
    return Response.json(pathname === '/metrics' ? this.#metrics() : { metadata: { metrics: this.#metrics() } });
  }

  /** Takes messages that failed in another queue. */
  receive(messages: readonly Message[]): void {
    for (const message of messages) this.#add({ ...message, attempts: 0 }, 0);
  }

  #add(message: Message, delay_s: number): void {
    if (this.#consumer() === null) return;
    const enter = (): void => {
      this.#waiting.push(message);
      if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
      this.#deliver();
    };
    if (delay_s > 0) setTimeout(enter, delay_s * 1_000);
    else enter();
  }

  /** Starts batches while the consumer takes more and a batch is full or has waited long enough. */
  #deliver(): void {
    const consumer = this.#consumer();
    if (consumer === null) return;
    if (this.#waiting.length > 0 && this.#running < consumer.max_concurrency) {
      const isFull = this.#waiting.length >= consumer.max_batch_size;
      if (!isFull && consumer.max_batch_timeout > 0) {
        this.#timer ??= setTimeout(() => {
          this.#timer = null;
          this.#start(consumer);
        }, consumer.max_batch_timeout * 1_000);
        return;
      }
      this.#startWhenIdle(consumer);
    }
  }

  /**
   * Starts a batch by a timer: one if none runs, and one more each time that the timer is not late. workerd has one
   * thread, which reads sockets and timers only when no other work is left. Without the timer, batches whose judge
   * computes here would follow one another without a gap, and no request would be answered until the last one's end.
   */
  #startWhenIdle(consumer: Consumer): void {
    if (this.#probe !== null) return;
    const due = Date.now() + PROBE_MS;
    this.#probe = setTimeout(() => {
      this.#probe = null;
      const hasTime = Date.now() - due <= IDLE_DELAY_MS && this.#running < consumer.max_concurrency;
      if (this.#running === 0 || hasTime) this.#start(consumer);
      this.#deliver();
    }, PROBE_MS);
  }

  #start(consumer: Consumer): void {
    const batch = this.#waiting.splice(0, consumer.max_batch_size);
    if (batch.length === 0) return;
    this.#running++;
    const done = this.#consume(consumer, batch).finally(() => {
      this.#running--;
      this.#deliver();
    });
    this.ctx.waitUntil(done);
  }

  async #consume(consumer: Consumer, batch: readonly Message[]): Promise<void> {
    const failures = await this.#failures(batch);
    const dead: Message[] = [];
    for (const message of batch) {
      const delay_s = failures.get(message.id);
      if (delay_s === undefined) continue;
      const attempts = message.attempts + 1;
      if (attempts > consumer.max_retries) dead.push(message);
      else this.#add({ ...message, attempts }, delay_s ?? consumer.retry_delay);
    }
    if (dead.length === 0) return;
    const name = consumer.dead_letter_queue;
    console.error(JSON.stringify({ event: 'queue_dead_letters', messages: dead.length, queue: name }));
    if (name !== null) await this.env.QUEUE_OBJECTS.getByName(name).receive(dead);
  }

  /** The messages to retry, with their delay in seconds; `null` = the delay of the consumer. */
  async #failures(batch: readonly Message[]): Promise<ReadonlyMap<string, number | null>> {
    const all = (delay_s: number | null) => new Map(batch.map(({ id }) => [id, delay_s]));
    try {
      const sent = batch.map(({ id, timestamp, attempts, format, bytes }) => ({
        ...{ id, timestamp, attempts: attempts + 1 },
        ...contentOf(format, bytes),
      }));
      const result = await this.env.CITEWARD.queue(this.#name(), sent);
      if (result.outcome !== 'ok') return all(null);
      if (result.retryBatch.retry) return all(result.retryBatch.delaySeconds ?? null);
      return new Map(result.retryMessages.map(({ msgId, delaySeconds }) => [msgId, delaySeconds ?? null]));
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error;
      console.error(JSON.stringify({ event: 'queue_consumer_failed', queue: this.#name(), error: name }));
      return all(null);
    }
  }

  #consumer(): Consumer | null {
    return this.env.CONSUMERS[this.#name()] ?? null;
  }

  #name(): string {
    const { name } = this.ctx.id;
    if (name === undefined) throw new Error('a queue object needs the name of its queue');
    return name;
  }

  #metrics(): object {
    const bytes = this.#waiting.reduce((sum, message) => sum + message.bytes.byteLength, 0);
    const oldest = this.#waiting[0]?.timestamp.getTime() ?? 0;
    return { backlogCount: this.#waiting.length, backlogBytes: bytes, oldestMessageTimestamp: oldest };
  }
}

function newMessage(format: Message['format'], bytes: Uint8Array<ArrayBuffer>): Message {
  return { id: crypto.randomUUID(), timestamp: new Date(), format, bytes, attempts: 0 };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** The body as the handler receives it; `v8` is deserialized by workerd. */
function contentOf(
  format: Message['format'],
  bytes: Uint8Array<ArrayBuffer>,
): { readonly body: unknown } | { readonly serializedBody: ArrayBuffer } {
  switch (format) {
    case 'text':
      return { body: new TextDecoder().decode(bytes) };
    case 'json':
      return { body: JSON.parse(new TextDecoder().decode(bytes)) };
    case 'bytes':
      return { body: bytes.buffer };
    case 'v8':
      return { serializedBody: bytes.buffer };
  }
}

function tooLarge(): Response {
  return failed(413, `a message must have at most ${MAX_MESSAGE_BYTES} bytes`);
}
