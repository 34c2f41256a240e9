/** The list of runs in D1. Everything else about a run is in its objects, which only this list names. */

import * as z from 'zod';
import { newId } from '../../service/ids.ts';
import { lifeOf, type RunLife, type StoredRun } from '../../service/ledger-port.ts';
import { FAMILY_NAMES, type FamilyName } from '../../src/families/composers.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';

export type RunPage = {
  readonly runs: readonly StoredRun[];
  readonly has_more: boolean;
  /** Ids of runs whose deletion has begun and not ended: they are hidden, but not gone. */
  readonly deleting: readonly string[];
};

const MAX_DELETING_LISTED = 100;

const COLUMNS =
  'project, id, incarnation, shards, family, created_at, active_at, store_text, first_step, last_step, title, deleting_at';
const columnsSchema = z.object({
  project: z.string(),
  id: z.string(),
  incarnation: z.string(),
  shards: z.int().min(1),
  family: z.enum(FAMILY_NAMES),
  created_at: z.int(),
  active_at: z.int(),
  store_text: z.literal([0, 1]).transform((flag) => flag === 1),
  first_step: z.int().nullable(),
  last_step: z.int().nullable(),
  title: z.string().nullable(),
});
const deletingSchema = z.object({ deleting_at: z.int().nullable() });
const deletingIdSchema = z.object({ id: z.string() });

/** Returns null if the run does not exist or is being deleted. @throws StorageError. */
export async function findRun(db: D1Database, project: string, id: string): Promise<StoredRun | null> {
  const found = await stored('d1', 'run_find', async () =>
    (await database(db))
      .prepare(`SELECT ${COLUMNS} FROM run_list WHERE project = ? AND id = ? AND deleting_at IS NULL`)
      .bind(project, id)
      .first(),
  );
  return found === null ? null : columnsSchema.parse(found);
}

/** Sets the title of a run; `null` removes it. Returns null if the run does not exist. @throws StorageError. */
export async function setTitle(
  db: D1Database,
  project: string,
  id: string,
  title: string | null,
): Promise<StoredRun | null> {
  const changed = await stored('d1', 'run_title', async () =>
    (await database(db))
      .prepare(
        `UPDATE run_list SET title = ? WHERE project = ? AND id = ? AND deleting_at IS NULL RETURNING ${COLUMNS}`,
      )
      .bind(title, project, id)
      .first(),
  );
  return changed === null ? null : columnsSchema.parse(changed);
}

/**
 * Lists the runs of a project, newest first. `after` is the last id of the previous page; returns null if that run does not exist.
 * @throws StorageError.
 */
export async function listRuns(
  db: D1Database,
  project: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<RunPage | null> {
  if (after !== null && (await findRun(db, project, after)) === null) return null;
  const where =
    after === null ? '' : 'AND (created_at, id) < (SELECT created_at, id FROM run_list WHERE project = ?1 AND id = ?2)';
  const [listed, deleting] = await stored('d1', 'run_list', async () => {
    const ready = await database(db);
    return ready.batch([
      ready
        .prepare(
          `SELECT ${COLUMNS} FROM run_list WHERE project = ?1 AND deleting_at IS NULL ${where}
           ORDER BY created_at DESC, id DESC LIMIT ?3`,
        )
        .bind(project, after, limit + 1),
      ready
        .prepare('SELECT id FROM run_list WHERE deleting_at IS NOT NULL AND project = ? ORDER BY id LIMIT ?')
        .bind(project, MAX_DELETING_LISTED),
    ]);
  });
  const rows = listed?.results ?? [];
  return {
    runs: rows.slice(0, limit).map((columns) => columnsSchema.parse(columns)),
    has_more: rows.length > limit,
    deleting: (deleting?.results ?? []).map((columns) => deletingIdSchema.parse(columns).id),
  };
}

/** What the list must say of a run before rollouts are recorded in it. */
export type RunActivity = {
  readonly project: string;
  readonly run: string;
  readonly family: FamilyName;
  readonly store_text: boolean;
  /** The steps of the rollouts; `null` = no step. */
  readonly steps: readonly (number | null)[];
  /** Milliseconds since 1970. */
  readonly now: number;
};

type BegunRun =
  /**
   * `created`: this was the first recording of the run. `fresh`: the list was just read, otherwise this isolate
   * remembers the run.
   */
  | { readonly status: 'begun'; readonly life: RunLife; readonly created: boolean; readonly fresh: boolean }
  /** The run contains rewards of another family. */
  | { readonly status: 'family_differs'; readonly family: string }
  /** The run is being deleted; its id is free afterwards. */
  | { readonly status: 'deleting' };

/** Runs that an isolate remembers, so that most recordings do not ask D1. */
const MAX_REMEMBERED_RUNS = 256;
const remembered = new WeakMap<D1Database, Map<string, StoredRun>>();

/**
 * Creates the run if necessary, and notes its activity: before the rollouts are written, so that retention and erasure
 * see every run. Asks D1 once a minute and for a new step, otherwise the memory of the isolate.
 * @param shards of a run that is created now. @throws StorageError.
 */
export async function beginRun(db: D1Database, activity: RunActivity, shards: number): Promise<BegunRun> {
  const known = remembered.get(db)?.get(nameOf(activity.project, activity.run));
  if (known !== undefined && covers(known, activity)) {
    return { status: 'begun', life: lifeOf(known), created: false, fresh: false };
  }
  const { project, run, family, store_text, now } = activity;
  const incarnation = newId('');
  const steps = activity.steps.filter((step) => step !== null);
  const [first, last] = steps.length === 0 ? [null, null] : [Math.min(...steps), Math.max(...steps)];
  const [, found] = await stored('d1', 'run_begin', async () => {
    const ready = await database(db);
    return ready.batch([
      ready
        .prepare(
          `INSERT INTO run_list
             (project, id, incarnation, family, shards, created_at, active_at, store_text, first_step, last_step)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project, id) DO UPDATE SET
             active_at = max(active_at, excluded.active_at), store_text = max(store_text, excluded.store_text),
             first_step = coalesce(min(first_step, excluded.first_step), first_step, excluded.first_step),
             last_step = coalesce(max(last_step, excluded.last_step), last_step, excluded.last_step)
           WHERE deleting_at IS NULL AND family = excluded.family`,
        )
        .bind(project, run, incarnation, family, shards, now, minuteOf(now), store_text ? 1 : 0, first, last),
      ready.prepare(`SELECT ${COLUMNS} FROM run_list WHERE project = ? AND id = ?`).bind(project, run),
    ]);
  });
  const row = found?.results[0];
  if (deletingSchema.parse(row).deleting_at !== null) return { status: 'deleting' };
  const known_now = columnsSchema.parse(row);
  if (known_now.family !== family) return { status: 'family_differs', family: known_now.family };
  remember(db, known_now);
  return { status: 'begun', life: lifeOf(known_now), created: known_now.incarnation === incarnation, fresh: true };
}

function covers(known: StoredRun, { family, store_text, steps, now }: RunActivity): boolean {
  const { first_step: first, last_step: last } = known;
  return (
    known.family === family &&
    known.active_at >= minuteOf(now) &&
    (known.store_text || !store_text) &&
    steps.every((step) => step === null || (first !== null && last !== null && step >= first && step <= last))
  );
}

function remember(db: D1Database, run: StoredRun): void {
  const runs = remembered.get(db) ?? new Map<string, StoredRun>();
  remembered.set(db, runs);
  const name = nameOf(run.project, run.id);
  runs.delete(name);
  runs.set(name, run);
  for (const [oldest] of runs) {
    if (runs.size <= MAX_REMEMBERED_RUNS) return;
    runs.delete(oldest);
  }
}

/** Forgets a run whose objects say that it is gone. */
export function forgetRun(db: D1Database, project: string, run: string): void {
  remembered.get(db)?.delete(nameOf(project, run));
}

function nameOf(project: string, run: string): string {
  return `${project}/${run}`;
}

/** Activity is recorded to the minute, so that not every recording updates the row of the run. */
function minuteOf(now: number): number {
  return now - (now % 60_000);
}
