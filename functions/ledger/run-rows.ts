/**
 * Reads the rows of a run in order, with constant memory: page by page from D1, group by group for composition. A row
 * that is too large for D1 comes from its R2 object (run-objects.ts).
 */
import * as z from 'zod';
import { MAX_RUN_GROUP } from '../../src/limits.ts';
import type { LedgerRow } from '../../src/runs/row.ts';
import { ledgerPlaceSchema, storedFactsSchema } from '../../src/runs/row.ts';
import { RequestError } from '../failures.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/storage-error.ts';
import { type ObjectPlace, readOutsizedRow } from './run-objects.ts';

/** Ledger rows per D1 query while a run is read: at most 1 MB, typically 0.5 MB. */
export const LEDGER_PAGE_ROWS = 250;

/** First and last step, both inclusive. Rollouts without a step are included only if neither is given. */
export type StepRange = { readonly fromStep?: number | undefined; readonly toStep?: number | undefined };

export type RowSelection = StepRange & {
  /** `latest`: only the last attempt at each position. */
  readonly attempts: 'latest' | 'all';
  /** Only rollouts without a step. */
  readonly withoutStep?: boolean;
  readonly group?: string | undefined;
  readonly sample?: string | undefined;
  /** Only rows after this position. */
  readonly after?: RowPosition | null;
};

/** The sort key of a row in the order of its run. `step` as stored: NO_STEP = the rollout has no step. */
export type RowPosition = {
  readonly step: number;
  readonly group: string;
  readonly sample: string;
  readonly attempt: number;
};

export type StoredRow = {
  readonly row: LedgerRow;
  readonly position: RowPosition;
  /** The value of each component of the reward; `null` = the component has no value. */
  readonly components: Readonly<Record<string, number | null>>;
  /** Number of judgments that needed no judge call. */
  readonly cached: number;
  /** The R2 object with the rollout's report and text; `null` = there is none, as for an imported run. */
  readonly object: ObjectPlace | null;
};

export type RunGroup = {
  readonly step: number | null;
  readonly group: string;
  /** The latest attempt of each sample, ordered by sample. */
  readonly rows: readonly LedgerRow[];
};

/** The stored step of a rollout without one; it sorts before all steps. */
export const NO_STEP = -1;

/**
 * The groups of a run, by step (those without one first), then by group; rows within a group by sample; all in byte
 * order. Yields nothing if the run does not exist.
 * @throws StorageError if D1 or R2 fails; RequestError if the run is deleted meanwhile or a group is too large.
 */
export async function* readGroups(
  db: D1Database,
  bucket: R2Bucket,
  run: string,
  range: StepRange = {},
): AsyncGenerator<RunGroup> {
  let open: { step: number | null; group: string; rows: LedgerRow[] } | null = null;
  for await (const { row } of readRows(db, bucket, run, { ...range, attempts: 'latest' })) {
    if (open !== null && (open.step !== row.step || open.group !== row.group)) {
      yield open;
      open = null;
    }
    open ??= { step: row.step, group: row.group, rows: [] };
    if (open.rows.length === MAX_RUN_GROUP) throw new RequestError({ reason: 'run_group_too_large' });
    open.rows.push(row);
  }
  if (open !== null) yield open;
}

/** The rows of a run in the same order, attempts at one position by number. @throws StorageError, RequestError. */
export async function* readRows(
  db: D1Database,
  bucket: R2Bucket,
  run: string,
  selection: RowSelection,
): AsyncGenerator<StoredRow> {
  const incarnation = await incarnationOf(db, run);
  if (incarnation === null) return;
  let after = selection.after ?? null;
  for (;;) {
    const page = await readPage(db, bucket, run, { ...selection, after }, LEDGER_PAGE_ROWS);
    if (page.length < LEDGER_PAGE_ROWS && (await incarnationOf(db, run)) !== incarnation)
      throw new RequestError({ reason: 'run_gone' });
    yield* page;
    after = page.at(-1)?.position ?? null;
    if (page.length < LEDGER_PAGE_ROWS) return;
  }
}

/** Reads at most `limit` rows. */
export async function readPage(
  db: D1Database,
  bucket: R2Bucket,
  run: string,
  selection: RowSelection,
  limit: number,
): Promise<StoredRow[]> {
  const { sql, values } = queryOf(run, selection);
  const { results } = await stored('d1', 'run_rows', async () =>
    (await database(db))
      .prepare(sql)
      .bind(...values, limit)
      .all(),
  );
  return Promise.all(results.map((columns) => rowOf(bucket, run, columnsSchema.parse(columns))));
}

/**
 * The current incarnation of the run, whose id may be used again after a deletion. `null` = it does not exist or is
 * being deleted.
 */
async function incarnationOf(db: D1Database, run: string): Promise<string | null> {
  return stored('d1', 'run_incarnation', async () =>
    (await database(db))
      .prepare('SELECT incarnation FROM runs WHERE id = ? AND deleting_at IS NULL')
      .bind(run)
      .first<string>('incarnation'),
  );
}

function queryOf(run: string, selection: RowSelection) {
  const { fromStep, toStep, withoutStep, attempts, group, sample, after } = selection;
  const conditions: [string, ...(string | number)[]][] = [['r.run = ?', run], ['n.deleting_at IS NULL']];
  if (withoutStep === true) conditions.push(['r.step = ?', NO_STEP]);
  if (fromStep !== undefined || toStep !== undefined) conditions.push(['r.step >= ?', fromStep ?? 0]);
  if (toStep !== undefined) conditions.push(['r.step <= ?', toStep]);
  if (group !== undefined) conditions.push(['r.group_id = ?', group]);
  if (sample !== undefined) conditions.push(['r.sample = ?', sample]);
  if (attempts === 'latest') conditions.push([IS_LATEST]);
  if (after !== undefined && after !== null) {
    const { step, group, sample, attempt } = after;
    conditions.push(['(r.step, r.group_id, r.sample, r.attempt) > (?, ?, ?, ?)', step, group, sample, attempt]);
  }
  const sql = `SELECT r.*, w.row AS row, n.incarnation AS incarnation
    FROM rollouts r JOIN rollout_rows w ON w.id = r.id JOIN runs n ON n.id = r.run
    WHERE ${conditions.map(([condition]) => condition).join(' AND ')}
    ORDER BY r.step, r.group_id, r.sample, r.attempt LIMIT ?`;
  return { sql, values: conditions.flatMap(([, ...values]) => values) };
}

/** On `rollouts r`: whether its position has no later attempt. */
export const IS_LATEST = `NOT EXISTS (SELECT 1 FROM rollouts l WHERE l.run = r.run AND l.step = r.step
  AND l.group_id = r.group_id AND l.sample = r.sample AND l.attempt > r.attempt)`;

const columnsSchema = z.object({
  step: z.int(),
  group_id: z.string(),
  sample: z.string(),
  attempt: z.int(),
  inferred: z.literal([0, 1]),
  content: z.string(),
  recipe: z.string(),
  components: z.string(),
  cached: z.int(),
  recorded_at: z.string(),
  incarnation: z.string(),
  write_id: z.string(),
  detail_start: z.int().nullable(),
  detail_bytes: z.int().nullable(),
  shared_bytes: z.int(),
  row: z.string().nullable(),
});

const componentsSchema = z.record(z.string(), z.number().nullable());

/** @throws ZodError or SyntaxError for a row of unknown form: replay must not compose it. */
async function rowOf(bucket: R2Bucket, run: string, columns: z.infer<typeof columnsSchema>): Promise<StoredRow> {
  const { step, group_id: group, sample, attempt, detail_start: start, detail_bytes: bytes } = columns;
  const { incarnation, write_id, shared_bytes: shared } = columns;
  const object = start === null || bytes === null ? null : { run, incarnation, write_id, start, bytes, shared };
  const text = columns.row ?? (await readOutsizedRow(bucket, object));
  const place = {
    run,
    step: step === NO_STEP ? null : step,
    group,
    sample,
    attempt,
    grouping: columns.inferred === 1 ? 'inferred' : 'given',
    content: columns.content,
    recipe: columns.recipe,
    recorded_at: columns.recorded_at,
  };
  const row: LedgerRow = { ...ledgerPlaceSchema.parse(place), ...storedFactsSchema.parse(JSON.parse(text)) };
  const components = componentsSchema.parse(JSON.parse(columns.components));
  return { row, position: { step, group, sample, attempt }, components, cached: columns.cached, object };
}
