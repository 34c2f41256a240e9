/**
 * The state of one batch in its object's SQLite: the batch's record and its tasks. Every change is one synchronous
 * transaction. A report that is repeated, late, or sent without the lease changes nothing. Counts are sums over the
 * tasks, never increments.
 */

import type { BatchReply, BatchStatus } from '../../src/wire/batches/batch.ts';
import {
  type ClaimedTask,
  FINALISE,
  type FinalChunk,
  type FinalStep,
  type NewBatch,
  type TaskReport,
  VALIDATE,
} from './batch-messages.ts';
import { type BatchRecord, batchReply, type EarlyEnd, endedAt, endOf, readBatchRecord } from './batch-record.ts';
import {
  BATCH_WATCH_MS,
  CHUNK_BACKOFF_MS,
  CHUNK_MAX_BACKOFF_MS,
  CHUNK_RESULTS_KEPT_MS,
  LAST_ROUND_MS,
  MAX_CHUNK_FAILURES,
  MAX_CHUNKS_IN_FLIGHT,
  MESSAGE_TRUST_MS,
  TASK_LEASE_MS,
} from './batch-timing.ts';
import { chunkOf, type TaskRow, TaskTable, triesOf } from './task-table.ts';

/**
 * Reads of R2 in one step of the finaliser. An invocation may make 10,000 requests to the platform's services on the paid
 * plan; the rest of them is for the writes, one for each 8 MiB.
 */
const FINAL_STEP_READS = 2_000;

/** The line range of the two tasks without lines: validation and the finaliser. */
const NO_LINES = { first_line: 0, requests: 0, start: 0, end: 0 };
const NO_COUNTS = { completed: 0, failed: 0, parts: 0 };

export class BatchState {
  readonly #sql: SqlStorage;
  readonly #tasks: TaskTable;
  readonly #now: () => number;
  #made = false;
  /** The last parsed record. Reads are frequent, so a record is parsed again only if its text differs. */
  #read: { readonly text: string; readonly record: BatchRecord } | null = null;
  readonly #stepReads: number;

  /** @param stepReads reads of R2 that one step of the finaliser makes at most. */
  constructor(sql: SqlStorage, now: () => number, stepReads = FINAL_STEP_READS) {
    this.#sql = sql;
    this.#stepReads = stepReads;
    this.#now = now;
    this.#tasks = new TaskTable(sql);
  }

  /** The batch; `null` if the object has none. */
  get record(): BatchRecord | null {
    // `create` makes the tables, so that a guessed id leaves nothing behind.
    this.#made ||= this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'batch_v1'").toArray().length > 0;
    if (!this.#made) return null;
    const row = this.#sql.exec<{ record: string }>('SELECT record FROM batch_v1').toArray()[0];
    if (row === undefined) return null;
    if (this.#read?.text !== row.record) this.#read = { text: row.record, record: readBatchRecord(row.record) };
    return this.#read.record;
  }

  get isOver(): boolean {
    const { record } = this;
    return record === null || endedAt(record) !== null;
  }

  /** Creates the batch. Idempotent. */
  create(batch: NewBatch): void {
    if (this.record !== null) return;
    this.#sql.exec(
      'CREATE TABLE IF NOT EXISTS batch_v1 (one INTEGER PRIMARY KEY CHECK (one = 1), record TEXT NOT NULL) STRICT',
    );
    this.#tasks.make();
    const record: BatchRecord = {
      v: 1,
      batch,
      status: 'validating',
      times: {},
      errors: [],
      error_count: 0,
      total: 0,
      files: null,
      ended_by: [],
      announced: batch.webhook === null,
      cleared: false,
    };
    this.#sql.exec('INSERT INTO batch_v1 (one, record) VALUES (1, ?)', JSON.stringify(record));
    this.#tasks.add(VALIDATE, NO_LINES);
  }

  reply(): BatchReply | null {
    const { record } = this;
    return record === null ? null : batchReply(record, this.#tasks.counts(), this.#tasks.deadLetters(), this.#now());
  }

  /**
   * Makes the tasks whose messages were sent due again. Called after a start of the object, because the object does not
   * know whether those messages still exist.
   */
  distrustMessages(): void {
    this.#tasks.distrust(this.#now());
  }

  /** Returns the tasks whose message is due now and marks them as sent. */
  tasksToSend(): number[] {
    if (this.isOver) return [];
    const now = this.#now();
    return this.#tasks.take(MAX_CHUNKS_IN_FLIGHT, now, now + MESSAGE_TRUST_MS);
  }

  /** Postpones tasks whose message could not be sent. */
  notSent(tasks: readonly number[]): void {
    this.#tasks.untake(tasks, this.#now() + CHUNK_BACKOFF_MS);
  }

  /**
   * Gives a task to a consumer under a lease. Returns `null` if the task is done, held by another consumer or obsolete.
   */
  claim(n: number, token: string): ClaimedTask | null {
    const { record } = this;
    const row = record === null ? null : this.#tasks.find(n);
    if (record === null || row === null || !isWanted(row, record)) return null;
    if (row.state === 'held' && row.due_at > this.#now()) return null;
    this.#tasks.hold(n, token, this.#now() + TASK_LEASE_MS);
    const { batch } = record;
    if (n === VALIDATE) return { kind: 'validate', token, batch };
    if (n === FINALISE) return { kind: 'finalise', token, batch, ...this.#finalStep(record) };
    return { kind: 'chunk', token, batch, n, chunk: chunkOf(row), tries: triesOf(row) };
  }

  /** Extends a lease. Returns false if the token has lost the task or the batch is over. */
  extend(n: number, token: string): boolean {
    return !this.isOver && this.#tasks.extend(n, token, this.#now() + TASK_LEASE_MS);
  }

  /** Applies a consumer's report of a task. */
  report(n: number, token: string, report: TaskReport): void {
    const { record } = this;
    const row = record === null ? null : this.#tasks.find(n);
    if (record === null || row === null || row.state === 'done' || endedAt(record) !== null) return;
    switch (report.kind) {
      case 'planned':
        if (record.status !== 'validating') return;
        this.#tasks.finish(n, NO_COUNTS);
        this.#transition({ ...record, total: report.total }, 'in_progress');
        for (const [position, chunk] of report.chunks.entries()) this.#tasks.add(position, chunk);
        return;
      case 'invalid':
        if (record.status !== 'validating') return;
        this.#tasks.finish(n, NO_COUNTS);
        this.#transition({ ...record, errors: report.errors, error_count: report.error_count }, 'failed');
        return;
      case 'scored':
        // Accepted without the lease, because the results are stored once. Once the finaliser runs, its list is fixed.
        if (record.status === 'finalizing') return;
        this.#tasks.finish(n, report);
        break;
      case 'again':
        if (!this.#tasks.isHeldWith(n, token)) return;
        if (report.handed_on === true) this.#tasks.handOn(n, report, report.tries);
        else this.#tasks.repeat(n, report, report.tries, this.#nextRound(record, row.rounds, report.retry_after_s));
        break;
      case 'broke': {
        if (!this.#tasks.isHeldWith(n, token)) return;
        // Only chunks become dead letters; validation and the finaliser retry without a limit.
        const isLast = row.failures + 1 >= MAX_CHUNK_FAILURES && n >= 0;
        this.#tasks.fail(n, report.reason, isLast ? null : this.#nextRound(record, row.failures, null));
        break;
      }
      case 'input_gone':
        if (!this.#tasks.isHeldWith(n, token) || record.status === 'finalizing') return;
        this.#tasks.skip(n);
        this.#endEarly(record, 'input_gone');
        break;
      case 'merged': {
        // The chunks that it merged are those of the claim, so its report counts only with the lease.
        if (record.status !== 'finalizing' || !this.#tasks.isHeldWith(n, token)) return;
        const { next, merged, lost } = assemblyOf(record);
        const position = next + this.#finalStep(record).chunks.length;
        this.#write({
          ...record,
          assembly: { next: position, merged: [...merged, report.merged], lost: lost + report.lost },
        });
        this.#tasks.goOn(n);
        break;
      }
      case 'finalised': {
        if (record.status !== 'finalizing') return;
        this.#tasks.finish(n, NO_COUNTS);
        const files = { output: report.output, error: report.error };
        const lost = assemblyOf(record).lost + report.lost;
        this.#transition({ ...record, files, ...errorsOfLost(lost) }, endOf(record));
        return;
      }
    }
    this.settle();
  }

  /** Advances the batch: expires it at the end of its window, and adds the finaliser once no chunk is open. */
  settle(): void {
    const { record } = this;
    if (record === null || record.status === 'finalizing' || endedAt(record) !== null) return;
    const expired = this.#now() >= record.batch.expires_at;
    if (record.status === 'validating') {
      if (expired) this.#transition({ ...record, ended_by: ['expiry'] }, 'expired');
      return;
    }
    const settled = expired ? this.#endEarly(record, 'expiry') : record;
    const endsEarly = settled.ended_by.length > 0;
    if (endsEarly) this.#tasks.skipOpen(this.#now());
    // Dead letters keep the batch open for a redrive until its window ends.
    if (this.#tasks.hasOpenChunks || (this.#tasks.hasDead && !endsEarly)) return;
    this.#transition(settled, 'finalizing');
    this.#tasks.add(FINALISE, NO_LINES);
  }

  /** Cancels the batch. Idempotent, also after the cancellation has ended it. Returns false if it is too late. */
  cancel(): boolean {
    const { record } = this;
    if (record?.ended_by.includes('cancellation') === true) return true;
    switch (record?.status) {
      case 'validating':
        this.#transition({ ...record, ended_by: ['cancellation'] }, 'cancelled');
        return true;
      case 'in_progress':
        this.#transition(this.#endEarly(record, 'cancellation'), 'cancelling');
        this.settle();
        return true;
      default:
        return false;
    }
  }

  /** Resets the dead letters to pending. Returns their number. */
  redrive(): number {
    return this.isOver ? 0 : this.#tasks.revive();
  }

  /** The time of the next alarm in milliseconds since 1970; `null` = none is needed. */
  nextAlarm(): number | null {
    const { record } = this;
    if (record === null) return null;
    const ended = endedAt(record);
    if (ended !== null) return record.cleared ? null : ended + CHUNK_RESULTS_KEPT_MS;
    const soon = this.#now() + BATCH_WATCH_MS;
    if (this.#tasks.isBusy) return soon;
    // If only waiting tasks and dead letters are left, the object sleeps until the first waiting task is due, however
    // long the judge is down.
    const due = this.#tasks.nextDue ?? Number.POSITIVE_INFINITY;
    const next = record.status === 'finalizing' ? due : Math.min(due, record.batch.expires_at);
    return Number.isFinite(next) ? Math.max(next, this.#now()) : soon;
  }

  /** Whether the results of the chunks can be deleted now. */
  get isClearingDue(): boolean {
    const { record } = this;
    const ended = record === null ? null : endedAt(record);
    return record !== null && ended !== null && !record.cleared && this.#now() >= ended + CHUNK_RESULTS_KEPT_MS;
  }

  /** Records that the results were deleted. */
  markCleared(): void {
    const { record } = this;
    if (record !== null) this.#write({ ...record, cleared: true });
  }

  /** The webhook endpoint to which the end of the batch must still be announced; `null` = none. */
  endpointToNotify(): string | null {
    const { record } = this;
    return record === null || endedAt(record) === null || record.announced ? null : record.batch.webhook;
  }

  /** Records that the end of the batch was announced to its webhook endpoint, or never can be. */
  markAnnounced(): void {
    const { record } = this;
    if (record !== null) this.#write({ ...record, announced: true });
  }

  /** The time of the next try after `tries` tries, within the window if possible. */
  #nextRound({ batch }: BatchRecord, tries: number, retryAfter_s: number | null): number {
    const now = this.#now();
    const backoff = Math.min(CHUNK_MAX_BACKOFF_MS, CHUNK_BACKOFF_MS * 2 ** Math.min(tries, 20));
    const wanted = now + Math.max(backoff, (retryAfter_s ?? 0) * 1000);
    return Math.min(wanted, Math.max(now + CHUNK_BACKOFF_MS, batch.expires_at - LAST_ROUND_MS));
  }

  /** The next step of the finaliser. The same until its report, so that a lost step is repeated. */
  #finalStep(record: BatchRecord): FinalStep {
    const unsent = record.ended_by.includes('cancellation') ? 'batch_cancelled' : 'batch_expired';
    const { next, merged } = assemblyOf(record);
    const all = this.#tasks.chunks();
    const chunks: FinalChunk[] = [];
    // A merged part is read from two objects, in the last step.
    let reads = 2 * merged.length;
    for (const row of all.slice(next)) {
      reads += readsOf(row);
      if (reads > this.#stepReads && chunks.length > 0) break;
      chunks.push({ ...chunkOf(row), n: row.n, finished: row.completed + row.failed, unsent });
    }
    return { chunks, merged, last: next + chunks.length === all.length };
  }

  /** Records a reason (expiry, cancellation, deleted input file) after which no further chunk starts. */
  #endEarly(record: BatchRecord, by: EarlyEnd): BatchRecord {
    if (record.ended_by.includes(by)) return record;
    const ending = { ...record, ended_by: [...record.ended_by, by] };
    this.#write(ending);
    return ending;
  }

  #transition(record: BatchRecord, status: BatchStatus): void {
    this.#write({ ...record, status, times: { ...record.times, [status]: this.#now() } });
  }

  #write(record: BatchRecord): void {
    this.#sql.exec('UPDATE batch_v1 SET record = ?', JSON.stringify(record));
  }
}

/** Reads of R2 that the results of a chunk take at most: its parts, and its lines in the input if it has unsent ones. */
function readsOf({ parts, rounds, requests, completed, failed }: TaskRow): number {
  return (parts ?? Math.min(requests, rounds + 1)) + (completed + failed < requests ? 1 : 0);
}

function assemblyOf({ assembly }: BatchRecord): NonNullable<BatchRecord['assembly']> {
  return assembly ?? { next: 0, merged: [], lost: 0 };
}

/** Returns whether the task may still start. */
function isWanted({ n, state }: TaskRow, { status, ended_by }: BatchRecord): boolean {
  if (state === 'done' || state === 'dead' || state === 'skipped') return false;
  if (n === VALIDATE) return status === 'validating';
  if (n === FINALISE) return status === 'finalizing';
  return status === 'in_progress' && ended_by.length === 0;
}

function errorsOfLost(lost: number): Pick<BatchRecord, 'errors' | 'error_count'> | null {
  if (lost === 0) return null;
  const message = `The input file was removed before the batch had ended: ${lost} requests were not made and have no line.`;
  const error = { code: 'file_not_found', message, param: 'input_file_id', line: null } as const;
  return { errors: [error], error_count: 1 };
}
