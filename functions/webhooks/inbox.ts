/**
 * Signed scoring requests of one endpoint, each claimed under its `webhook-id` and scored once. The claim stands in the
 * same SQLite as the work: one transaction makes both, so that there is no claim without a job after a crash, and no
 * second store to be asked. STORAGE.md has the table.
 */
import { JOB_KEPT_MS, MAX_JOBS_KEPT, MAX_PENDING_JOBS } from '../../src/limits.ts';
import type { AcceptedJob, JobStatus } from '../../src/wire/webhooks.ts';
import { newId } from '../storage/ids.ts';
import { JOB_BACKOFF, nextTry } from './backoff.ts';
import type { JobDescription, ReceiveMessage } from './endpoint-messages.ts';
import type { StoredTexts } from './stored-texts.ts';
import { timeText } from './time.ts';
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
};

export type Claim =
  /** A new job, or the one that the id had before. */
  | { readonly status: 'new' | 'known'; readonly job: AcceptedJob }
  | { readonly status: 'id_reused' }
  | { readonly status: 'full' };

const DELETED_AT_ONCE = 500;

export class Inbox {
  readonly #sql: SqlStorage;
  readonly #texts: StoredTexts;

  constructor(sql: SqlStorage, texts: StoredTexts) {
    this.#sql = sql;
    this.#texts = texts;
    sql.exec(`CREATE TABLE IF NOT EXISTS jobs_v1 (
      id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, status TEXT NOT NULL,
      bytes INTEGER NOT NULL, created_ms INTEGER NOT NULL, attempts INTEGER NOT NULL, next_ms INTEGER,
      finished_ms INTEGER, reason TEXT, message TEXT
    ) STRICT`);
    sql.exec('CREATE INDEX IF NOT EXISTS jobs_v1_due ON jobs_v1 (status, next_ms)');
    sql.exec('CREATE INDEX IF NOT EXISTS jobs_v1_finished ON jobs_v1 (finished_ms)');
  }

  /** Claims the id for a request, once. @param full nothing new is taken. */
  claim({ webhook_id, digest, body }: Omit<ReceiveMessage, 'v'>, full: boolean, now: number): Claim {
    const known = this.#first<Row>('SELECT * FROM jobs_v1 WHERE webhook_id = ?', webhook_id);
    if (known !== undefined) {
      if (known.digest !== digest) return { status: 'id_reused' };
      return { status: 'known', job: { job: known.id, webhook_id, status: known.status } };
    }
    if (full || this.#isFull()) return { status: 'full' };
    const id = newId('job_');
    this.#sql.exec(
      `INSERT INTO jobs_v1 (id, webhook_id, digest, status, bytes, created_ms, attempts, next_ms)
       VALUES (?, ?, ?, 'pending', ?, ?, 0, ?)`,
      id,
      webhook_id,
      digest,
      body.length,
      now,
      now,
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

  /** What is to be scored; `null` where there is no such pending job (any more). */
  open(id: string): { readonly webhook_id: string; readonly body: Uint8Array } | null {
    const row = this.#row(id);
    return row?.status === 'pending' ? { webhook_id: row.webhook_id, body: this.#texts.read(id) } : null;
  }

  /** Whether a failure now would leave no time for another try. */
  isLastTry(id: string, now: number): boolean {
    const row = this.#row(id);
    return row !== null && nextTryOf(row, null, now, 1) === null;
  }

  /** Ends a job; its request is forgotten. @param message the delivery of the outcome. */
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

  /** Puts a job off. False = its time is over, and nothing was changed. @param random in [0, 1). */
  postpone(id: string, reason: string, retry_after_s: number | null, now: number, random: number): boolean {
    const row = this.#row(id);
    if (row === null) return true;
    const next = nextTryOf(row, retry_after_s, now, random);
    if (next === null) return false;
    this.#sql.exec(
      'UPDATE jobs_v1 SET attempts = attempts + 1, reason = ?, next_ms = ? WHERE id = ?',
      reason,
      next,
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

  /** Forgets jobs that are old, or too many. */
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

  /** When the next job is to be forgotten. */
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
        MAX_PENDING_JOBS,
      )
      .one();
    return pending >= MAX_PENDING_JOBS;
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
