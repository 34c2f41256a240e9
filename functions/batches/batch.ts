/**
 * The Durable Object of one batch. It owns the batch's state (batch-state.ts); consumers of the queue do the work. The
 * queue may lose, repeat or reorder messages, so the object's alarm sends them again until the batch is over.
 */
import { DurableObject } from 'cloudflare:workers';
import type { BatchReply } from '../../src/wire/batches/batch.ts';
import { countedAlarm } from '../desk/send-counts.ts';
import type { Environment } from '../environment.ts';
import { logEvent } from '../log-event.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import { announce } from '../webhooks/endpoint-client.ts';
import { BatchList } from './batch-list.ts';
import {
  BATCH_MESSAGE_VERSION,
  type BatchAnswer,
  type ClaimedTask,
  type NewBatch,
  type TaskMessage,
  type TaskReport,
} from './batch-messages.ts';
import { BatchState } from './batch-state.ts';
import { BATCH_WATCH_MS } from './batch-timing.ts';
import { ChunkResults } from './chunk-results.ts';

/** Messages per `sendBatch` (the platform's limit). */
const MAX_SEND = 100;
/** Refusals of a webhook endpoint that are retried. */
const RETRYABLE_REFUSALS: ReadonlySet<string> = new Set(['unavailable', 'full', 'version_skew']);
/** While the status is unchanged, the list in D1 is updated at most this often. */
const SNAPSHOT_MS = 2_000;

export class Batch extends DurableObject<Environment> {
  readonly #state: BatchState;
  /**
   * True until the first alarm or call after a start of the object. Until then the object does not know which of its
   * messages the queue still has.
   */
  #fresh = true;
  /** The status that the list in D1 has, and the time of the last update. */
  #listed = { status: '', tried_at: 0 };

  /** @param finalStepReads reads of R2 in one step of the finaliser. Default: BatchState's. */
  constructor(state: DurableObjectState, environment: Environment, finalStepReads?: number) {
    super(state, environment);
    this.#state = new BatchState(state.storage.sql, () => Date.now(), finalStepReads);
  }

  /** Creates the batch and starts its validation. Idempotent. */
  async create(batch: NewBatch): Promise<BatchAnswer<BatchReply>> {
    return this.#answer(() => {
      this.ctx.storage.transactionSync(() => this.#state.create(batch));
      return this.#advance();
    });
  }

  async describe(): Promise<BatchAnswer<BatchReply>> {
    return this.#answer(async () => this.#state.reply());
  }

  async claim(v: number, task: number): Promise<ClaimedTask | null> {
    if (v !== BATCH_MESSAGE_VERSION) return null;
    return this.ctx.storage.transactionSync(() => this.#state.claim(task, crypto.randomUUID()));
  }

  /** Extends a lease. Returns false if the token has lost the task; the consumer then stops. */
  async extend(task: number, token: string): Promise<boolean> {
    return this.#state.extend(task, token);
  }

  async report(task: number, token: string, report: TaskReport): Promise<void> {
    this.ctx.storage.transactionSync(() => this.#state.report(task, token, report));
    await this.#advance();
  }

  /** Cancels the batch. Idempotent. */
  async cancel(): Promise<BatchAnswer<{ readonly cancelled: boolean; readonly batch: BatchReply }>> {
    return this.#answer(async () => {
      const cancelled = this.ctx.storage.transactionSync(() => this.#state.cancel());
      const batch = await this.#advance();
      return batch === null ? null : { cancelled, batch };
    });
  }

  /** Retries the dead letters. Idempotent. */
  async redrive(): Promise<BatchAnswer<{ readonly redriven: number; readonly batch: BatchReply }>> {
    return this.#answer(async () => {
      const redriven = this.ctx.storage.transactionSync(() => this.#state.redrive());
      const batch = await this.#advance();
      return batch === null ? null : { redriven, batch };
    });
  }

  override async alarm(): Promise<void> {
    await countedAlarm('Batch', this.env, () => this.#watch());
  }

  async #watch(): Promise<void> {
    // Set before the batch is read: the platform drops an alarm that keeps failing, and the batch would never wake.
    await this.ctx.storage.setAlarm(Date.now() + BATCH_WATCH_MS);
    const advanced = await this.#answer(() => this.#advance());
    if (!advanced.ok && advanced.refusal === 'batch_unknown') await this.ctx.storage.deleteAlarm();
  }

  /** Answers a call. @param work returns `null` if there is no batch. */
  async #answer<T>(work: () => Promise<T | null>): Promise<BatchAnswer<T>> {
    try {
      const value = await work();
      return value === null ? { ok: false, refusal: 'batch_unknown' } : { ok: true, value };
    } catch (error) {
      if (!(error instanceof UnknownForm)) throw error;
      logEvent('error', { event: 'stored_form_unknown', object: 'Batch', detail: error.message });
      return { ok: false, refusal: 'version_skew' };
    }
  }

  /** Does everything that is due: expiry, messages, the list in D1, the announcement, deletions, the next alarm. */
  async #advance(): Promise<BatchReply | null> {
    if (this.#state.record === null) return null;
    // Set first, so that a failure below is retried.
    await this.ctx.storage.setAlarm(Date.now() + BATCH_WATCH_MS);
    const tasks = this.ctx.storage.transactionSync(() => {
      if (this.#fresh) this.#state.distrustMessages();
      this.#state.settle();
      return this.#state.tasksToSend();
    });
    this.#fresh = false;
    await this.#send(tasks);
    const reply = this.#state.reply();
    const { project } = this.#state.record.batch;
    const listed = reply === null || (await this.#list(reply, project));
    const told = await this.#announce(reply, project);
    const cleared = await this.#clear();
    const next = this.#state.nextAlarm();
    if (!listed || !told || !cleared) return reply;
    if (next === null) await this.ctx.storage.deleteAlarm();
    else await this.ctx.storage.setAlarm(next);
    return reply;
  }

  async #send(tasks: readonly number[]): Promise<void> {
    const { id: batch, project } = this.#state.record?.batch ?? {};
    if (batch === undefined || project === undefined) return;
    for (let from = 0; from < tasks.length; from += MAX_SEND) {
      const some = tasks.slice(from, from + MAX_SEND);
      const messages = some.map((task): MessageSendRequest<TaskMessage> => {
        return { body: { v: BATCH_MESSAGE_VERSION, kind: 'batch', project, batch, task }, contentType: 'json' };
      });
      try {
        await this.env.JOBS.sendBatch(messages);
      } catch (error) {
        // The alarm sends the messages again.
        this.#state.notSent(some);
        logEvent('error', { event: 'queue_send_failed', batch, error: nameOf(error) });
      }
    }
  }

  /** Updates the list in D1, which may lag behind the object. Returns false if that failed. */
  async #list(reply: BatchReply, project: string): Promise<boolean> {
    const now = Date.now();
    const { status, tried_at } = this.#listed;
    if (reply.status === status && now - tried_at < SNAPSHOT_MS) return true;
    this.#listed = { status: reply.status, tried_at: now };
    try {
      await new BatchList(this.env.DB, project).put(reply);
      return true;
    } catch (error) {
      this.#listed = { status: '', tried_at: now };
      logEvent('error', { event: 'batch_list_failed', batch: reply.id, error: nameOf(error) });
      return false;
    }
  }

  /** Announces the end to the batch's webhook endpoint once. Returns false if the announcement must be retried. */
  async #announce(reply: BatchReply | null, project: string): Promise<boolean> {
    const endpoint = this.#state.endpointToNotify();
    if (endpoint === null || reply === null) return true;
    try {
      const event = { type: `batch.${reply.status}`, data: reply, key: reply.id };
      const told = await announce(this.env, { project, id: endpoint }, event);
      if (!told.ok && RETRYABLE_REFUSALS.has(told.refusal)) return false;
      if (!told.ok) logEvent('error', { event: 'batch_not_announced', batch: reply.id, refusal: told.refusal });
      this.#state.markAnnounced();
      return true;
    } catch (error) {
      logEvent('error', { event: 'batch_announce_failed', batch: reply.id, error: nameOf(error) });
      return false;
    }
  }

  /** Deletes the results of the chunks some time after the end. Returns false if that failed. */
  async #clear(): Promise<boolean> {
    const { id: batch, project } = this.#state.record?.batch ?? {};
    if (!this.#state.isClearingDue || batch === undefined || project === undefined) return true;
    try {
      await new ChunkResults(this.env.FILES, project).removeAll(batch);
      this.#state.markCleared();
      return true;
    } catch (error) {
      logEvent('error', { event: 'batch_clear_failed', batch, error: nameOf(error) });
      return false;
    }
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
