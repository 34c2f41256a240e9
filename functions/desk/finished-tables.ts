/**
 * The SQLite tables of the judgments that one desk has finished. A table has the judgments of five minutes and is
 * dropped whole, which writes no rows; STORAGE.md describes the tables. Which judgments KV lacks is known in memory. A
 * table's `in_kv` says how far it has reached KV, so that a restart puts few judgments again.
 */

import { partitionOf } from '../../src/judgments/key.ts';
import { WAIT_FOR_OTHERS_MS } from './store-limits.ts';

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
 * How long a judgment may wait to be written with those of its partition. Then it goes alone: if the layout of the desks
 * has changed, another desk may have written the partition. After a restart the time counts from the beginning of the
 * table.
 */
export const TOGETHER_MS = 30 * 60 * 1000;
/** The most judgments of one value in KV, which may have 25 MiB. */
const MAX_TOGETHER = 64;

/** A row that KV lacks. */
type Row = {
  /** In its table: 1, 2, … */
  readonly position: number;
  /** Whether KV gets it under its own key, not with its partition. */
  readonly alone: boolean;
  /** When it was finished, in milliseconds since 1970; `null` = before the start. */
  readonly finished_ms: number | null;
  /** Whether a write of its partition has begun. If the write failed, KV may have taken it, or may take it later. */
  isTried: boolean;
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

/** Judgments that KV lacks and that are written together. `partition`: `null` = one judgment, under its own key. */
export type WaitingWrite = { readonly partition: string | null; readonly records: readonly WaitingRecord[] };

export class FinishedTables {
  readonly #sql: SqlStorage;
  /** Oldest first. */
  readonly #tables: Table[];
  /** Records that KV lacks, by key, so that they need not be read again on their way to KV. */
  readonly #records = new Map<string, string>();
  #chars = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS finished_tables_v3 (
      period INTEGER PRIMARY KEY, in_kv INTEGER NOT NULL, in_kv_ms INTEGER NOT NULL
    )`);
    this.#tables = sql
      .exec<Pick<Table, 'period' | 'in_kv' | 'in_kv_ms'>>('SELECT * FROM finished_tables_v3 ORDER BY period')
      .toArray()
      .map((row) => this.#load(row));
    this.#takeVersion2();
  }

  /** Takes over what an earlier version of the Worker has left for KV: its judgments are no parts of partitions. */
  #takeVersion2(): void {
    const exists = "SELECT name FROM sqlite_master WHERE name = 'finished_tables_v2'";
    if (this.#sql.exec(exists).toArray().length === 0) return;
    const tables = this.#sql.exec<{ period: number; in_kv: number }>('SELECT period, in_kv FROM finished_tables_v2');
    for (const { period, in_kv } of tables.toArray()) {
      const rows = `SELECT key, record FROM finished_v2_${period} WHERE n > ? ORDER BY n`;
      for (const { key, record } of this.#sql.exec<{ key: string; record: string }>(rows, in_kv).toArray()) {
        this.add(key, record, period * TABLE_MS, true);
      }
      this.#sql.exec(`DROP TABLE finished_v2_${period}`);
    }
    this.#sql.exec('DROP TABLE finished_tables_v2');
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
    table.waiting.set(key, { position: table.last, alone, finished_ms: now, isTried: false });
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
   * What KV lacks, oldest first, with what is added meanwhile. A partition comes once, and only if KV has no value of it;
   * so its value is never replaced by one that lacks some of its judgments. If KV has one, its judgments come alone.
   * @param now a clock in milliseconds since 1970.
   * @param isRunning whether a call of a partition is running: then the partition waits, `WAIT_FOR_OTHERS_MS` at most.
   */
  *waiting(now: () => number, isRunning: (partition: string) => boolean): Generator<WaitingWrite> {
    const passed = new Set<string>();
    const written = new Set<string>();
    for (const table of this.#tables) {
      for (const [key, row] of table.waiting) {
        const partition = partitionOf(key);
        const together_ms = (row.finished_ms ?? table.period * TABLE_MS) + TOGETHER_MS;
        if (row.alone || now() > together_ms || written.has(partition)) {
          yield { partition: null, records: [recordOf({ table, key, row })] };
          continue;
        }
        if (passed.has(partition)) continue;
        if (row.finished_ms !== null && now() < row.finished_ms + WAIT_FOR_OTHERS_MS && isRunning(partition)) {
          passed.add(partition);
          continue;
        }
        const rows = this.#together(partition);
        const left = rows.flatMap((one) => waitingIn(one) ?? []);
        if (left.length < rows.length) {
          written.add(partition);
          yield { partition: null, records: [recordOf({ table, key, row })] };
          continue;
        }
        passed.add(partition);
        // A write that failed is repeated as it was: KV may take the first attempt after the second.
        const tried = left.filter((one) => one.row.isTried);
        const together = tried.length > 0 ? tried : left.slice(0, MAX_TOGETHER);
        for (const one of together) one.row.isTried = true;
        yield { partition, records: together.map(recordOf) };
      }
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
      this.#sql.exec('UPDATE finished_tables_v3 SET in_kv = ?, in_kv_ms = ? WHERE period = ?', in_kv, in_kv_ms, period);
    }
  }

  /** Drops the tables whose time is over. Returns when the next one is due; `null` = none waits for its end. */
  drop(now: number): number | null {
    let next: number | null = null;
    for (const table of [...this.#tables]) {
      if (this.#isNeeded(table)) continue;
      const due = Math.max((table.period + 1) * TABLE_MS, table.in_kv_ms + KEPT_MS);
      if (due > now) {
        next = Math.min(due, next ?? due);
        continue;
      }
      this.#sql.exec(`DROP TABLE ${nameOf(table.period)}`);
      this.#sql.exec('DELETE FROM finished_tables_v3 WHERE period = ?', table.period);
      this.#tables.splice(this.#tables.indexOf(table), 1);
    }
    return next;
  }

  /**
   * Whether KV lacks a row of a table, or a row that was finished soon after: the table says whether the partition of
   * such a row was written.
   */
  #isNeeded({ period: first, in_kv_ms }: Table): boolean {
    return this.#tables.some(
      ({ period, waiting, unreadable }) =>
        period >= first &&
        [...firstOf(waiting), ...firstOf(unreadable)].some(
          ({ finished_ms }) => period === first || (finished_ms ?? period * TABLE_MS) <= in_kv_ms + KEPT_MS,
        ),
    );
  }

  #load({ period, in_kv, in_kv_ms }: Pick<Table, 'period' | 'in_kv' | 'in_kv_ms'>): Table {
    const rows = this.#sql
      .exec<{ key: string; n: number; alone: number }>(
        `SELECT key, n, alone FROM ${nameOf(period)} WHERE n > ? ORDER BY n`,
        in_kv,
      )
      .toArray();
    const waiting = new Map(
      rows.map(({ key, n, alone }) => [key, { position: n, alone: alone === 1, finished_ms: null, isTried: false }]),
    );
    const last = rows.at(-1)?.n ?? in_kv;
    return { period, waiting, unreadable: new Map(), loaded: last, last, in_kv, in_kv_ms };
  }

  /** The table of a time; a clock that goes back uses the newest one. */
  #tableAt(now: number): Table {
    const period = Math.floor(now / TABLE_MS);
    const newest = this.#tables.at(-1);
    if (newest !== undefined && newest.period >= period) return newest;
    this.#sql.exec(`CREATE TABLE ${nameOf(period)} (
      key TEXT PRIMARY KEY, n INTEGER NOT NULL, alone INTEGER NOT NULL, record TEXT NOT NULL
    ) WITHOUT ROWID`);
    this.#sql.exec('INSERT INTO finished_tables_v3 (period, in_kv, in_kv_ms) VALUES (?, 0, ?)', period, now);
    const table = { period, waiting: new Map(), unreadable: new Map(), loaded: 0, last: 0, in_kv: 0, in_kv_ms: now };
    this.#tables.push(table);
    return table;
  }
}

type WaitingRow = { readonly table: Table; readonly key: string; readonly row: Row };

function waitingIn({ table, key }: Pick<WaitingRow, 'table' | 'key'>): WaitingRow | null {
  const row = table.waiting.get(key);
  return row === undefined ? null : { table, key, row };
}

function recordOf({ table, key, row }: WaitingRow): WaitingRecord {
  return { table, key, isOwn: row.position > table.loaded };
}

function nameOf(period: number): string {
  return `finished_v3_${period}`;
}

function firstOf(rows: ReadonlyMap<string, Row>): Row[] {
  const { value } = rows.values().next();
  return value === undefined ? [] : [value];
}
