/**
 * The SQLite tables of the judgments that one desk has finished. A table has the judgments of five minutes and is
 * dropped whole, which writes no rows; STORAGE.md describes the tables. Which judgments KV lacks is known in memory. A
 * table's `in_kv` says how far it has reached KV, so that a restart puts few judgments again.
 */

import { partitionOf } from '../../src/judgments/key.ts';

/** The time that one table covers. */
const TABLE_MS = 5 * 60 * 1000;
/**
 * How long a table is kept after KV has all of it: ten times the longest stale miss of KV. Thus it also has whatever a
 * caller has missed in the last minutes (`FRESH_MISS_MS`).
 */
const KEPT_MS = 10 * 60 * 1000;
/** Characters of records that a desk also has in memory until KV has them: those of some seconds. */
const MAX_CHARS_IN_MEMORY = 2 * 1024 * 1024;
/**
 * How long a judgment may wait to be written with those of its partition; then it goes alone, because after a change of
 * the layout another desk may have written the partition. After a restart the time counts from the beginning of
 * the table.
 */
export const TOGETHER_MS = 30 * 60 * 1000;

/** A row that KV lacks. */
type Row = {
  /** In its table: 1, 2, … */
  readonly position: number;
  /** Whether KV gets it under its own key, not with its partition. */
  readonly alone: boolean;
  /** When it was finished, in milliseconds since 1970; `null` = before the start. */
  readonly finished_ms: number | null;
};

type Table = {
  /** `finished_ms` of its judgments divided by TABLE_MS; part of its name. */
  readonly period: number;
  /** The rows that KV lacks by key, oldest first. */
  readonly waiting: Map<string, Row>;
  /** The same for records that this version of the Worker cannot read. */
  readonly unreadable: Map<string, Row>;
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

/** Judgments that KV lacks and that are written together. */
export type WaitingWrite = {
  /** `null` = one judgment, under its own key. */
  readonly partition: string | null;
  readonly records: readonly WaitingRecord[];
  /** How long the oldest of them has waited, in milliseconds; `null` = since before the start. */
  readonly waited_ms: number | null;
};

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

  /** Whether the desk has written a value of the partition to KV in the last minutes, or will. */
  hasTogether(partition: string): boolean {
    return this.#together(partition).length > 0;
  }

  /** The rows of a partition that are written together, or were. */
  #together(partition: string): { readonly table: Table; readonly key: string }[] {
    return this.#tables.flatMap((table) =>
      this.#sql
        .exec<{ key: string }>(
          `SELECT key FROM ${nameOf(table.period)} WHERE key > ? AND key < ? AND alone = 0`,
          ...[partition, `${partition}g`],
        )
        .toArray()
        .map(({ key }) => ({ table, key })),
    );
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

  /**
   * Stores a record that KV does not have yet.
   * @param alone whether KV gets it under its own key, because it may have a value of the partition from another desk.
   */
  add(key: string, record: string, now: number, alone: boolean): void {
    const table = this.#tableAt(now);
    table.last++;
    this.#sql.exec(
      `INSERT OR REPLACE INTO ${nameOf(table.period)} (key, n, alone, record) VALUES (?, ?, ?, ?)`,
      ...[key, table.last, Number(alone), record],
    );
    // Deleted first, so that the map stays in the order of positions.
    table.waiting.delete(key);
    table.unreadable.delete(key);
    table.waiting.set(key, { position: table.last, alone, finished_ms: now });
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

  /**
   * What KV lacks, oldest first, with what is added meanwhile. A partition comes once, with all its judgments so far, and
   * only if KV has no value of it; so its value is never replaced by one that lacks some of its judgments.
   */
  *waiting(now: () => number): Generator<WaitingWrite> {
    const partitions = new Set<string>();
    for (const table of this.#tables) {
      for (const [key, row] of table.waiting) {
        const partition = partitionOf(key);
        if (partitions.has(partition)) continue;
        const others = this.#goesAlone(table, row, now()) ? [] : this.#together(partition);
        const together = others.flatMap((one) => waitingIn(one) ?? []);
        if (together.length === 0 || together.length < others.length) {
          yield { partition: null, records: [recordOf({ table, key, row })], waited_ms: null };
          continue;
        }
        partitions.add(partition);
        yield { partition, records: together.map(recordOf), waited_ms: waitedBy(together, now()) };
      }
    }
  }

  #goesAlone({ period }: Table, { alone, finished_ms }: Row, now: number): boolean {
    return alone || now > (finished_ms ?? period * TABLE_MS) + TOGETHER_MS;
  }

  /** Notes that KV has a judgment. `save` stores it. */
  stored({ table, key }: WaitingRecord, now: number): void {
    table.waiting.delete(key);
    table.in_kv_ms = now;
    this.#forget(key);
  }

  /** Leaves a record alone, because this version cannot read it: its table is not dropped. */
  leave({ table, key }: WaitingRecord): void {
    const row = table.waiting.get(key);
    if (row !== undefined) table.unreadable.set(key, row);
    table.waiting.delete(key);
  }

  /** Writes down how far each table has reached KV: one row for a table that has got further. */
  save(): void {
    for (const table of this.#tables) {
      const lacking = [...firstOf(table.waiting), ...firstOf(table.unreadable)];
      const in_kv = Math.min(table.last, ...lacking.map(({ position }) => position - 1));
      if (in_kv <= table.in_kv) continue;
      table.in_kv = in_kv;
      const { period, in_kv_ms } = table;
      this.#sql.exec('UPDATE finished_tables_v2 SET in_kv = ?, in_kv_ms = ? WHERE period = ?', in_kv, in_kv_ms, period);
    }
  }

  /**
   * Drops the tables whose time is over. Returns when the next one is due; `null` = none waits for its end. A judgment
   * that waits since a table's time keeps the table, because only the table says whether its partition was written.
   */
  drop(now: number): number | null {
    let next: number | null = null;
    const rows = this.#tables.flatMap(({ waiting }) => firstOf(waiting));
    const oldest_ms = Math.min(...rows.map(({ finished_ms }) => finished_ms ?? 0));
    for (const table of [...this.#tables]) {
      if (table.waiting.size > 0 || table.unreadable.size > 0 || oldest_ms <= table.in_kv_ms + KEPT_MS) continue;
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
    this.#addColumn(nameOf(period));
    const rows = this.#sql
      .exec<{ key: string; n: number; alone: number }>(
        `SELECT key, n, alone FROM ${nameOf(period)} WHERE n > ? ORDER BY n`,
        in_kv,
      )
      .toArray();
    const waiting = new Map(
      rows.map(({ key, n, alone }) => [key, { position: n, alone: alone === 1, finished_ms: null }]),
    );
    const last = rows.at(-1)?.n ?? in_kv;
    return { period, waiting, unreadable: new Map(), loaded: last, last, in_kv, in_kv_ms };
  }

  /** Earlier versions wrote tables without the column, and each judgment alone. */
  #addColumn(table: string): void {
    const sql = "SELECT name FROM pragma_table_info(?) WHERE name = 'alone'";
    if (this.#sql.exec(sql, table).toArray().length > 0) return;
    this.#sql.exec(`ALTER TABLE ${table} ADD COLUMN ${ALONE_COLUMN}`);
  }

  /** The table of a time; a clock that goes back uses the newest one. */
  #tableAt(now: number): Table {
    const period = Math.floor(now / TABLE_MS);
    const newest = this.#tables.at(-1);
    if (newest !== undefined && newest.period >= period) return newest;
    this.#sql.exec(`CREATE TABLE ${nameOf(period)} (
      key TEXT PRIMARY KEY, n INTEGER NOT NULL, ${ALONE_COLUMN}, record TEXT NOT NULL
    ) WITHOUT ROWID`);
    this.#sql.exec('INSERT INTO finished_tables_v2 (period, in_kv, in_kv_ms) VALUES (?, 0, ?)', period, now);
    const table = { period, waiting: new Map(), unreadable: new Map(), loaded: 0, last: 0, in_kv: 0, in_kv_ms: now };
    this.#tables.push(table);
    return table;
  }
}

/** The default is right for versions of the Worker that do not know the column. */
const ALONE_COLUMN = 'alone INTEGER NOT NULL DEFAULT 1';

type WaitingRow = { readonly table: Table; readonly key: string; readonly row: Row };

function waitingIn({ table, key }: Pick<WaitingRow, 'table' | 'key'>): WaitingRow | null {
  const row = table.waiting.get(key);
  return row === undefined ? null : { table, key, row };
}

function recordOf({ table, key, row }: WaitingRow): WaitingRecord {
  return { table, key, isOwn: row.position > table.loaded };
}

/** How long the oldest of some rows has waited, in milliseconds; `null` = since before the start. */
function waitedBy(rows: readonly WaitingRow[], now: number): number | null {
  const times = rows.map(({ row }) => row.finished_ms);
  return times.includes(null) ? null : now - Math.min(...times.map((time) => time ?? now));
}

function nameOf(period: number): string {
  return `finished_v2_${period}`;
}

function firstOf(rows: ReadonlyMap<string, Row>): Row[] {
  const { value } = rows.values().next();
  return value === undefined ? [] : [value];
}
