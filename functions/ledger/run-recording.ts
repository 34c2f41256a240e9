/**
 * Writes rollouts into the ledger of a run: one R2 object with all details of a request, then one D1 transaction whose
 * rows point at it, so every row has its details. Equal content at one position is one row, whoever writes first;
 * different content is a new attempt. A row is replaced only by the same content with fewer missing measurements.
 */

import type { FamilyName } from '../../src/families/composers.ts';
import type { RolloutReport, RowStatistics, StoredFacts } from '../../src/runs/recorded-score.ts';
import { newId } from '../storage/ids.ts';
import { database } from '../storage/schema.ts';
import { StorageError, stored } from '../storage/storage-error.ts';
import type { RunRecipe } from './run-list.ts';
import { packObject, putObject, type RunLife, removeObject } from './run-objects.ts';
import { NO_STEP } from './run-rows.ts';

/**
 * Bytes of UTF-8 of all columns of a ledger row. A typical row has 2 KB; a larger one keeps its facts in R2, beside its
 * report.
 */
export const MAX_LEDGER_ROW_BYTES = 4 * 1024;

export type NewRollout = {
  /** The training step; `null` = the trainer sent no step. */
  readonly step: number | null;
  readonly group: string;
  readonly sample: string;
  readonly grouping: 'given' | 'inferred';
  readonly content: string;
  /** Digest of the rollout's recipe, which is one of `Recording.recipes`. */
  readonly recipe: string;
  readonly stored: StoredFacts;
  readonly statistics: RowStatistics;
  /** The report of the scoring; `null` = the rollout has no report, as one that was imported. */
  readonly report: RolloutReport | null;
  /** The rollout as sent, without the shared fields; `null` = its text is not stored. */
  readonly rollout: Readonly<Record<string, unknown>> | null;
  /** For a rollout from a file: its recorded attempt and time. It replaces nothing. */
  readonly imported?: { readonly attempt: number; readonly recorded_at: string };
};

export type Recording = {
  readonly run: string;
  readonly family: FamilyName;
  readonly recipes: readonly RunRecipe[];
  /** The rollouts to record. Two rollouts with different content never share step, group and sample. */
  readonly rollouts: readonly NewRollout[];
  /** Fields that all rollouts share, if the text is stored. */
  readonly shared: Readonly<Record<string, unknown>>;
  readonly store_text: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/**
 * `unchanged`: the same content is already recorded, with no more missing measurements. `taken`: other content is
 * recorded under the attempt number of an imported rollout.
 */
type RecordedRollout = { readonly attempt: number; readonly status: 'recorded' | 'unchanged' | 'taken' };

export type RecordingResult =
  /** In the order of the rollouts. `created`: this was the first recording of the run. */
  | { readonly status: 'done'; readonly rollouts: readonly RecordedRollout[]; readonly created: boolean }
  /** The run contains rewards of another family. */
  | { readonly status: 'family_differs'; readonly family: string }
  /** The run is being deleted; its id is free afterwards. */
  | { readonly status: 'deleting' };

/**
 * Records rollouts. @throws StorageError if D1 or R2 fails: nothing counts as recorded then, and the call can be
 * repeated.
 */
export async function recordRollouts(db: D1Database, bucket: R2Bucket, recording: Recording): Promise<RecordingResult> {
  const begun = await begin(db, recording);
  if (begun.status !== 'begun') return begun;
  const { life, created, present } = begun;
  const open = recording.rollouts.flatMap((rollout, position) => {
    const there = present.get(position);
    if (there === undefined) return [{ rollout, position }];
    const isBetter = rollout.imported === undefined && rollout.statistics.lacking < there.lacking;
    return isBetter ? [{ rollout, position }] : [];
  });
  if (open.length === 0) {
    const rollouts = recording.rollouts.map((_, position) => unchangedAt(present, position));
    return { status: 'done', rollouts, created };
  }
  const name = { ...life, write_id: newId('') };
  const sized = open.map(({ rollout, position }) => ({ rollout, position, row: JSON.stringify(rollout.stored) }));
  const rows = sized.map((one) => ({ ...one, inline: fitsLedger(recording.run, one.rollout, one.row) }));
  const kept = rows.filter(({ rollout, inline }) => rollout.report !== null || !inline);
  const packed = packObject(
    recording.shared,
    kept.map(({ rollout: { report, rollout }, row, inline }) => ({ report, rollout, row: inline ? null : row })),
  );
  if (kept.length > 0) await putObject(bucket, name, packed);
  const places = new Map(kept.map(({ position }, n) => [position, packed.lines[n]]));
  const written = await writeRows(db, recording, { ...name, shared: packed.shared, places }, rows);
  const isOurs = written?.some(({ ours }) => ours) === true;
  if (kept.length > 0 && !isOurs) await withoutFailing(removeObject(bucket, name));
  if (written === null) return { status: 'deleting' };
  const outcomes = new Map<number, RecordedRollout>(
    written.map(({ position, attempt, ours }) => [position, { attempt, status: ours ? 'recorded' : 'unchanged' }]),
  );
  for (const { position, rollout } of rows) {
    const { imported } = rollout;
    if (outcomes.has(position)) continue;
    if (imported === undefined) throw new Error('recordRollouts: a rollout was not written');
    outcomes.set(position, { attempt: imported.attempt, status: 'taken' });
  }
  return {
    status: 'done',
    rollouts: recording.rollouts.map((_, position) => outcomes.get(position) ?? unchangedAt(present, position)),
    created,
  };
}

type Present = ReadonlyMap<number, { readonly attempt: number; readonly lacking: number }>;

type Begun =
  | { readonly status: 'begun'; readonly life: RunLife; readonly created: boolean; readonly present: Present }
  | Exclude<RecordingResult, { status: 'done' }>;

/** Creates the run if necessary, and finds which contents are already recorded. */
async function begin(db: D1Database, { run, family, rollouts, store_text, now }: Recording): Promise<Begun> {
  const incarnation = newId('');
  const [, found, there] = await stored('d1', 'run_begin', async () => {
    const ready = await database(db);
    return ready.batch([
      ready
        .prepare(
          `INSERT INTO runs (id, incarnation, family, created_at, active_at, store_text)
           VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
        )
        .bind(run, incarnation, family, now, minuteOf(now), store_text ? 1 : 0),
      ready.prepare('SELECT incarnation, family, deleting_at FROM runs WHERE id = ?').bind(run),
      ready
        .prepare(
          `SELECT j.key AS position, r.attempt, r.lacking FROM json_each(?) j CROSS JOIN rollouts r ON ${SAME_CONTENT}`,
        )
        .bind(contentsText(rollouts.entries()), run),
    ]);
  });
  const life = rowsOf(found)[0];
  if (life === undefined) throw new Error('recordRollouts: the run was not made');
  if (life['deleting_at'] !== null) return { status: 'deleting' };
  if (life['family'] !== family) return { status: 'family_differs', family: String(life['family']) };
  return {
    status: 'begun',
    life: { run, incarnation: String(life['incarnation']) },
    created: life['incarnation'] === incarnation,
    present: new Map(
      rowsOf(there).map(({ position, attempt, lacking }) => [
        Number(position),
        { attempt: Number(attempt), lacking: Number(lacking) },
      ]),
    ),
  };
}

type OpenRow = {
  readonly rollout: NewRollout;
  readonly position: number;
  /** JSON text of the fields that replay reads. */
  readonly row: string;
  /** Whether the row fits into D1. */
  readonly inline: boolean;
};

type Written = { readonly position: number; readonly attempt: number; readonly ours: boolean };

type ObjectOfRows = RunLife & {
  readonly write_id: string;
  readonly shared: number;
  /** The byte range of each rollout that has a line in the object, by the index of the rollout. */
  readonly places: ReadonlyMap<number, { readonly start: number; readonly bytes: number } | undefined>;
};

/**
 * Writes all rows in one transaction. The result omits rollouts whose attempt has other content (imports); `null` = the
 * run no longer exists, and nothing was written.
 */
async function writeRows(
  db: D1Database,
  { run, recipes, store_text, now }: Recording,
  { incarnation, write_id, shared, places }: ObjectOfRows,
  rows: readonly OpenRow[],
): Promise<Written[] | null> {
  const recorded_at = new Date(now).toISOString();
  const contents = contentsText(rows.map(({ rollout, position }) => [position, rollout] as const));
  const values = JSON.stringify(
    rows.map(({ rollout, position, row, inline }) => ({
      ...columnsOf(rollout),
      ...rollout.imported,
      ...places.get(position),
      row: inline ? row : null,
    })),
  );
  const minute = minuteOf(now);
  const text = store_text ? 1 : 0;
  const results = await stored('d1', 'run_write', async () => {
    const ready = await database(db);
    return ready.batch([
      ready
        .prepare(
          `UPDATE runs SET active_at = max(active_at, ?2), store_text = max(store_text, ?3)
           WHERE id = ?1 AND incarnation = ?4 AND (active_at < ?2 OR store_text < ?3)`,
        )
        .bind(run, minute, text, incarnation),
      recipesStatement(ready, run, incarnation, recipes),
      ready
        .prepare(
          `INSERT INTO rollouts (run, step, group_id, sample, content, attempt, inferred, recipe, lacking, reward, reason,
             components, judgments, cached, recorded_at, write_id, detail_start, detail_bytes, shared_bytes)
           SELECT n.id, ${field('step')}, ${field('group')}, ${field('sample')}, ${field('content')},
             coalesce(${field('attempt')}, (SELECT max(o.attempt) + 1 FROM rollouts o WHERE ${SAME_PLACE}), 0),
             ${['inferred', 'recipe', 'lacking', 'reward', 'reason', 'components', 'judgments', 'cached'].map(field).join(', ')},
             coalesce(${field('recorded_at')}, ?), ?, ${field('start')}, ${field('bytes')}, ?
           FROM json_each(?) j JOIN runs n ON n.id = ? AND n.incarnation = ? AND n.deleting_at IS NULL
           WHERE NOT EXISTS (SELECT 1 FROM rollouts o WHERE ${SAME_PLACE} AND o.attempt = ${field('attempt')})
           ON CONFLICT (run, step, group_id, sample, content) DO UPDATE SET lacking = excluded.lacking,
             reward = excluded.reward, reason = excluded.reason, components = excluded.components,
             judgments = excluded.judgments, cached = excluded.cached, recorded_at = excluded.recorded_at,
             write_id = excluded.write_id, detail_start = excluded.detail_start, detail_bytes = excluded.detail_bytes,
             shared_bytes = excluded.shared_bytes
           WHERE excluded.lacking < rollouts.lacking`,
        )
        .bind(recorded_at, write_id, shared, values, run, incarnation),
      ready
        .prepare(
          `INSERT INTO rollout_rows (id, row)
           SELECT r.id, ${field('row')} FROM json_each(?) j CROSS JOIN rollouts r ON ${SAME_CONTENT} WHERE r.write_id = ?
           ON CONFLICT (id) DO UPDATE SET row = excluded.row`,
        )
        .bind(values, run, write_id),
      ready
        .prepare(
          `SELECT ${field('position')} AS position, r.attempt, r.write_id = ? AS ours
           FROM json_each(?) j CROSS JOIN rollouts r ON ${SAME_CONTENT}`,
        )
        .bind(write_id, contents, run),
      ready
        .prepare('SELECT id FROM runs WHERE id = ? AND incarnation = ? AND deleting_at IS NULL')
        .bind(run, incarnation),
    ]);
  });
  if (rowsOf(results.at(-1)).length === 0) return null;
  return rowsOf(results.at(-2)).map(({ position, attempt, ours }) => ({
    position: Number(position),
    attempt: Number(attempt),
    ours: ours === 1,
  }));
}

/** A statement that stores each recipe of a run once, if the run still exists. */
function recipesStatement(
  db: D1Database,
  run: string,
  incarnation: string,
  recipes: readonly RunRecipe[],
): D1PreparedStatement {
  const values = recipes.map(({ digest, name, recipe }) => ({ digest, name, recipe: JSON.stringify(recipe) }));
  return db
    .prepare(
      `INSERT INTO run_recipes (run, digest, name, recipe)
       SELECT n.id, ${field('digest')}, ${field('name')}, ${field('recipe')}
       FROM json_each(?) j JOIN runs n ON n.id = ? AND n.incarnation = ? AND n.deleting_at IS NULL
       WHERE true ON CONFLICT (run, digest) DO NOTHING`,
    )
    .bind(JSON.stringify(values), run, incarnation);
}

/**
 * SQL condition for equal content, which joins `json_each(…) j` with `rollouts r`; the parameter is the run. CROSS JOIN
 * fixes the order: one index lookup per entry, where SQLite would otherwise read all rows of the run.
 */
const SAME_CONTENT = `r.run = ? AND r.step = j.value ->> 'step' AND r.group_id = j.value ->> 'group'
  AND r.sample = j.value ->> 'sample' AND r.content = j.value ->> 'content'`;

/** SQL condition for the same place in a run, which joins `json_each(…) j`, `runs n` and `rollouts o`. */
const SAME_PLACE = `o.run = n.id AND o.step = j.value ->> 'step' AND o.group_id = j.value ->> 'group'
  AND o.sample = j.value ->> 'sample'`;

function field(name: string): string {
  return `j.value ->> '${name}'`;
}

function contentsText(rollouts: Iterable<readonly [number, NewRollout]>): string {
  const places = [...rollouts].map(([position, { step, group, sample, content }]) => ({
    position,
    step: step ?? NO_STEP,
    group,
    sample,
    content,
  }));
  return JSON.stringify(places);
}

/** The columns of a rollout, except the run, the write and the fields that replay reads. */
function columnsOf({ step, group, sample, grouping, content, recipe, stored: facts, statistics }: Columns) {
  const { lacking, components, judgments, cached } = statistics;
  const { reward, reason } = facts;
  return {
    step: step ?? NO_STEP,
    group,
    sample,
    content,
    inferred: grouping === 'inferred' ? 1 : 0,
    recipe,
    lacking,
    reward,
    reason,
    components: JSON.stringify(components),
    judgments,
    cached,
  };
}

type Columns = Omit<NewRollout, 'report' | 'rollout'>;

/** The other columns of every row: numbers, a time, the id of a write. */
const FIXED_BYTES = 160;

/**
 * Whether all columns of a rollout fit into MAX_LEDGER_ROW_BYTES. @param row JSON text of the fields that replay reads.
 */
function fitsLedger(run: string, rollout: Columns, row: string): boolean {
  const texts = Object.values(columnsOf(rollout)).filter((value) => typeof value === 'string');
  const bytes = [run, row, ...texts].reduce((sum, text) => sum + encoder.encode(text).byteLength, FIXED_BYTES);
  return bytes <= MAX_LEDGER_ROW_BYTES;
}

const encoder = new TextEncoder();

function unchangedAt(present: Present, position: number): RecordedRollout {
  const there = present.get(position);
  if (there === undefined) throw new Error('recordRollouts: a rollout was neither there nor written');
  return { attempt: there.attempt, status: 'unchanged' };
}

function rowsOf(result: D1Result | undefined): Record<string, unknown>[] {
  return (result?.results ?? []).filter(isRow);
}

function isRow(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Activity is recorded to the minute, so that not every recording updates the row of the run. */
function minuteOf(now: number): number {
  return now - (now % 60_000);
}

/** Ignores a failed removal, which is logged: the object is removed with its run at the latest. */
async function withoutFailing(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}
