/**
 * The records of one shard of a run in the SQLite of its object: one row per recorded group or sample, with the packed
 * rollouts and the entries that name them. Every method is synchronous and runs in the caller's transaction. A record
 * never changes, only its place (sealer.ts): the same content recorded again with fewer missing measurements is a
 * further record, and readers choose.
 */
import * as z from 'zod';
import type { RecordingOutcome } from '../../service/ledger-port.ts';
import { groupFiguresSchema, StepFigures } from '../../src/runs/summary.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import { compareBytes } from './byte-order.ts';
import { AttemptsOfGroup, entriesOf, entriesText, type Numbered, rolloutsOf, unscoredSample } from './group-entries.ts';
import {
  type Entry,
  type LatestVisit,
  type LedgerPage,
  type NewRecord,
  NO_STEP,
  type PackedContent,
  type PackedRecipe,
  type PageCall,
  type PageEntry,
  type PageRecord,
  type RecordCall,
  type StepsPage,
  type StoredContent,
  type VisitCall,
} from './ledger-messages.ts';
import { SEGMENT_TABLES, type SegmentTable } from './segment-table.ts';

/**
 * Records whose groups share one row of figures. A step with few groups has one or two such rows; rollouts without a
 * step, which may be all of a run, have one for each 256 records.
 */
const PART_RECORDS = 256;
/** One call computes the figures of at most so many rollouts, which takes about half a second of CPU. */
const MAX_REFRESHED_ROLLOUTS = 50_000;
/** Packed bytes of one page; typically 5,000 rollouts. */
const MAX_PAGE_BYTES = 1024 * 1024;
/** Lines of a segment are counted as if they were packed. */
const PACKED_RATIO = 8;

const TABLES = [
  'CREATE TABLE run_v1 (one INTEGER PRIMARY KEY CHECK (one = 1), record TEXT NOT NULL) STRICT',
  `CREATE TABLE recipes_v1 (digest TEXT PRIMARY KEY, name TEXT, recipe TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE records_v1 (
     seq INTEGER PRIMARY KEY, step INTEGER NOT NULL, group_id TEXT NOT NULL, at INTEGER NOT NULL, entries TEXT NOT NULL,
     rows_key TEXT, details_key TEXT, place TEXT, rows BLOB, details BLOB
   ) STRICT`,
  'CREATE INDEX records_v1_place ON records_v1 (step, group_id, seq)',
  `CREATE TABLE figures_v1 (
     step INTEGER NOT NULL, part INTEGER NOT NULL, rollouts INTEGER NOT NULL, figures TEXT, PRIMARY KEY (step, part)
   ) STRICT, WITHOUT ROWID`,
  ...SEGMENT_TABLES,
];

const runSchema = z.discriminatedUnion('state', [
  z.object({ v: z.literal(1), state: z.literal('open'), prefix: z.string(), shard: z.int() }),
  z.object({ v: z.literal(1), state: z.literal('erased'), prefix: z.string(), until: z.int() }),
]);

/** The run as its object knows it. `prefix`: of its R2 keys. `until`: when an erased run may be forgotten. */
export type ShardRun = z.infer<typeof runSchema>;

/** One of the parts of a step, whose figures are stored together. */
export type FiguresPart = { readonly step: number; readonly part: number };

export class LedgerRecords {
  readonly #sql: SqlStorage;
  readonly #segments: SegmentTable;
  #run: { readonly value: ShardRun | null } | null = null;
  readonly #recipes = new Set<string>();

  /** @param segments the manifest, which says where the content of the records is. */
  constructor(sql: SqlStorage, segments: SegmentTable) {
    this.#sql = sql;
    this.#segments = segments;
  }

  /** `null` = the object has never begun. @throws UnknownForm if a later version wrote it. */
  get run(): ShardRun | null {
    this.#run ??= { value: this.#readRun() };
    return this.#run.value;
  }

  #readRun(): ShardRun | null {
    if (this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'run_v1'").toArray().length === 0) return null;
    const [row] = this.#sql.exec<{ record: string }>('SELECT record FROM run_v1').toArray();
    const read = runSchema.safeParse(row === undefined ? null : JSON.parse(row.record));
    if (!read.success) throw new UnknownForm('run');
    return read.data;
  }

  /** Begins an empty object, as the shard of a run or as the mark of an erased one. */
  begin(run: ShardRun): void {
    for (const statement of TABLES) this.#sql.exec(statement);
    this.#sql.exec('INSERT INTO run_v1 (one, record) VALUES (1, ?)', JSON.stringify(run));
    this.forget();
  }

  /** Forgets what it remembers of the tables, after they were deleted or a transaction was undone. */
  forget(): void {
    this.#run = null;
    this.#recipes.clear();
    this.#segments.forget();
  }

  /** Records rollouts. Returns an outcome for each entry of each record. @param now milliseconds since 1970. */
  record({ recipes, records }: RecordCall, now: number): RecordingOutcome[][] {
    for (const recipe of recipes) this.#addRecipe(recipe);
    return records.map((record) => this.#add(record, now));
  }

  #addRecipe({ digest, name, recipe }: PackedRecipe): void {
    if (this.#recipes.has(digest)) return;
    this.#sql.exec('INSERT OR IGNORE INTO recipes_v1 (digest, name, recipe) VALUES (?, ?, ?)', digest, name, recipe);
    this.#recipes.add(digest);
  }

  #add({ step, group, entries, at, ...content }: NewRecord, now: number): RecordingOutcome[] {
    const { rows, rows_key, details, details_key } = content;
    const there = this.#group(step, group);
    const attempts = new AttemptsOfGroup(there);
    const taken: Entry[] = [];
    let added = 0;
    const outcomes = entries.map((entry): RecordingOutcome => {
      const { outcome, isNew } = attempts.place(entry);
      if (outcome.status === 'recorded') taken.push({ ...entry, attempt: outcome.attempt });
      if (isNew) added++;
      return outcome;
    });
    if (taken.length === 0) return outcomes;
    const { seq } = this.#sql
      .exec<{ seq: number }>(
        `INSERT INTO records_v1 (step, group_id, at, entries, rows, rows_key, details, details_key)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
        ...[step, group, at, entriesText(taken), rows, rows_key, details, details_key],
      )
      .one();
    this.#segments.note(seq, (rows?.byteLength ?? 0) + (details?.byteLength ?? 0), now);
    this.#sql.exec(
      `INSERT INTO figures_v1 (step, part, rollouts) VALUES (?, ?, ?)
       ON CONFLICT (step, part) DO UPDATE SET rollouts = rollouts + excluded.rollouts, figures = NULL`,
      ...[step, partOf(there[0]?.seq ?? seq), added],
    );
    return outcomes;
  }

  /** The entries of a group in the order of their recording. */
  #group(step: number, group: string): Numbered[] {
    const rows = this.#sql.exec<{ seq: number; entries: string }>(
      'SELECT seq, entries FROM records_v1 WHERE step = ? AND group_id = ? ORDER BY seq',
      step,
      group,
    );
    return [...rows].flatMap(({ seq, entries }) => entriesOf(entries).map((entry) => ({ seq, entry })));
  }

  /** The number of recorded rollouts, all attempts included. */
  get rollouts(): number {
    return Number(this.#sql.exec('SELECT coalesce(sum(rollouts), 0) AS n FROM figures_v1').one()['n']);
  }

  get recipes(): PackedRecipe[] {
    return this.#sql.exec<PackedRecipe>('SELECT digest, name, recipe FROM recipes_v1 ORDER BY digest').toArray();
  }

  /** Reads rollouts in order, up to `limit` of them or about 1 MB. */
  page(call: PageCall): LedgerPage {
    const found: PageEntry[] = [];
    let open: { readonly step: number; readonly group: string; readonly entries: Numbered[] } | null = null;
    for (const { seq, step, group_id: group, entries } of this.#selected(call)) {
      if (open !== null && (open.step !== step || open.group !== group)) {
        found.push(...selectedOf(open, call));
        open = null;
        if (found.length > call.limit) break;
      }
      open ??= { step, group, entries: [] };
      for (const entry of entriesOf(entries)) open.entries.push({ seq, entry });
    }
    if (open !== null) found.push(...selectedOf(open, call));
    return this.#pageOf(found.slice(0, call.limit), found.length > call.limit);
  }

  #selected({ fromStep, toStep, group, after }: PageCall) {
    const conditions: [string, ...(string | number)[]][] = [['true']];
    if (after !== null) conditions.push(['(step, group_id) >= (?, ?)', after.step, after.group]);
    if (fromStep !== null) conditions.push(['step >= ?', fromStep]);
    if (toStep !== null) conditions.push(['step <= ?', toStep]);
    if (group !== null) conditions.push(['group_id = ?', group]);
    return this.#sql.exec<{ seq: number; step: number; group_id: string; entries: string }>(
      `SELECT seq, step, group_id, entries FROM records_v1
       WHERE ${conditions.map(([condition]) => condition).join(' AND ')} ORDER BY step, group_id, seq`,
      ...conditions.flatMap(([, ...values]) => values),
    );
  }

  /** Adds the packed rows, as many as a page may have. */
  #pageOf(found: readonly PageEntry[], more: boolean): LedgerPage {
    const records = new Map<number, PageRecord>();
    let bytes = 0;
    for (const [position, { seq }] of found.entries()) {
      if (records.has(seq)) continue;
      if (bytes > MAX_PAGE_BYTES)
        return { entries: found.slice(0, position), records: [...records.values()], more: true };
      const record = this.#rowsOf(seq);
      records.set(seq, record);
      const { rows, rows_at } = record;
      bytes += rows?.byteLength ?? (rows_at === null ? 0 : (rows_at.end - rows_at.start) / PACKED_RATIO);
    }
    return { entries: found, records: [...records.values()], more };
  }

  #rowsOf(seq: number): PageRecord {
    const { place, rows, rows_key, detailed } = this.#sql
      .exec<Pick<PackedContent, 'rows' | 'rows_key'> & { place: string | null; detailed: number }>(
        `SELECT rows, rows_key, place, details IS NOT NULL OR details_key IS NOT NULL AS detailed
         FROM records_v1 WHERE seq = ?`,
        seq,
      )
      .one();
    const { rows_at, details_at } = this.#segments.blocksOf(place);
    return { seq, rows, rows_key, rows_at, detailed: detailed === 1 || details_at !== null };
  }

  /** Where the content of a record is: in its row, in R2, or in a segment. */
  content(seq: number): StoredContent {
    const { place, ...content } = this.#sql
      .exec<PackedContent & { place: string | null }>(
        'SELECT rows, rows_key, details, details_key, place FROM records_v1 WHERE seq = ?',
        seq,
      )
      .one();
    return { ...content, ...this.#segments.blocksOf(place) };
  }

  /** The numbers of the records from `first` to `last`, in the order of the run. */
  inOrder(first: number, last: number): number[] {
    // The plus keeps SQLite from the index of the order, which covers the whole run.
    const rows = this.#sql.exec<{ seq: number }>(
      'SELECT seq FROM records_v1 WHERE seq BETWEEN ? AND ? ORDER BY +step, group_id, seq',
      ...[first, last],
    );
    return [...rows].map(({ seq }) => seq);
  }

  /** All that the object knows of a record besides its content, as JSON: a segment stores it, too. */
  headerOf(seq: number): string {
    const { header } = this.#sql
      .exec<{ header: string }>(
        `SELECT json_object('seq', seq, 'step', step, 'group', group_id, 'at', at, 'rows_key', rows_key,
           'details_key', details_key, 'entries', json(entries)) AS header
         FROM records_v1 WHERE seq = ?`,
        seq,
      )
      .one();
    return header;
  }

  /**
   * The figures of up to `limit` steps from `from` on. Figures are stored by parts of a step, and only the parts that
   * were recorded in since the last call are computed again. A call that would compute too many ends early, possibly
   * without a step; the next call continues.
   */
  steps(from: number, limit: number): StepsPage {
    const steps: { step: number; figures: StepsPage['steps'][number]['figures'] }[] = [];
    const budget = { rollouts: MAX_REFRESHED_ROLLOUTS };
    const numbers = this.#sql
      .exec<{ step: number }>(
        'SELECT DISTINCT step FROM figures_v1 WHERE step >= ? ORDER BY step LIMIT ?',
        from,
        limit + 1,
      )
      .toArray();
    for (const { step } of numbers) {
      const figures = steps.length === limit ? null : this.#step(step, budget);
      if (figures === null) return { steps, next: step };
      steps.push({ step, figures: figures.stored });
    }
    return { steps, next: null };
  }

  /** `null` = the budget was not enough. */
  #step(step: number, budget: { rollouts: number }): StepFigures | null {
    const figures = new StepFigures();
    const parts = this.#sql.exec<{ part: number; figures: string | null }>(
      'SELECT part, figures FROM figures_v1 WHERE step = ? ORDER BY part',
      step,
    );
    for (const { part, figures: text } of parts.toArray()) {
      if (text === null && budget.rollouts <= 0) return null;
      // Figures in the form of a later version are computed again.
      const stored = groupFiguresSchema.safeParse(text === null ? null : JSON.parse(text));
      figures.merge(stored.success ? stored.data : this.#refresh(step, part, budget));
    }
    return figures;
  }

  /** The parts that were recorded in since their figures were computed. */
  get outdatedParts(): FiguresPart[] {
    return this.#sql.exec<FiguresPart>('SELECT step, part FROM figures_v1 WHERE figures IS NULL').toArray();
  }

  /** Computes the figures of a part. Returns of how many rollouts. */
  refreshPart({ step, part }: FiguresPart): number {
    return this.#refresh(step, part, { rollouts: 0 }).rollouts;
  }

  #refresh(step: number, part: number, budget: { rollouts: number }) {
    const figures = new StepFigures();
    for (const group of this.#groupsOf(step, part)) {
      const latest = rolloutsOf(this.#group(step, group), 'latest');
      figures.addGroup(latest.map(({ entry }) => entry));
      budget.rollouts -= latest.length;
    }
    const { stored } = figures;
    this.#sql.exec('UPDATE figures_v1 SET figures = ? WHERE step = ? AND part = ?', JSON.stringify(stored), step, part);
    return stored;
  }

  /** The groups of a part: those whose first record is in it. */
  #groupsOf(step: number, part: number): string[] {
    const first = part * PART_RECORDS;
    // The plus keeps SQLite from the index of the step, which may be the whole run.
    const rows = this.#sql.exec<{ group_id: string }>(
      `SELECT DISTINCT r.group_id FROM records_v1 r WHERE r.seq >= ? AND r.seq < ? AND +r.step = ? AND NOT EXISTS
         (SELECT 1 FROM records_v1 o WHERE o.step = r.step AND o.group_id = r.group_id AND o.seq < ?)`,
      ...[first, first + PART_RECORDS, step, first],
    );
    return [...rows].map(({ group_id }) => group_id).sort(compareBytes);
  }

  /** The latest visit of a prompt that is visited again in each epoch; `null` = there is none. */
  latestVisit({ first, end, sample, content }: VisitCall): LatestVisit | null {
    const [latest] = this.#sql
      .exec<{ group_id: string }>(
        `SELECT group_id FROM records_v1 WHERE step = ? AND group_id >= ? AND group_id < ?
         ORDER BY group_id DESC LIMIT 1`,
        ...[NO_STEP, first, end],
      )
      .toArray();
    if (latest === undefined) return null;
    const { group_id: group } = latest;
    const entries = this.#group(NO_STEP, group).map(({ entry }) => entry);
    const own = entries.filter((entry) => entry.sample === sample);
    const { at } = this.#sql
      .exec<{ at: number }>('SELECT max(at) AS at FROM records_v1 WHERE step = ? AND group_id = ?', NO_STEP, group)
      .one();
    return {
      group,
      samples: new Set(entries.map((entry) => entry.sample)).size,
      recorded_at: at,
      own: own.length === 0 ? 'absent' : own.some((entry) => entry.content === content) ? 'equal' : 'different',
      unscored: sample === null ? unscoredSample(entries, content) : null,
    };
  }
}

function selectedOf(
  { step, group, entries }: { readonly step: number; readonly group: string; readonly entries: readonly Numbered[] },
  { attempts, sample, after }: PageCall,
): PageEntry[] {
  const isAfter = ({ entry }: Numbered): boolean => {
    if (after === null || after.step !== step || after.group !== group) return true;
    const order = compareBytes(entry.sample, after.sample);
    return order > 0 || (order === 0 && entry.attempt > after.attempt);
  };
  return rolloutsOf(entries, attempts)
    .filter((one) => (sample === null || one.entry.sample === sample) && isAfter(one))
    .map(({ seq, entry }) => ({ step, group, seq, entry }));
}

function partOf(seq: number): number {
  return Math.floor(seq / PART_RECORDS);
}
