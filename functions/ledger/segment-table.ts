/**
 * The manifest of a shard: which records are in which segment of R2. A row covers a range of records and goes through
 * these states; the protocol is in sealer.ts.
 *
 *     open -> planned -> sealed -> current -> replaced -> (deleted)
 *
 * - `open`: the records since the last segment, which may still become more.
 * - `planned`: the range is fixed, and its segment is being written. A sealer that was interrupted continues it.
 * - `sealed`: the segment is in R2, and the records also keep their content.
 * - `current`: the records keep only their entries and the places of their blocks.
 * - `replaced`: a larger segment contains the records.
 *
 * Every method is synchronous and runs in the caller's transaction.
 */
import * as z from 'zod';
import { UnknownForm } from '../storage/unknown-form.ts';
import type { SegmentBlock } from './ledger-messages.ts';
import { blockSchema, type RecordBlocks } from './segment-format.ts';

export const SEGMENT_TABLES = [
  `CREATE TABLE segments_v1 (
     id INTEGER PRIMARY KEY, state TEXT NOT NULL, at INTEGER NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER,
     key TEXT, bytes INTEGER
   ) STRICT`,
];

/** When records are sealed. `bytes` are packed bytes; times are in milliseconds. */
export type SealingLimits = {
  readonly bytes: number;
  readonly records: number;
  readonly ageMs: number;
  /** How long records keep their content after their segment is in R2, and replaced segments stay. */
  readonly keptMs: number;
  /** So many segments below `mergedBytes` become one. */
  readonly merged: number;
  readonly mergedBytes: number;
};

/** A range of records whose segment is to be written. */
export type PlannedSegment = { readonly id: number; readonly first: number; readonly last: number };

/** A segment as an object of R2. */
export type WrittenSegment = {
  readonly key: string;
  readonly blocks: ReadonlyMap<number, RecordBlocks>;
  readonly bytes: number;
};

type OpenRange = { readonly since: number; bytes: number; records: number };

const placeSchema = z.strictObject({
  segment: z.int(),
  rows: blockSchema.nullable(),
  details: blockSchema.nullable(),
});

export class SegmentTable {
  readonly #sql: SqlStorage;
  #open: { readonly range: OpenRange | null } | null = null;
  readonly #keys = new Map<number, string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Forgets what it remembers of the tables. */
  forget(): void {
    this.#open = null;
    this.#keys.clear();
  }

  /** Counts a new record. @param now milliseconds since 1970. */
  note(seq: number, bytes: number, now: number): void {
    const range = this.#openRange();
    if (range === null) this.#begin(seq, now);
    else {
      range.bytes += bytes;
      range.records++;
    }
  }

  #begin(first: number, now: number): void {
    this.#sql.exec("INSERT INTO segments_v1 (state, at, first_seq) VALUES ('open', ?, ?)", now, first);
    this.#open = null;
  }

  #openRange(): OpenRange | null {
    this.#open ??= { range: this.#readOpen() };
    return this.#open.range;
  }

  #readOpen(): OpenRange | null {
    const [row] = this.#sql
      .exec<{ since: number; bytes: number; records: number }>(
        `SELECT at AS since, (SELECT count(*) FROM records_v1 WHERE seq >= first_seq) AS records,
           (SELECT coalesce(sum(${PACKED_BYTES}), 0) FROM records_v1 WHERE seq >= first_seq) AS bytes
         FROM segments_v1 WHERE state = 'open'`,
      )
      .toArray();
    return row === undefined ? null : { ...row };
  }

  /** When work is due next, in milliseconds since 1970; `null` = there is none. */
  due({ bytes, records, ageMs, keptMs, ...merging }: SealingLimits): number | null {
    const range = this.#openRange();
    const isFull = range !== null && (range.bytes >= bytes || range.records >= records);
    if (isFull || this.#planned() !== null || this.#mergeable({ records, ...merging }) !== null) return 0;
    const { since } = this.#sql
      .exec<{ since: number | null }>("SELECT min(at) AS since FROM segments_v1 WHERE state IN ('sealed', 'replaced')")
      .one();
    const times = [range === null ? null : range.since + ageMs, since === null ? null : since + keptMs];
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : Math.min(...known);
  }

  /** Whether the open range is large enough for a segment. */
  isFull({ bytes, records }: SealingLimits): boolean {
    const range = this.#openRange();
    return range !== null && (range.bytes >= bytes || range.records >= records);
  }

  /** The segment that is to be written next: an interrupted one, one of new records, or one of small segments. */
  plan(limits: SealingLimits, now: number): PlannedSegment | null {
    return this.#planned() ?? this.#planOpen(limits, now) ?? this.#planMerged(limits, now);
  }

  #planned(): PlannedSegment | null {
    const [planned] = this.#sql
      .exec<PlannedSegment>(
        "SELECT id, first_seq AS first, last_seq AS last FROM segments_v1 WHERE state = 'planned' ORDER BY id LIMIT 1",
      )
      .toArray();
    return planned ?? null;
  }

  #planOpen(limits: SealingLimits, now: number): PlannedSegment | null {
    const range = this.#openRange();
    if (range === null || !(this.isFull(limits) || range.since + limits.ageMs <= now)) return null;
    const { id, first } = this.#sql
      .exec<{ id: number; first: number }>("SELECT id, first_seq AS first FROM segments_v1 WHERE state = 'open'")
      .one();
    const { last, next } = this.#endOf(first, limits);
    this.#sql.exec("UPDATE segments_v1 SET state = 'planned', at = ?, last_seq = ? WHERE id = ?", now, last, id);
    this.#open = null;
    if (next !== null) this.#begin(next, now);
    return { id, first, last };
  }

  /** The last record of a segment, and the record after it. */
  #endOf(first: number, limits: SealingLimits): { readonly last: number; readonly next: number | null } {
    const rows = this.#sql.exec<{ seq: number; bytes: number }>(
      `SELECT seq, ${PACKED_BYTES} AS bytes FROM records_v1 WHERE seq >= ? ORDER BY seq LIMIT ?`,
      ...[first, limits.records + 1],
    );
    let [last, bytes, records] = [first, 0, 0];
    for (const row of rows) {
      if (records > 0 && (bytes >= limits.bytes || records >= limits.records)) return { last, next: row.seq };
      last = row.seq;
      bytes += row.bytes;
      records++;
    }
    return { last, next: null };
  }

  #planMerged(limits: SealingLimits, now: number): PlannedSegment | null {
    const range = this.#mergeable(limits);
    if (range === null) return null;
    const { id } = this.#sql
      .exec<{ id: number }>(
        "INSERT INTO segments_v1 (state, at, first_seq, last_seq) VALUES ('planned', ?, ?, ?) RETURNING id",
        ...[now, range.first, range.last],
      )
      .one();
    return { id, ...range };
  }

  /** The first small segments that follow each other, if there are enough of them. */
  #mergeable(limits: Pick<SealingLimits, 'merged' | 'mergedBytes' | 'records'>): Omit<PlannedSegment, 'id'> | null {
    const middle = limits.mergedBytes / limits.merged;
    // Two sizes, so that a record is rewritten at most twice.
    for (const [least, most] of [
      [0, middle],
      [middle, limits.mergedBytes],
    ] as const) {
      let found: Omit<PlannedSegment, 'id'>[] = [];
      for (const one of this.#sql.exec<{ first: number; last: number; bytes: number }>(
        "SELECT first_seq AS first, last_seq AS last, bytes FROM segments_v1 WHERE state = 'current' ORDER BY first_seq",
      )) {
        const isNext = found.at(-1)?.last === one.first - 1;
        if (one.bytes < least || one.bytes >= most) found = [];
        else found = isNext ? [...found, one] : [one];
        const [first] = found;
        if (first === undefined || found.length < limits.merged) continue;
        if (one.last - first.first < limits.records) return { first: first.first, last: one.last };
        found = found.slice(1);
      }
    }
    return null;
  }

  /**
   * Enters a written segment into the manifest, and the places of its blocks into its records. Returns false if it was
   * no longer planned: another sealer was faster.
   */
  commit({ id, first, last }: PlannedSegment, { key, blocks, bytes }: WrittenSegment, now: number): boolean {
    if (this.#planned()?.id !== id) return false;
    const replaced = this.#sql.exec(
      "UPDATE segments_v1 SET state = 'replaced', at = ? WHERE state = 'current' AND first_seq >= ? AND last_seq <= ?",
      ...[now, first, last],
    ).rowsWritten;
    const state = replaced === 0 ? 'sealed' : 'current';
    this.#sql.exec(
      'UPDATE segments_v1 SET state = ?, at = ?, key = ?, bytes = ? WHERE id = ?',
      ...[state, now, key, bytes, id],
    );
    for (const [seq, { rows, details }] of blocks) {
      const place: z.infer<typeof placeSchema> = { segment: id, rows, details };
      this.#sql.exec('UPDATE records_v1 SET place = ? WHERE seq = ?', JSON.stringify(place), seq);
    }
    return true;
  }

  /** Removes the content of records whose segments are in R2 since `before`. */
  dropContent(before: number): void {
    const sealed = this.#sql.exec<PlannedSegment>(
      "SELECT id, first_seq AS first, last_seq AS last FROM segments_v1 WHERE state = 'sealed' AND at <= ?",
      before,
    );
    for (const { id, first, last } of sealed.toArray()) {
      this.#sql.exec('UPDATE records_v1 SET rows = NULL, details = NULL WHERE seq BETWEEN ? AND ?', first, last);
      this.#sql.exec("UPDATE segments_v1 SET state = 'current' WHERE id = ?", id);
    }
  }

  /** The segments that a larger one has replaced since `before`. */
  replaced(before: number): { readonly id: number; readonly key: string }[] {
    return this.#sql
      .exec<{ id: number; key: string }>("SELECT id, key FROM segments_v1 WHERE state = 'replaced' AND at <= ?", before)
      .toArray();
  }

  /** Forgets a segment whose object was deleted. */
  remove(id: number): void {
    this.#sql.exec("DELETE FROM segments_v1 WHERE id = ? AND state = 'replaced'", id);
    this.#keys.delete(id);
  }

  /** Whether the manifest names an object. */
  names(key: string): boolean {
    return this.#sql.exec('SELECT 1 FROM segments_v1 WHERE key = ?', key).toArray().length > 0;
  }

  /** Where the lines of a record are. @param place the record's column. */
  blocksOf(place: string | null): { readonly rows_at: SegmentBlock | null; readonly details_at: SegmentBlock | null } {
    if (place === null) return { rows_at: null, details_at: null };
    const read = placeSchema.safeParse(JSON.parse(place));
    if (!read.success) throw new UnknownForm('place of a record');
    const { segment, rows, details } = read.data;
    const blockOf = (block: z.infer<typeof blockSchema> | null): SegmentBlock | null => {
      if (block === null) return null;
      const [offset, bytes, start, end] = block;
      return { key: this.#keyOf(segment), offset, bytes, start, end };
    };
    return { rows_at: blockOf(rows), details_at: blockOf(details) };
  }

  #keyOf(id: number): string {
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const { key } = this.#sql.exec<{ key: string }>('SELECT key FROM segments_v1 WHERE id = ?', id).one();
    this.#keys.set(id, key);
    return key;
  }
}

/** The packed bytes of a record; SQLite reads lengths without the content. */
const PACKED_BYTES = 'coalesce(length(rows), 0) + coalesce(length(details), 0)';
