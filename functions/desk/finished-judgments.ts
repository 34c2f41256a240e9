/**
 * What a desk has just finished, in its SQLite: it bridges the time in which KV may still serve a miss, survives a restart
 * of the object, and holds what KV did not take until it does. STORAGE.md describes the table.
 */
import { checkRecord } from '../../src/judgments/record.ts';
import type { Judgment } from '../../src/judgments/types.ts';

export type FinishedJudgment = { readonly judgment: Judgment; readonly inKv: boolean };

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

  /** @throws Error if the row is not a judgment, which only this class writes. */
  async get(key: string): Promise<FinishedJudgment | null> {
    const [row] = this.#sql.exec<Row>('SELECT record, in_kv FROM finished_v1 WHERE key = ?', key);
    return row === undefined ? null : read(key, row);
  }

  /** Keeps a judgment that KV does not have yet. */
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

  /** Judgments that KV has not taken, oldest first. */
  async notInKv(limit: number): Promise<Judgment[]> {
    const rows = this.#sql
      .exec<KeyedRow>('SELECT key, record, in_kv FROM finished_v1 WHERE in_kv = 0 ORDER BY finished_ms LIMIT ?', limit)
      .toArray();
    return Promise.all(rows.map(async (row) => (await read(row.key, row)).judgment));
  }

  /** Forgets what is old enough. Returns how many were given up without KV having them. */
  purge(inKvBefore: number, notInKvBefore: number): number {
    this.#sql.exec('DELETE FROM finished_v1 WHERE in_kv = 1 AND finished_ms <= ?', inKvBefore);
    return this.#sql
      .exec('DELETE FROM finished_v1 WHERE in_kv = 0 AND finished_ms <= ? RETURNING key', notInKvBefore)
      .toArray().length;
  }

  /** When the oldest row of either kind was finished. */
  oldest(): { readonly inKv: number | null; readonly notInKv: number | null } {
    const oldestOf = (inKv: number): number | null =>
      this.#sql
        .exec<{ at: number | null }>('SELECT MIN(finished_ms) AS at FROM finished_v1 WHERE in_kv = ?', inKv)
        .one().at;
    return { inKv: oldestOf(1), notInKv: oldestOf(0) };
  }
}

async function read(key: string, row: Row): Promise<FinishedJudgment> {
  const stored = await checkRecord(key, row.record);
  if (!stored.ok) throw new Error(`finished_v1 holds an unusable record: ${stored.failure.detail}`);
  return { judgment: stored.judgment, inKv: row.in_kv === 1 };
}
