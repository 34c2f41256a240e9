/**
 * The judgments that one desk has just finished. It writes each to SQLite first, then to KV: a restart in between loses
 * nothing, and KV's stale misses (up to 60 s) do not cause a second judge call. The alarm retries failed KV writes and
 * deletes old rows. STORAGE.md describes the table.
 */

import type { Judgment } from '../../src/judgments/judgment.ts';
import { checkRecord } from '../../src/judgments/record.ts';
import type { JudgmentStore, StoreReceipt } from '../../src/judgments/store.ts';

/** How long a desk keeps a finished judgment: ten times the longest stale miss of KV. */
const FINISHED_JUDGMENT_MS = 10 * 60 * 1000;
/** How often a failed KV write is retried; the desk gives up after MAX_UNSTORED_MS. */
const STORE_RETRY_MS = 60 * 1000;
const MAX_UNSTORED_MS = 24 * 60 * 60 * 1000;

/** KV writes of one alarm; if more are left, the next alarm follows at once. */
const RETRIES_PER_ALARM = 100;
const SOON_MS = 1_000;

type Alarms = Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm'>;

export class BridgedJudgments {
  readonly #finished: FinishedJudgments;
  readonly #kv: JudgmentStore;
  readonly #alarms: Alarms;
  readonly #now: () => number;

  constructor(finished: FinishedJudgments, kv: JudgmentStore, alarms: Alarms, now: () => number) {
    this.#finished = finished;
    this.#kv = kv;
    this.#alarms = alarms;
    this.#now = now;
  }

  /** Finds a judgment that this desk has finished, and retries its KV write if that has failed. */
  async find(key: string): Promise<{ readonly judgment: Judgment; readonly receipt: StoreReceipt } | null> {
    const found = await this.#finished.get(key);
    if (found === null) return null;
    const { judgment, inKv } = found;
    return { judgment, receipt: inKv ? { ok: true } : await this.#toKv(judgment) };
  }

  /** Stores a judgment; resolves when SQLite has it and KV has answered. */
  async keep(judgment: Judgment): Promise<StoreReceipt> {
    this.#finished.add(judgment, this.#now());
    await this.#wakeAt(this.#now() + STORE_RETRY_MS);
    return this.#toKv(judgment);
  }

  /** The work of the alarm: retries KV writes and deletes old rows. */
  async tidy(): Promise<void> {
    for (const judgment of await this.#finished.notInKv(RETRIES_PER_ALARM)) {
      const receipt = await this.#toKv(judgment);
      if (!receipt.ok) break;
    }
    const now = this.#now();
    const lost = this.#finished.purge(now - FINISHED_JUDGMENT_MS, now - MAX_UNSTORED_MS);
    if (lost > 0) console.error(JSON.stringify({ event: 'judgments_given_up', count: lost }));
    const { inKv, notInKv } = this.#finished.oldest();
    if (notInKv !== null) await this.#wakeAt(now + STORE_RETRY_MS);
    else if (inKv !== null) await this.#wakeAt(Math.max(inKv + FINISHED_JUDGMENT_MS, now + SOON_MS));
  }

  async #toKv(judgment: Judgment): Promise<StoreReceipt> {
    const receipt = await this.#kv.put(judgment);
    if (receipt.ok) this.#finished.markInKv(judgment.key);
    return receipt;
  }

  /** A Durable Object has one alarm: this method only ever moves it earlier. */
  async #wakeAt(time: number): Promise<void> {
    const set = await this.#alarms.getAlarm();
    if (set === null || set > time) await this.#alarms.setAlarm(time);
  }
}

type FinishedJudgment = { readonly judgment: Judgment; readonly inKv: boolean };

type Row = { record: string; in_kv: number };
type KeyedRow = Row & { key: string };

export class FinishedJudgments {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS finished_v1 (
      key TEXT PRIMARY KEY, record TEXT NOT NULL, in_kv INTEGER NOT NULL, finished_ms INTEGER NOT NULL
    ) WITHOUT ROWID`);
    sql.exec('CREATE INDEX IF NOT EXISTS finished_v1_by_time ON finished_v1 (in_kv, finished_ms)');
  }

  /** @throws Error if the row is not a valid judgment; only this class writes rows. */
  async get(key: string): Promise<FinishedJudgment | null> {
    const [row] = this.#sql.exec<Row>('SELECT record, in_kv FROM finished_v1 WHERE key = ?', key);
    return row === undefined ? null : read(key, row);
  }

  /** Stores a judgment that KV does not have yet. */
  add(judgment: Judgment, now: number): void {
    this.#sql.exec(
      'INSERT OR REPLACE INTO finished_v1 (key, record, in_kv, finished_ms) VALUES (?, ?, 0, ?)',
      judgment.key,
      JSON.stringify(judgment),
      now,
    );
  }

  markInKv(key: string): void {
    this.#sql.exec('UPDATE finished_v1 SET in_kv = 1 WHERE key = ?', key);
  }

  /** Judgments that are not in KV, oldest first. */
  async notInKv(limit: number): Promise<Judgment[]> {
    const rows = this.#sql
      .exec<KeyedRow>('SELECT key, record, in_kv FROM finished_v1 WHERE in_kv = 0 ORDER BY finished_ms LIMIT ?', limit)
      .toArray();
    return Promise.all(rows.map(async (row) => (await read(row.key, row)).judgment));
  }

  /** Deletes old rows. Returns how many of them never reached KV. */
  purge(inKvBefore: number, notInKvBefore: number): number {
    this.#sql.exec('DELETE FROM finished_v1 WHERE in_kv = 1 AND finished_ms <= ?', inKvBefore);
    return this.#sql
      .exec('DELETE FROM finished_v1 WHERE in_kv = 0 AND finished_ms <= ? RETURNING key', notInKvBefore)
      .toArray().length;
  }

  /** When the oldest row of either kind was finished, in milliseconds since 1970. */
  oldest(): { readonly inKv: number | null; readonly notInKv: number | null } {
    const oldestOf = (inKv: number): number | null =>
      this.#sql
        .exec<{ at: number | null }>('SELECT MIN(finished_ms) AS at FROM finished_v1 WHERE in_kv = ?', inKv)
        .one().at;
    return { inKv: oldestOf(1), notInKv: oldestOf(0) };
  }
}

async function read(key: string, row: Row): Promise<FinishedJudgment> {
  const stored = checkRecord(key, row.record);
  if (!stored.ok) throw new Error(`finished_v1 holds an unusable record: ${stored.failure.detail}`);
  return { judgment: stored.judgment, inKv: row.in_kv === 1 };
}
