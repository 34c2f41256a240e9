/**
 * Batch: one Durable Object a batch, the owner of its state (ARCHITECTURE.md, State). It wires: the state stands in
 * functions/batches/batch-state.ts, the work is done by the consumers of the queue. The queue may lose a message, deliver it
 * twice or out of order; this object's alarm looks after the batch until it is over.
 */
import { DurableObject } from 'cloudflare:workers';
import { BATCH_WATCH_MS } from '../../src/limits.ts';
import type { BatchReply } from '../../src/wire/batches/batch.ts';
import type { Environment } from '../environment.ts';
import { announce } from '../webhooks/endpoint-client.ts';
import { BatchList } from './batch-list.ts';
import {
  BATCH_MESSAGE_VERSION,
  type ClaimedTask,
  type JobMessage,
  type NewBatch,
  type TaskReport,
} from './batch-messages.ts';
import { BatchLedger } from './batch-state.ts';
import { ChunkResults } from './chunk-results.ts';

/** Messages that go into the queue with one call (the platform's limit). */
const MAX_SEND = 100;
/** Refusals of a webhook endpoint that are worth another try. */
const PASSING: ReadonlySet<string> = new Set(['unavailable', 'full', 'version_skew']);
/** How often the list learns of progress while nothing else changes. */
const SNAPSHOT_MS = 2_000;

export class Batch extends DurableObject<Environment> {
  readonly #ledger: BatchLedger;
  /** Until the first look after a start: what the queue has is not known. */
  #fresh = true;
  /** What the list was last told, and when that was last tried. */
  #listed = { status: '', tried_at: 0 };

  constructor(state: DurableObjectState, environment: Environment) {
    super(state, environment);
    this.#ledger = new BatchLedger(state.storage.sql, () => Date.now());
  }

  /** Takes a new batch in and begins. Repeating it changes nothing. */
  async create(batch: NewBatch): Promise<BatchReply> {
    this.ctx.storage.transactionSync(() => this.#ledger.create(batch));
    const reply = await this.#moveOn();
    if (reply === null) throw new Error('Batch: there is no batch after its creation');
    return reply;
  }

  /** `null` where there is no batch of this name. */
  async describe(): Promise<BatchReply | null> {
    return this.#ledger.reply();
  }

  async claim(v: number, task: number): Promise<ClaimedTask | null> {
    if (v !== BATCH_MESSAGE_VERSION) return null;
    return this.ctx.storage.transactionSync(() => this.#ledger.claim(task, crypto.randomUUID()));
  }

  /** False = the task is no longer with the holder of the token: stop. */
  async extend(task: number, token: string): Promise<boolean> {
    return this.#ledger.extend(task, token);
  }

  async report(task: number, token: string, report: TaskReport): Promise<void> {
    this.ctx.storage.transactionSync(() => this.#ledger.report(task, token, report));
    await this.#moveOn();
  }

  /** `null` where there is no batch; else whether it could be cancelled, and how it stands. */
  async cancel(): Promise<{ readonly cancelled: boolean; readonly batch: BatchReply } | null> {
    const cancelled = this.ctx.storage.transactionSync(() => this.#ledger.cancel());
    const batch = await this.#moveOn();
    return batch === null ? null : { cancelled, batch };
  }

  /** Tries the dead letters anew. */
  async redrive(): Promise<{ readonly redriven: number; readonly batch: BatchReply } | null> {
    const redriven = this.ctx.storage.transactionSync(() => this.#ledger.redrive());
    const batch = await this.#moveOn();
    return batch === null ? null : { redriven, batch };
  }

  override async alarm(): Promise<void> {
    await this.#moveOn();
  }

  /** Whatever is to be done now: expiry, messages, the list, what is left over, the next look. */
  async #moveOn(): Promise<BatchReply | null> {
    if (this.#ledger.record === null) return null;
    // First of all, so that whatever fails below is tried again.
    await this.ctx.storage.setAlarm(Date.now() + BATCH_WATCH_MS);
    const tasks = this.ctx.storage.transactionSync(() => {
      if (this.#fresh) this.#ledger.distrustMessages();
      this.#ledger.settle();
      return this.#ledger.tasksToSend();
    });
    this.#fresh = false;
    await this.#send(tasks);
    const reply = this.#ledger.reply();
    const listed = reply === null || (await this.#list(reply));
    const told = await this.#announce(reply);
    const cleared = await this.#clear();
    const next = this.#ledger.nextLook();
    if (!listed || !told || !cleared) return reply;
    if (next === null) await this.ctx.storage.deleteAlarm();
    else await this.ctx.storage.setAlarm(next);
    return reply;
  }

  async #send(tasks: readonly number[]): Promise<void> {
    const batch = this.#ledger.record?.batch.id;
    if (batch === undefined) return;
    for (let from = 0; from < tasks.length; from += MAX_SEND) {
      const some = tasks.slice(from, from + MAX_SEND);
      const messages = some.map((task): MessageSendRequest<JobMessage> => {
        return { body: { v: BATCH_MESSAGE_VERSION, kind: 'batch', batch, task }, contentType: 'json' };
      });
      try {
        await this.env.JOBS.sendBatch(messages);
      } catch (error) {
        // The queue is a hint only: the alarm sends them again.
        this.#ledger.notSent(some);
        console.error(JSON.stringify({ event: 'queue_send_failed', batch, error: nameOf(error) }));
      }
    }
  }

  /** Tells the list how the batch stands; it may be behind, and the object is asked for the truth. False = it failed. */
  async #list(reply: BatchReply): Promise<boolean> {
    const now = Date.now();
    const { status, tried_at } = this.#listed;
    if (reply.status === status && now - tried_at < SNAPSHOT_MS) return true;
    this.#listed = { status: reply.status, tried_at: now };
    try {
      await new BatchList(this.env.DB).put(reply);
      return true;
    } catch (error) {
      this.#listed = { status: '', tried_at: now };
      console.error(JSON.stringify({ event: 'batch_list_failed', batch: reply.id, error: nameOf(error) }));
      return false;
    }
  }

  /** Tells the batch's webhook endpoint of the end, once. False = it is to be tried again. */
  async #announce(reply: BatchReply | null): Promise<boolean> {
    const endpoint = this.#ledger.endpointToTell();
    if (endpoint === null || reply === null) return true;
    try {
      const event = { type: `batch.${reply.status}`, data: reply, key: reply.id };
      const told = await announce(this.env, endpoint, event);
      if (!told.ok && PASSING.has(told.refusal)) return false;
      if (!told.ok)
        console.error(JSON.stringify({ event: 'batch_not_announced', batch: reply.id, refusal: told.refusal }));
      this.#ledger.announced();
      return true;
    } catch (error) {
      console.error(JSON.stringify({ event: 'batch_announce_failed', batch: reply.id, error: nameOf(error) }));
      return false;
    }
  }

  /** Removes the results of the chunks, some time after the end. False = it failed. */
  async #clear(): Promise<boolean> {
    const chunks = this.#ledger.chunksToClear();
    const batch = this.#ledger.record?.batch.id;
    if (chunks === null || batch === undefined) return true;
    try {
      await new ChunkResults(this.env.FILES).remove(batch, chunks);
      this.#ledger.cleared();
      return true;
    } catch (error) {
      console.error(JSON.stringify({ event: 'batch_clear_failed', batch, error: nameOf(error) }));
      return false;
    }
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
