/**
 * The SQLite tables of the judgments that one desk has finished. A table has the judgments of five minutes and is
 * dropped whole, which writes no rows; STORAGE.md describes the tables. Which judgments KV lacks is known in memory. A
 * table's `in_kv` says how far it has reached KV, so that a restart puts few judgments again.
 */

/** The time that one table covers. */
const TABLE_MS = 5 * 60 * 1000;
/** How long a table is kept after KV has all of it: ten times the longest stale miss of KV. */
const KEPT_MS = 10 * 60 * 1000;
/** Characters of records that a desk also has in memory until KV has them: those of about a second. */
const MAX_CHARS_IN_MEMORY = 512 * 1024;

type Table = {
  /** `finished_ms` of its judgments divided by TABLE_MS; part of its name. */
  readonly period: number;
  /** The keys that KV lacks with their position in the table, oldest first. */
  readonly waiting: Map<string, number>;
  /** The same for records that this version of the Worker cannot read. */
  readonly unreadable: Map<string, number>;
  /** The last position that was loaded at the start: other versions of the Worker may have written up to it. */
  readonly loaded: number;
  /** The last position. */
  last: number;
  /** KV has all records up to this position. */
  in_kv: number;
  /** When KV got the last of them, in milliseconds since 1970. */
  in_kv_ms: number;
};

/** A judgment that KV lacks. `isOwn`: this version of the Worker wrote its record. */
export type WaitingRecord = { readonly table: Table; readonly key: string; readonly isOwn: boolean };

export class FinishedTables {
  readonly #sql: SqlStorage;
  /** Oldest first. */
  readonly #tables: Table[];
  /** Records that KV lacks, by key, so that they need not be read again on their way to KV. */
  readonly #records = new Map<string, string>();
  #chars = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS finished_tables_v2 (
      period INTEGER PRIMARY KEY, in_kv INTEGER NOT NULL, in_kv_ms INTEGER NOT NULL
    )`);
    this.#tables = sql
      .exec<Pick<Table, 'period' | 'in_kv' | 'in_kv_ms'>>('SELECT * FROM finished_tables_v2 ORDER BY period')
      .toArray()
      .map((row) => this.#load(row));
  }

  /** The stored record of a key, or `null`. */
  get(key: string): string | null {
    for (const table of this.#tables.toReversed()) {
      const record = this.#find({ table, key });
      if (record !== null) return record;
    }
    return null;
  }

  recordOf(waiting: WaitingRecord): string {
    const record = this.#records.get(waiting.key) ?? this.#find(waiting);
    if (record === null) throw new Error('FinishedTables: a waiting record is not in its table');
    return record;
  }

  #find({ table, key }: Pick<WaitingRecord, 'table' | 'key'>): string | null {
    const sql = `SELECT record FROM ${nameOf(table.period)} WHERE key = ?`;
    const [row] = this.#sql.exec<{ record: string }>(sql, key);
    return row?.record ?? null;
  }

  /** Stores a record that KV does not have yet. */
  add(key: string, record: string, now: number): void {
    const table = this.#tableAt(now);
    table.last++;
    this.#sql.exec(
      `INSERT OR REPLACE INTO ${nameOf(table.period)} (key, n, record) VALUES (?, ?, ?)`,
      key,
      table.last,
      record,
    );
    // Deleted first, so that the map stays in the order of positions.
    table.waiting.delete(key);
    table.unreadable.delete(key);
    table.waiting.set(key, table.last);
    this.#forget(key);
    if (this.#chars + record.length > MAX_CHARS_IN_MEMORY) return;
    this.#records.set(key, record);
    this.#chars += record.length;
  }

  #forget(key: string): void {
    this.#chars -= this.#records.get(key)?.length ?? 0;
    this.#records.delete(key);
  }

  /** How many judgments KV lacks, without those that this version cannot read. */
  get backlog(): number {
    return this.#tables.reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /** The judgments that KV lacks, oldest first, with those that are added meanwhile. */
  *waiting(): Generator<WaitingRecord> {
    for (const table of this.#tables) {
      for (const [key, position] of table.waiting) yield { table, key, isOwn: position > table.loaded };
    }
  }

  /** Notes that KV has a judgment. `save` stores it. */
  stored({ table, key }: WaitingRecord, now: number): void {
    table.waiting.delete(key);
    table.in_kv_ms = now;
    this.#forget(key);
  }

  /** Leaves a record alone, because this version cannot read it: its table is not dropped. */
  leave({ table, key }: WaitingRecord): void {
    table.unreadable.set(key, table.waiting.get(key) ?? 0);
    table.waiting.delete(key);
  }

  /** Writes down how far each table has reached KV: one row for a table that has got further. */
  save(): void {
    for (const table of this.#tables) {
      const lacking = [...firstOf(table.waiting), ...firstOf(table.unreadable)];
      const in_kv = Math.min(table.last, ...lacking.map((position) => position - 1));
      if (in_kv <= table.in_kv) continue;
      table.in_kv = in_kv;
      const { period, in_kv_ms } = table;
      this.#sql.exec('UPDATE finished_tables_v2 SET in_kv = ?, in_kv_ms = ? WHERE period = ?', in_kv, in_kv_ms, period);
    }
  }

  /** Drops the tables whose time is over. Returns when the next one is due; `null` = none waits for its end. */
  drop(now: number): number | null {
    let next: number | null = null;
    for (const table of [...this.#tables]) {
      if (table.waiting.size > 0 || table.unreadable.size > 0) continue;
      const due = Math.max((table.period + 1) * TABLE_MS, table.in_kv_ms + KEPT_MS);
      if (due > now) {
        next = Math.min(due, next ?? due);
        continue;
      }
      this.#sql.exec(`DROP TABLE ${nameOf(table.period)}`);
      this.#sql.exec('DELETE FROM finished_tables_v2 WHERE period = ?', table.period);
      this.#tables.splice(this.#tables.indexOf(table), 1);
    }
    return next;
  }

  #load({ period, in_kv, in_kv_ms }: Pick<Table, 'period' | 'in_kv' | 'in_kv_ms'>): Table {
    const rows = this.#sql
      .exec<{ key: string; n: number }>(`SELECT key, n FROM ${nameOf(period)} WHERE n > ? ORDER BY n`, in_kv)
      .toArray();
    const waiting = new Map(rows.map(({ key, n }) => [key, n]));
    const last = rows.at(-1)?.n ?? in_kv;
    return { period, waiting, unreadable: new Map(), loaded: last, last, in_kv, in_kv_ms };
  }

  /** The table of a time; a clock that goes back uses the newest one. */
  #tableAt(now: number): Table {
    const period = Math.floor(now / TABLE_MS);
    const newest = this.#tables.at(-1);
    if (newest !== undefined && newest.period >= period) return newest;
    this.#sql.exec(`CREATE TABLE ${nameOf(period)} (
      key TEXT PRIMARY KEY, n INTEGER NOT NULL, record TEXT NOT NULL
    ) WITHOUT ROWID`);
    this.#sql.exec('INSERT INTO finished_tables_v2 (period, in_kv, in_kv_ms) VALUES (?, 0, ?)', period, now);
    const table = { period, waiting: new Map(), unreadable: new Map(), loaded: 0, last: 0, in_kv: 0, in_kv_ms: now };
    this.#tables.push(table);
    return table;
  }
}

function nameOf(period: number): string {
  return `finished_v2_${period}`;
}

function firstOf(positions: ReadonlyMap<string, number>): number[] {
  const { value } = positions.values().next();
  return value === undefined ? [] : [value];
}
