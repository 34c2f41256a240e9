/**
 * Stores the deliveries of one endpoint, their attempts and their state. Delivery is at least once: a restart during an
 * attempt causes another one, and receivers recognise repeats by the `webhook-id`. STORAGE.md has the tables.
 */

import { newId } from '../../service/ids.ts';
import { currentTraceparent } from '../../service/trace-context.ts';
import type { DeliveryState } from '../../src/wire/webhooks.ts';
import type { DeliveriesReply, DeliveryReply } from '../../src/wire/webhooks-reply.ts';
import { addTextColumn } from './added-column.ts';
import type { Attempt } from './attempt.ts';
import { DELIVERY_BACKOFF, nextTry } from './backoff.ts';
import { type DeliveriesMessage, type DeliveryDescription, timeText } from './endpoint-messages.ts';
import type { StoredTexts } from './stored-texts.ts';
import type { DueWork } from './work-loop.ts';

type DeliveryRow = {
  seq: number;
  id: string;
  type: string;
  state: DeliveryState;
  bytes: number;
  created_ms: number;
  window_ms: number;
  failures: number;
  attempts: number;
  next_ms: number | null;
  settled_ms: number | null;
  reason: string | null;
  trace: string | null;
};

type NewEvent = {
  readonly type: string;
  /** JSON. */
  readonly data: string;
  /** Events with the same key are enqueued once; `null` = no key. */
  readonly key: string | null;
};

type AttemptRow = { at_ms: number; status: number | null; reason: string | null; duration_ms: number };

/** Maximum number of pending deliveries of one endpoint; further events are refused. */
const MAX_PENDING_DELIVERIES = 10_000;
/** How long a settled delivery is kept, by state. */
const KEPT = [
  ['delivered', 7 * 24 * 60 * 60 * 1000],
  ['dead', 30 * 24 * 60 * 60 * 1000],
] as const;
/** Maximum numbers of settled deliveries kept per state, and of attempts kept per delivery. */
const MAX_DELIVERIES_KEPT = 10_000;
const MAX_ATTEMPTS_KEPT = 50;
/** Rows that one `tidy` deletes at most per state and reason. */
const DELETED_AT_ONCE = 500;

export class Outbox {
  readonly #sql: SqlStorage;
  readonly #texts: StoredTexts;

  constructor(sql: SqlStorage, texts: StoredTexts) {
    this.#sql = sql;
    this.#texts = texts;
    sql.exec(`CREATE TABLE IF NOT EXISTS deliveries_v1 (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT UNIQUE, type TEXT NOT NULL, state TEXT NOT NULL,
      bytes INTEGER NOT NULL, created_ms INTEGER NOT NULL, window_ms INTEGER NOT NULL, failures INTEGER NOT NULL,
      attempts INTEGER NOT NULL, next_ms INTEGER, settled_ms INTEGER, reason TEXT
    ) STRICT`);
    addTextColumn(sql, 'deliveries_v1', 'trace');
    sql.exec('CREATE INDEX IF NOT EXISTS deliveries_v1_due ON deliveries_v1 (state, next_ms)');
    sql.exec('CREATE INDEX IF NOT EXISTS deliveries_v1_settled ON deliveries_v1 (state, settled_ms)');
    sql.exec(`CREATE TABLE IF NOT EXISTS attempts_v1 (
      message TEXT NOT NULL, n INTEGER NOT NULL, at_ms INTEGER NOT NULL, status INTEGER, reason TEXT,
      duration_ms INTEGER NOT NULL, PRIMARY KEY (message, n)
    ) STRICT, WITHOUT ROWID`);
  }

  isFull(): boolean {
    const { pending } = this.#sql
      .exec<{ pending: number }>(
        "SELECT COUNT(*) AS pending FROM (SELECT 1 FROM deliveries_v1 WHERE state = 'pending' LIMIT ?)",
        MAX_PENDING_DELIVERIES,
      )
      .one();
    return pending >= MAX_PENDING_DELIVERIES;
  }

  /** Adds a message that is due now. Returns its id, or the id of the earlier message with the same key. */
  add({ type, data, key }: NewEvent, now: number): string {
    const known =
      key === null ? undefined : this.#first<{ id: string }>('SELECT id FROM deliveries_v1 WHERE key = ?', key);
    if (known !== undefined) return known.id;
    const id = newId('msg_');
    const head = JSON.stringify({ type, timestamp: timeText(now) });
    const body = new TextEncoder().encode(`${head.slice(0, -1)},"data":${data}}`);
    this.#sql.exec(
      `INSERT INTO deliveries_v1 (id, key, type, state, bytes, created_ms, window_ms, failures, attempts, next_ms, trace)
       VALUES (?, ?, ?, 'pending', ?, ?, ?, 0, 0, ?, ?)`,
      id,
      key,
      type,
      body.length,
      now,
      now,
      now,
      currentTraceparent(),
    );
    this.#texts.add(id, body);
    return id;
  }

  due(now: number, limit: number): DueWork[] {
    return this.#sql
      .exec<DueWork>(
        `SELECT id, bytes FROM deliveries_v1 WHERE state = 'pending' AND next_ms <= ? ORDER BY next_ms LIMIT ?`,
        now,
        limit,
      )
      .toArray();
  }

  nextDue(): number | null {
    return this.#time("SELECT MIN(next_ms) AS at FROM deliveries_v1 WHERE state = 'pending'");
  }

  body(id: string): Uint8Array {
    return this.#texts.read(id);
  }

  /** The `traceparent` of the work that added the message; `null` = none. */
  trace(id: string): string | null {
    return this.#row(id)?.trace ?? null;
  }

  /**
   * Records an attempt and decides the next state: delivered, dead, or pending with a retry. @param random in [0, 1).
   */
  settle(id: string, attempt: Attempt, now: number, random: number): void {
    const row = this.#row(id);
    // The endpoint has been deleted since.
    if (row === null) return;
    this.#note(row, attempt);
    if (attempt.reason === null) {
      this.#end(id, 'delivered', null, now);
      return;
    }
    const failures = row.failures + 1;
    const { retry_after_s } = attempt;
    const failed = { failures, began_ms: row.window_ms, now_ms: now, retry_after_s, random };
    const next = attempt.reason === 'gone' ? null : nextTry(DELIVERY_BACKOFF, failed);
    if (next === null) {
      this.#end(id, 'dead', attempt.reason, now);
      return;
    }
    this.#sql.exec(
      "UPDATE deliveries_v1 SET state = 'pending', failures = ?, next_ms = ?, reason = ? WHERE id = ?",
      failures,
      next,
      attempt.reason,
      id,
    );
  }

  /** Restarts the tries of a message in any state. Returns false if the id is unknown. */
  resend(id: string, now: number): boolean {
    return (
      this.#first(
        `UPDATE deliveries_v1 SET state = 'pending', window_ms = ?, failures = 0, next_ms = ?, settled_ms = NULL,
           reason = NULL WHERE id = ? RETURNING id`,
        now,
        now,
        id,
      ) !== undefined
    );
  }

  /** Ends pending messages whose window is over. For disabled endpoints, which make no attempts. */
  expire(now: number): void {
    this.#sql.exec(
      `UPDATE deliveries_v1 SET state = 'dead', reason = 'endpoint_disabled', settled_ms = ?, next_ms = NULL
       WHERE state = 'pending' AND window_ms <= ?`,
      now,
      now - DELIVERY_BACKOFF.window_ms,
    );
  }

  /** When `expire` can end the next message; `null` = none is pending. */
  nextExpiry(): number | null {
    const began = this.#time("SELECT MIN(window_ms) AS at FROM deliveries_v1 WHERE state = 'pending'");
    return began === null ? null : began + DELIVERY_BACKOFF.window_ms;
  }

  /** Deletes settled messages that are too old or too many. */
  tidy(now: number): void {
    for (const [state, kept_ms] of KEPT) {
      const old = this.#ids(
        'state = ? AND settled_ms <= ? ORDER BY settled_ms LIMIT ?',
        state,
        now - kept_ms,
        DELETED_AT_ONCE,
      );
      const beyond = this.#ids(
        'state = ? ORDER BY settled_ms DESC LIMIT ? OFFSET ?',
        state,
        DELETED_AT_ONCE,
        MAX_DELIVERIES_KEPT,
      );
      for (const id of new Set([...old, ...beyond])) this.#delete(id);
    }
  }

  /** When `tidy` can delete the next message; `null` = none is settled. */
  nextTidy(): number | null {
    const times = KEPT.flatMap(([state, kept_ms]) => {
      const settled = this.#time('SELECT MIN(settled_ms) AS at FROM deliveries_v1 WHERE state = ?', state);
      return settled === null ? [] : [settled + kept_ms];
    });
    return times.length === 0 ? null : Math.min(...times);
  }

  /** One page of deliveries, the newest first. Returns `null` if the message `after` is unknown. */
  page({ state, limit, after }: Omit<DeliveriesMessage, 'v'>): DeliveriesReply | null {
    const from = after === null ? null : this.#row(after);
    if (after !== null && from === null) return null;
    const rows = this.#sql
      .exec<DeliveryRow>(
        `SELECT * FROM deliveries_v1 WHERE seq < ? AND (? IS NULL OR state = ?) ORDER BY seq DESC LIMIT ?`,
        from?.seq ?? Number.MAX_SAFE_INTEGER,
        state,
        state,
        limit + 1,
      )
      .toArray();
    const shown = rows.slice(0, limit).map(replyOf);
    return { deliveries: shown, next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
  }

  /** One delivery with its attempts and its body; `null` if the id is unknown. */
  describe(id: string): DeliveryDescription | null {
    const row = this.#row(id);
    if (row === null) return null;
    const attempts = this.#sql
      .exec<AttemptRow>('SELECT at_ms, status, reason, duration_ms FROM attempts_v1 WHERE message = ? ORDER BY n', id)
      .toArray();
    return {
      ...replyOf(row),
      attempt_log: attempts.map(({ at_ms, ...attempt }) => ({ at: timeText(at_ms), ...attempt })),
      event: this.text(id) ?? '',
    };
  }

  /** The body of a message as text; `null` once it is deleted. */
  text(id: string): string | null {
    const bytes = this.body(id);
    return bytes.length === 0 ? null : new TextDecoder().decode(bytes);
  }

  clear(): void {
    this.#sql.exec('DELETE FROM deliveries_v1');
    this.#sql.exec('DELETE FROM attempts_v1');
  }

  #note({ id, attempts }: DeliveryRow, { at_ms, status, reason, duration_ms }: Attempt): void {
    this.#sql.exec(
      'INSERT INTO attempts_v1 (message, n, at_ms, status, reason, duration_ms) VALUES (?, ?, ?, ?, ?, ?)',
      id,
      attempts + 1,
      at_ms,
      status,
      reason,
      duration_ms,
    );
    this.#sql.exec('DELETE FROM attempts_v1 WHERE message = ? AND n <= ?', id, attempts + 1 - MAX_ATTEMPTS_KEPT);
    this.#sql.exec('UPDATE deliveries_v1 SET attempts = attempts + 1 WHERE id = ?', id);
  }

  #end(id: string, state: 'delivered' | 'dead', reason: string | null, now: number): void {
    this.#sql.exec(
      'UPDATE deliveries_v1 SET state = ?, reason = ?, settled_ms = ?, next_ms = NULL WHERE id = ?',
      state,
      reason,
      now,
      id,
    );
  }

  #delete(id: string): void {
    this.#sql.exec('DELETE FROM deliveries_v1 WHERE id = ?', id);
    this.#sql.exec('DELETE FROM attempts_v1 WHERE message = ?', id);
    this.#texts.delete(id);
  }

  #row(id: string): DeliveryRow | null {
    return this.#first<DeliveryRow>('SELECT * FROM deliveries_v1 WHERE id = ?', id) ?? null;
  }

  #ids(where: string, ...bindings: SqlStorageValue[]): string[] {
    return this.#sql
      .exec<{ id: string }>(`SELECT id FROM deliveries_v1 WHERE ${where}`, ...bindings)
      .toArray()
      .map(({ id }) => id);
  }

  #time(query: string, ...bindings: SqlStorageValue[]): number | null {
    return this.#sql.exec<{ at: number | null }>(query, ...bindings).one().at;
  }

  #first<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]): T | undefined {
    return this.#sql.exec<T>(query, ...bindings).toArray()[0];
  }
}

function replyOf({ id, type, state, created_ms, settled_ms, next_ms, attempts, reason }: DeliveryRow): DeliveryReply {
  return {
    id,
    type,
    state,
    created_at: timeText(created_ms),
    settled_at: settled_ms === null ? null : timeText(settled_ms),
    next_attempt_at: next_ms === null ? null : timeText(next_ms),
    attempts,
    reason,
  };
}
