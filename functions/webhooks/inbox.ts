/**
 * Stores the signed scoring requests of one endpoint and claims each under its `webhook-id`, so that it is scored once.
 * One SQLite transaction creates the claim and the job, so a crash cannot leave a claim without a job. STORAGE.md has
 * the table.
 */

import { newId } from '../../service/ids.ts';
import type { AcceptedJob, JobStatus } from '../../src/wire/webhooks-reply.ts';
import { addTextColumn } from './added-column.ts';
import { JOB_BACKOFF, nextTry } from './backoff.ts';
import { type JobDescription, type ReceiveMessage, timeText } from './endpoint-messages.ts';
import type { StoredTexts } from './stored-texts.ts';
import type { DueWork } from './work-loop.ts';

type Row = {
  id: string;
  webhook_id: string;
  digest: string;
  status: JobStatus;
  bytes: number;
  created_ms: number;
  attempts: number;
  next_ms: number | null;
  finished_ms: number | null;
  reason: string | null;
  message: string | null;
  trace: string | null;
};

type JobClaim =
  /** `new`: a job was created. `known`: the id already has a job. */
  | { readonly status: 'new' | 'known'; readonly job: AcceptedJob }
  | { readonly status: 'id_reused' }
  | { readonly status: 'full' };

/** Maximum number of pending jobs of one endpoint; further requests are refused with a 503. */
const MAX_PENDING_JOBS = 10_000;
/** A finished job, and with it its `webhook-id`, is kept for this long and up to this number. */
const JOB_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const MAX_JOBS_KEPT = 100_000;
/** Rows that one `tidy` deletes at most. */
const DELETED_AT_ONCE = 500;

export class Inbox {
  readonly #sql: SqlStorage;
  readonly #texts: StoredTexts;
  readonly #maxPending: number;

  /** @param maxPending pending jobs after which new requests are refused. */
  constructor(sql: SqlStorage, texts: StoredTexts, maxPending = MAX_PENDING_JOBS) {
    this.#sql = sql;
    this.#texts = texts;
    this.#maxPending = maxPending;
    sql.exec(`CREATE TABLE IF NOT EXISTS jobs_v1 (
      id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, status TEXT NOT NULL,
      bytes INTEGER NOT NULL, created_ms INTEGER NOT NULL, attempts INTEGER NOT NULL, next_ms INTEGER,
      finished_ms INTEGER, reason TEXT, message TEXT
    ) STRICT`);
    addTextColumn(sql, 'jobs_v1', 'trace');
    sql.exec('CREATE INDEX IF NOT EXISTS jobs_v1_due ON jobs_v1 (status, next_ms)');
    sql.exec('CREATE INDEX IF NOT EXISTS jobs_v1_finished ON jobs_v1 (finished_ms)');
  }

  /** Creates a job for a request, unless its id has one already. @param full refuses new ids. */
  claim({ webhook_id, digest, body, trace = null }: Omit<ReceiveMessage, 'v'>, full: boolean, now: number): JobClaim {
    const known = this.#first<Row>('SELECT * FROM jobs_v1 WHERE webhook_id = ?', webhook_id);
    if (known !== undefined) {
      if (known.digest !== digest) return { status: 'id_reused' };
      return { status: 'known', job: { job: known.id, webhook_id, status: known.status } };
    }
    if (full || this.#isFull()) return { status: 'full' };
    const id = newId('job_');
    this.#sql.exec(
      `INSERT INTO jobs_v1 (id, webhook_id, digest, status, bytes, created_ms, attempts, next_ms, trace)
       VALUES (?, ?, ?, 'pending', ?, ?, 0, ?, ?)`,
      id,
      webhook_id,
      digest,
      body.length,
      now,
      now,
      trace,
    );
    this.#texts.add(id, body);
    return { status: 'new', job: { job: id, webhook_id, status: 'pending' } };
  }

  due(now: number, limit: number): DueWork[] {
    return this.#sql
      .exec<DueWork>(
        "SELECT id, bytes FROM jobs_v1 WHERE status = 'pending' AND next_ms <= ? ORDER BY next_ms LIMIT ?",
        now,
        limit,
      )
      .toArray();
  }

  nextDue(): number | null {
    return this.#time("SELECT MIN(next_ms) AS at FROM jobs_v1 WHERE status = 'pending'");
  }

  /** The stored request of a pending job; `null` if there is no such pending job. */
  open(id: string): { readonly webhook_id: string; readonly body: Uint8Array; readonly trace: string | null } | null {
    const row = this.#row(id);
    if (row?.status !== 'pending') return null;
    return { webhook_id: row.webhook_id, body: this.#texts.read(id), trace: row.trace };
  }

  /** Returns whether a failure now would leave no time for another try. */
  isLastTry(id: string, now: number): boolean {
    const row = this.#row(id);
    return row !== null && nextTryOf(row, null, now, 1) === null;
  }

  /** Ends a job and deletes its request. @param message the id of the delivery that carries the outcome. */
  finish(id: string, status: Exclude<JobStatus, 'pending'>, reason: string | null, message: string, now: number): void {
    this.#sql.exec(
      `UPDATE jobs_v1 SET status = ?, reason = ?, message = ?, finished_ms = ?, next_ms = NULL, attempts = attempts + 1
       WHERE id = ?`,
      status,
      reason,
      message,
      now,
      id,
    );
    this.#texts.delete(id);
  }

  /** Schedules the next try. Returns false, and changes nothing, once the window is over. @param random in [0, 1). */
  postpone(id: string, reason: string, retry_after_s: number | null, now: number, random: number): boolean {
    const row = this.#row(id);
    if (row === null) return true;
    const next = nextTryOf(row, retry_after_s, now, random);
    if (next === null) return false;
    // The call of a judge that is still running is joined; nothing has failed.
    const isRunning = reason === 'judge_running';
    this.#sql.exec(
      'UPDATE jobs_v1 SET attempts = attempts + ?, reason = ?, next_ms = ? WHERE id = ?',
      isRunning ? 0 : 1,
      reason,
      isRunning ? now + Math.max(1, retry_after_s ?? 1) * 1000 : next,
      id,
    );
    return true;
  }

  describe(id: string): Omit<JobDescription, 'event'> | null {
    const row = this.#row(id);
    if (row === null) return null;
    return {
      id,
      webhook_id: row.webhook_id,
      status: row.status,
      created_at: timeText(row.created_ms),
      finished_at: row.finished_ms === null ? null : timeText(row.finished_ms),
      attempts: row.attempts,
      next_attempt_at: row.next_ms === null ? null : timeText(row.next_ms),
      reason: row.reason,
      message: row.message,
    };
  }

  /** Deletes finished jobs that are too old or too many. */
  tidy(now: number): void {
    this.#sql.exec(
      'DELETE FROM jobs_v1 WHERE id IN (SELECT id FROM jobs_v1 WHERE finished_ms <= ? ORDER BY finished_ms LIMIT ?)',
      now - JOB_KEPT_MS,
      DELETED_AT_ONCE,
    );
    this.#sql.exec(
      `DELETE FROM jobs_v1 WHERE id IN (
         SELECT id FROM jobs_v1 WHERE finished_ms IS NOT NULL ORDER BY finished_ms DESC LIMIT ? OFFSET ?
       )`,
      DELETED_AT_ONCE,
      MAX_JOBS_KEPT,
    );
  }

  /** When `tidy` can delete the next job, in milliseconds since 1970; `null` = no job has finished. */
  nextTidy(): number | null {
    const finished = this.#time('SELECT MIN(finished_ms) AS at FROM jobs_v1');
    return finished === null ? null : finished + JOB_KEPT_MS;
  }

  clear(): void {
    this.#sql.exec('DELETE FROM jobs_v1');
  }

  #isFull(): boolean {
    const { pending } = this.#sql
      .exec<{ pending: number }>(
        "SELECT COUNT(*) AS pending FROM (SELECT 1 FROM jobs_v1 WHERE status = 'pending' LIMIT ?)",
        this.#maxPending,
      )
      .one();
    return pending >= this.#maxPending;
  }

  #row(id: string): Row | null {
    return this.#first<Row>('SELECT * FROM jobs_v1 WHERE id = ?', id) ?? null;
  }

  #time(query: string): number | null {
    return this.#sql.exec<{ at: number | null }>(query).one().at;
  }

  #first<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]): T | undefined {
    return this.#sql.exec<T>(query, ...bindings).toArray()[0];
  }
}

function nextTryOf(row: Row, retry_after_s: number | null, now_ms: number, random: number): number | null {
  return nextTry(JOB_BACKOFF, { failures: row.attempts + 1, began_ms: row.created_ms, now_ms, retry_after_s, random });
}
