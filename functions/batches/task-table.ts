/**
 * The table of a batch's tasks (validate, one per chunk, finalise) in its object's SQLite. A task is sent to the queue,
 * claimed under a lease, and reported. batch-state.ts decides what the tasks mean for the batch.
 */

import * as z from 'zod';
import type { BatchReply } from '../../src/wire/batches/batch.ts';
import type { Chunk } from '../../src/wire/batches/chunk-plan.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import type { ChunkCounts, LineTries, TaskFailureReason } from './batch-messages.ts';
import { MAX_CHUNK_LOSSES } from './batch-timing.ts';

/**
 * `pending`: not sent yet. `sent`: a message is in the queue until `due_at`. `held`: claimed until `due_at`. `waiting`:
 * sent again at `due_at`. `dead`: failed too often. `skipped`: the batch ended first.
 */
type TaskState = 'pending' | 'sent' | 'held' | 'waiting' | 'done' | 'dead' | 'skipped';

export type TaskRow = {
  /** Number of the chunk; below 0 = validation or the finaliser (batch-messages.ts). */
  n: number;
  state: TaskState;
  due_at: number;
  /** Token of the last claim, until its holder reports. */
  token: string | null;
  /**
   * Counters of the task: rounds in which a judge failed (`rounds`), failures that the lines did not cause
   * (`failures`), and claims whose holder never reported (`losses`).
   */
  rounds: number;
  failures: number;
  losses: number;
  reason: string | null;
  /** `LineTries` as JSON. */
  tries: string;
  completed: number;
  failed: number;
  /** Stored objects with its results; `null` = an earlier version of the Worker did not count them. */
  parts: number | null;
  first_line: number;
  requests: number;
  start: number;
  end_at: number;
};

/** Sums over the chunks. */
export type TaskCounts = {
  chunks: number;
  done: number;
  waiting: number;
  dead: number;
  completed: number;
  failed: number;
  /** Requests that were never sent, because the batch ended first. */
  skipped: number;
};

const triesSchema = z.record(z.string(), z.int());

/**
 * SQL condition: whether the holder of a token may still use the task. A holder whose lease has expired keeps its token
 * and regains the task, unless another consumer has claimed the task.
 */
const HOLDABLE = "token = ? AND state IN ('held', 'sent', 'waiting')";

export class TaskTable {
  readonly #sql: SqlStorage;
  #hasParts = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Creates the table. Called before any other method. */
  make(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS tasks_v1 (
         n INTEGER PRIMARY KEY, state TEXT NOT NULL, due_at INTEGER NOT NULL, token TEXT, rounds INTEGER NOT NULL,
         failures INTEGER NOT NULL, losses INTEGER NOT NULL, reason TEXT, tries TEXT NOT NULL, completed INTEGER NOT NULL,
         failed INTEGER NOT NULL, first_line INTEGER NOT NULL, requests INTEGER NOT NULL, start INTEGER NOT NULL,
         end_at INTEGER NOT NULL
       ) STRICT`,
    );
    this.#sql.exec('CREATE INDEX IF NOT EXISTS tasks_v1_state ON tasks_v1 (state, due_at)');
    this.#addParts();
  }

  /** Adds the column that tables of an earlier version of the Worker lack. Called before a task is claimed. */
  #addParts(): void {
    if (this.#hasParts) return;
    const columns = this.#sql.exec<{ name: string }>('PRAGMA table_info(tasks_v1)').toArray();
    if (!columns.some(({ name }) => name === 'parts')) this.#sql.exec('ALTER TABLE tasks_v1 ADD COLUMN parts INTEGER');
    this.#hasParts = true;
  }

  add(n: number, { first_line, requests, start, end }: Chunk): void {
    this.#sql.exec(
      `INSERT OR IGNORE INTO tasks_v1 (n, state, due_at, rounds, failures, losses, tries, completed, failed, first_line,
         requests, start, end_at) VALUES (?, 'pending', 0, 0, 0, 0, '{}', 0, 0, ?, ?, ?, ?)`,
      n,
      first_line,
      requests,
      start,
      end,
    );
  }

  find(n: number): TaskRow | null {
    return this.#sql.exec<TaskRow>('SELECT * FROM tasks_v1 WHERE n = ?', n).toArray()[0] ?? null;
  }

  /** All chunks in file order. */
  chunks(): TaskRow[] {
    return this.#sql.exec<TaskRow>('SELECT * FROM tasks_v1 WHERE n >= 0 ORDER BY n').toArray();
  }

  /**
   * Marks due tasks as sent and returns them, tasks that were sent before first. At most `most` tasks are in flight.
   * @param trusted_until when an unclaimed message counts as lost.
   */
  take(most: number, now: number, trusted_until: number): number[] {
    // Messages that were never claimed, and holders whose lease has expired.
    this.#sql.exec(
      `UPDATE tasks_v1 SET losses = losses + (state = 'held'), state = 'waiting'
       WHERE state IN ('sent', 'held') AND due_at <= ?`,
      now,
    );
    this.#sql.exec(
      `UPDATE tasks_v1 SET state = 'dead', reason = 'consumer_lost', token = NULL
       WHERE state = 'waiting' AND losses >= ? AND n >= 0`,
      MAX_CHUNK_LOSSES,
    );
    const room = most - this.#number("SELECT COUNT(*) AS number FROM tasks_v1 WHERE state IN ('sent', 'held')");
    const tasks = this.#sql
      .exec<{ n: number }>(
        `SELECT n FROM tasks_v1 WHERE state = 'pending' OR (state = 'waiting' AND due_at <= ?)
         ORDER BY state = 'pending', due_at, n LIMIT ?`,
        now,
        Math.max(0, room),
      )
      .toArray()
      .map(({ n }) => n);
    for (const n of tasks)
      this.#sql.exec("UPDATE tasks_v1 SET state = 'sent', due_at = ? WHERE n = ?", trusted_until, n);
    return tasks;
  }

  /** Postpones tasks whose message may not have been sent. */
  untake(tasks: readonly number[], due_at: number): void {
    for (const n of tasks) {
      // If the queue has the message after all, a consumer may hold the task or have finished it by now.
      this.#sql.exec("UPDATE tasks_v1 SET state = 'waiting', due_at = ? WHERE n = ? AND state = 'sent'", due_at, n);
    }
  }

  /** Makes all sent messages due again. */
  distrust(now: number): void {
    this.#sql.exec("UPDATE tasks_v1 SET due_at = ? WHERE state = 'sent'", now);
  }

  hold(n: number, token: string, until: number): void {
    this.#addParts();
    this.#sql.exec(
      "UPDATE tasks_v1 SET losses = losses + (state = 'held'), state = 'held', due_at = ?, token = ? WHERE n = ?",
      until,
      token,
      n,
    );
  }

  /** Extends a lease. Returns false if the token has lost the task. */
  extend(n: number, token: string, until: number): boolean {
    const held = this.#sql.exec(
      `UPDATE tasks_v1 SET state = 'held', due_at = ? WHERE n = ? AND ${HOLDABLE}`,
      until,
      n,
      token,
    );
    return held.rowsWritten > 0;
  }

  isHeldWith(n: number, token: string): boolean {
    return this.#sql.exec(`SELECT n FROM tasks_v1 WHERE n = ? AND ${HOLDABLE}`, n, token).toArray().length > 0;
  }

  finish(n: number, { completed, failed, parts }: ChunkCounts): void {
    this.#addParts();
    this.#sql.exec(
      "UPDATE tasks_v1 SET state = 'done', token = NULL, completed = ?, failed = ?, parts = ? WHERE n = ?",
      completed,
      failed,
      parts ?? null,
      n,
    );
  }

  /** Makes a task pending again after a step of it. */
  goOn(n: number): void {
    this.#addParts();
    this.#sql.exec("UPDATE tasks_v1 SET state = 'pending', token = NULL, due_at = 0 WHERE n = ?", n);
  }

  /** Schedules another round at `due_at` for the lines whose judge failed. */
  repeat(n: number, counts: ChunkCounts, tries: LineTries, due_at: number): void {
    this.handOn(n, counts, tries);
    this.#sql.exec("UPDATE tasks_v1 SET state = 'waiting', rounds = rounds + 1, due_at = ? WHERE n = ?", due_at, n);
  }

  /** Makes a chunk pending for its next lines. */
  handOn(n: number, { completed, failed, parts }: ChunkCounts, tries: LineTries): void {
    this.goOn(n);
    this.#sql.exec(
      'UPDATE tasks_v1 SET completed = ?, failed = ?, parts = ?, tries = ? WHERE n = ?',
      completed,
      failed,
      parts ?? null,
      JSON.stringify(tries),
      n,
    );
  }

  /** Records a failure that the lines did not cause. Retries at `due_at`; `null` makes the task a dead letter. */
  fail(n: number, reason: TaskFailureReason, due_at: number | null): void {
    this.#sql.exec(
      'UPDATE tasks_v1 SET state = ?, token = NULL, failures = failures + 1, reason = ?, due_at = ? WHERE n = ?',
      due_at === null ? 'dead' : 'waiting',
      reason,
      due_at ?? 0,
      n,
    );
  }

  /** Skips all chunks that no consumer holds. Held chunks may still finish. */
  skipOpen(now: number): void {
    this.#sql.exec(
      `UPDATE tasks_v1 SET state = 'skipped', token = NULL
       WHERE n >= 0 AND (state IN ('pending', 'sent', 'waiting', 'dead') OR (state = 'held' AND due_at <= ?))`,
      now,
    );
  }

  skip(n: number): void {
    this.#sql.exec("UPDATE tasks_v1 SET state = 'skipped', token = NULL WHERE n = ?", n);
  }

  /** Resets the dead letters to pending. Returns their number. */
  revive(): number {
    const dead = this.#number("SELECT COUNT(*) AS number FROM tasks_v1 WHERE state = 'dead'");
    this.#sql.exec(
      "UPDATE tasks_v1 SET state = 'pending', due_at = 0, failures = 0, losses = 0, reason = NULL WHERE state = 'dead'",
    );
    return dead;
  }

  /** Whether a chunk is neither finished nor a dead letter. */
  get hasOpenChunks(): boolean {
    return this.#has("n >= 0 AND state IN ('pending', 'sent', 'held', 'waiting')");
  }

  get hasDead(): boolean {
    return this.#has("state = 'dead'");
  }

  /** Whether a task is pending, in the queue or with a consumer. */
  get isBusy(): boolean {
    return this.#has("state IN ('pending', 'sent', 'held')");
  }

  /** When the first waiting task is due, in milliseconds since 1970; `null` = none waits. */
  get nextDue(): number | null {
    return this.#sql
      .exec<{ due: number | null }>("SELECT MIN(due_at) AS due FROM tasks_v1 WHERE state = 'waiting'")
      .one().due;
  }

  counts(): TaskCounts {
    return this.#sql
      .exec<TaskCounts>(
        `SELECT COUNT(*) AS chunks, COALESCE(SUM(state = 'done'), 0) AS done, COALESCE(SUM(state = 'waiting'), 0) AS waiting,
                COALESCE(SUM(state = 'dead'), 0) AS dead, COALESCE(SUM(completed), 0) AS completed,
                COALESCE(SUM(failed), 0) AS failed,
                COALESCE(SUM(CASE WHEN state = 'skipped' THEN requests - completed - failed ELSE 0 END), 0) AS skipped
         FROM tasks_v1 WHERE n >= 0`,
      )
      .one();
  }

  deadLetters(): BatchReply['dead_letters'] {
    return this.#sql
      .exec<TaskRow>("SELECT * FROM tasks_v1 WHERE state = 'dead' ORDER BY n LIMIT 100")
      .toArray()
      .map(({ n, first_line, requests, failures, losses, reason }) => ({
        chunk: n,
        first_line,
        requests,
        attempts: failures + losses,
        reason: reason ?? 'unknown',
      }));
  }

  #has(condition: string): boolean {
    return this.#sql.exec(`SELECT 1 FROM tasks_v1 WHERE ${condition} LIMIT 1`).toArray().length > 0;
  }

  #number(query: string): number {
    return this.#sql.exec<{ number: number }>(query).one().number;
  }
}

export function chunkOf({ first_line, requests, start, end_at }: TaskRow): Chunk {
  return { first_line, requests, start, end: end_at };
}

/** Parses the tries of a task. @throws UnknownForm */
export function triesOf({ tries }: TaskRow): LineTries {
  const parsed = triesSchema.safeParse(JSON.parse(tries));
  if (!parsed.success) throw new UnknownForm('tries of a task');
  return parsed.data;
}
