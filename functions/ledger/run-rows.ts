/**
 * Reads the rollouts of a run in order, with constant memory: page by page from its shards, group by group for
 * composition.
 */

import * as z from 'zod';
import { RequestError } from '../../service/failures.ts';
import type {
  CountedRow,
  RowPosition,
  RowSelection,
  RunGroup,
  RunLife,
  StepRange,
  StoredRow,
} from '../../service/ledger-port.ts';
import { sha256Schema } from '../../src/judgments/judgment-schema.ts';
import { MAX_RUN_GROUP } from '../../src/limits.ts';
import { replayedRow } from '../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../src/runs/row.ts';
import { storedFactsSchema } from '../../src/runs/row.ts';
import { compareBytes } from './byte-order.ts';
import { askShard, type LedgerObjects, shardOf, shardsOf } from './ledger-calls.ts';
import {
  LEDGER_MESSAGE_VERSION,
  type LedgerPage,
  NO_CONTENT,
  NO_STEP,
  type PageEntry,
  type PageRecord,
} from './ledger-messages.ts';
import { unpackLines } from './packed-lines.ts';
import { readObject } from './run-objects.ts';
import { SegmentGone, SegmentReader } from './segment-reader.ts';

/** Records of all shards whose segments are read ahead. */
const RECORDS_AHEAD = 64;

type RowReader = {
  readonly shards: RunShards;
  readonly segments: SegmentReader;
  /** Records of one shard whose segments are read ahead. */
  readonly ahead: number;
};

/** Rollouts per call while a run is read. */
export const LEDGER_PAGE_ROWS = 1_000;

/** One run's shards, and the bucket with their large content. */
export type RunShards = { readonly life: RunLife; readonly objects: LedgerObjects; readonly bucket: R2Bucket };

/**
 * The groups of a run, by step (those without one first), then by group; rows within a group by sample; all in byte
 * order.
 * @throws StorageError; RequestError if the run is deleted meanwhile or a group is too large.
 */
export async function* readGroups(shards: RunShards, range: StepRange): AsyncGenerator<RunGroup> {
  let open: { step: number | null; group: string; rows: CountedRow[] } | null = null;
  for await (const { row, counts } of readRows(shards, { ...range, attempts: 'latest' })) {
    if (open !== null && (open.step !== row.step || open.group !== row.group)) {
      yield open;
      open = null;
    }
    open ??= { step: row.step, group: row.group, rows: [] };
    if (open.rows.length === MAX_RUN_GROUP) throw new RequestError({ reason: 'run_group_too_large' });
    open.rows.push({ ...replayedRow(row, counts), counts });
  }
  if (open !== null) yield open;
}

/**
 * The rows of a run in the same order, attempts at one position by number.
 * @param pageRows rows that are read at once from a shard. @throws StorageError, RequestError.
 */
export function readRows(
  shards: RunShards,
  selection: RowSelection,
  pageRows: number = LEDGER_PAGE_ROWS,
): AsyncGenerator<StoredRow> {
  const { life } = shards;
  const numbers = selection.group === undefined ? shardsOf(life) : [shardOf(life, selection.group)];
  const reader: RowReader = {
    shards,
    segments: new SegmentReader(shards.bucket),
    ahead: Math.ceil(RECORDS_AHEAD / numbers.length),
  };
  return inOrder(numbers.map((shard) => rowsOfShard(reader, shard, selection, pageRows)));
}

/** Reads at most `limit` rows. */
export async function readPage(shards: RunShards, selection: RowSelection, limit: number): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  for await (const row of readRows(shards, selection, limit)) {
    rows.push(row);
    if (rows.length === limit) break;
  }
  return rows;
}

/** Merges rows that are in order each. */
async function* inOrder(sources: readonly AsyncGenerator<StoredRow>[]): AsyncGenerator<StoredRow> {
  const [only] = sources;
  if (only !== undefined && sources.length === 1) return yield* only;
  const heads = await Promise.all(sources.map(async (source) => ({ source, head: await source.next() })));
  for (;;) {
    let least: { readonly at: number; readonly row: StoredRow } | null = null;
    for (const [at, { head }] of heads.entries()) {
      if (head.done === true) continue;
      if (least === null || comparePositions(head.value.position, least.row.position) < 0)
        least = { at, row: head.value };
    }
    if (least === null) return;
    yield least.row;
    const taken = heads[least.at];
    if (taken !== undefined) taken.head = await taken.source.next();
  }
}

function comparePositions(one: RowPosition, other: RowPosition): number {
  return (
    one.step - other.step ||
    compareBytes(one.group, other.group) ||
    compareBytes(one.sample, other.sample) ||
    one.attempt - other.attempt
  );
}

const NOTHING: LedgerPage = { entries: [], records: [], more: false };

async function* rowsOfShard(
  reader: RowReader,
  shard: number,
  selection: RowSelection,
  limit: number,
): AsyncGenerator<StoredRow> {
  const { objects, life } = reader.shards;
  const { fromStep, toStep, withoutStep, group = null, sample = null, attempts } = selection;
  const isBounded = fromStep !== undefined || toStep !== undefined;
  const from = withoutStep === true ? NO_STEP : isBounded ? (fromStep ?? 0) : null;
  const to = withoutStep === true ? NO_STEP : (toStep ?? null);
  let after = selection.after ?? null;
  for (;;) {
    const call = { v: LEDGER_MESSAGE_VERSION, fromStep: from, toStep: to, group, sample, attempts, after, limit };
    const page = await askShard(objects, life, shard, NOTHING, async (object) => await object.page(call));
    yield* unpacked(reader, shard, page);
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return;
    after = positionOf(last);
  }
}

/** The lines of a record. @throws StorageError; RequestError if the run is deleted meanwhile. */
async function recordLines(reader: RowReader, shard: number, record: PageRecord): Promise<readonly unknown[]> {
  try {
    return await linesAt(reader, record);
  } catch (error) {
    if (!(error instanceof SegmentGone)) throw error;
  }
  // The page is older than the segment, or the run is gone.
  const { objects, life } = reader.shards;
  const again = await askShard(objects, life, shard, NO_CONTENT, async (object) =>
    object.content(LEDGER_MESSAGE_VERSION, record.seq),
  );
  return linesAt(reader, again);
}

type RowsPlace = Pick<PageRecord, 'rows' | 'rows_key' | 'rows_at'>;

async function linesAt({ shards, segments }: RowReader, { rows, rows_key, rows_at }: RowsPlace): Promise<unknown[]> {
  if (rows !== null) return unpackLines(rows);
  if (rows_at !== null) return segments.lines(rows_at);
  return rows_key === null ? [] : unpackLines(await readObject(shards.bucket, rows_key));
}

function positionOf({ step, group, entry: { sample, attempt } }: PageEntry): RowPosition {
  return { step, group, sample, attempt };
}

const lineSchema = z.strictObject({
  ...storedFactsSchema.shape,
  recipe: sha256Schema,
  recorded_at: z.iso.datetime(),
});

/** @throws ZodError or SyntaxError for a row of unknown form: replay must not compose it. */
async function* unpacked(reader: RowReader, shard: number, page: LedgerPage): AsyncGenerator<StoredRow> {
  const { life } = reader.shards;
  const packed = new Map(page.records.map((record, position) => [record.seq, { record, position }]));
  let open = { seq: -1, lines: [] as readonly unknown[] };
  let prepared = 0;
  for (const found of page.entries) {
    const { seq, entry } = found;
    const { record, position } = packed.get(seq) ?? {};
    if (record === undefined || position === undefined) throw new Error('readRows: a page lacks a record');
    if (open.seq !== seq) {
      if (position >= prepared) {
        prepared = position + reader.ahead;
        await reader.segments.prepare(page.records.slice(position, prepared).flatMap(({ rows_at }) => rows_at ?? []));
      }
      open = { seq, lines: await recordLines(reader, shard, record) };
    }
    const { recipe, recorded_at, ...facts } = lineSchema.parse(open.lines[entry.line]);
    const row: LedgerRow = {
      ...facts,
      run: life.run,
      step: found.step === NO_STEP ? null : found.step,
      group: found.group,
      sample: entry.sample,
      attempt: entry.attempt,
      grouping: entry.inferred ? 'inferred' : 'given',
      content: entry.content,
      recipe,
      recorded_at,
    };
    const detail = record.detailed ? { life, shard, seq, line: entry.line } : null;
    const { components, cached, counts } = entry;
    yield { row, position: positionOf(found), components, cached, counts, detail };
  }
}
