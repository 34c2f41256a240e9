/**
 * Deletes a run: its rows, reports and texts. From the start of a deletion the run is invisible and accepts no
 * recordings; afterwards its id is free. A deletion can be repeated and continues where it stopped. Judgments stay,
 * because they belong to no run.
 */
import { database } from '../storage/schema.ts';
import { stored } from '../storage/storage-error.ts';
import { type RunLife, runPrefix } from './run-objects.ts';

/** Rows and objects removed in one round, and rounds of one request. */
const RUN_REMOVAL_ROUND = 1_000;
const MAX_RUN_REMOVAL_ROUNDS = 200;

/** `complete` = nothing of the run is left. */
export type RunRemoval = { readonly complete: boolean };

/** Returns null if the run does not exist. @throws StorageError; the next call continues. */
export async function removeRun(
  db: D1Database,
  bucket: R2Bucket,
  run: string,
  now: number,
): Promise<RunRemoval | null> {
  const incarnation = await stored('d1', 'run_hide', async () => {
    const ready = await database(db);
    const [, found] = await ready.batch<{ incarnation: string }>([
      ready.prepare('UPDATE runs SET deleting_at = ? WHERE id = ? AND deleting_at IS NULL').bind(now, run),
      ready.prepare('SELECT incarnation FROM runs WHERE id = ?').bind(run),
    ]);
    return found?.results[0]?.incarnation ?? null;
  });
  if (incarnation === null) return null;
  return { complete: await removeLife(db, bucket, { run, incarnation }) };
}

/**
 * Continues interrupted deletions, and deletes runs without recent recordings.
 * @param inactiveSince deletes runs without a recording since then, in milliseconds since 1970; `null` = none.
 * @param limit the maximum number of runs.
 */
export async function clearRuns(
  db: D1Database,
  bucket: R2Bucket,
  inactiveSince: number | null,
  limit: number,
  now: number,
): Promise<void> {
  const { results } = await stored('d1', 'run_clear', async () =>
    (await database(db))
      .prepare(
        `SELECT id FROM (SELECT id FROM runs WHERE deleting_at IS NOT NULL LIMIT ?1)
         UNION SELECT id FROM (SELECT id FROM runs WHERE active_at < ?2 ORDER BY active_at LIMIT ?1) LIMIT ?1`,
      )
      .bind(limit, inactiveSince ?? -1)
      .all<{ id: string }>(),
  );
  for (const { id } of results) await removeRun(db, bucket, id, now);
}

/** Returns false if the rounds of one call were not enough. */
async function removeLife(db: D1Database, bucket: R2Bucket, life: RunLife): Promise<boolean> {
  let rounds = MAX_RUN_REMOVAL_ROUNDS;
  for (; rounds > 0; rounds--) if (await removeRows(db, life)) break;
  // No write of this incarnation succeeds from here on, so a writer that comes late removes its own object.
  for (; rounds > 0; rounds--) if (await removeObjects(bucket, life)) break;
  if (rounds === 0) return false;
  await stored('d1', 'run_forget', async () => {
    const ready = await database(db);
    await ready.batch([
      ready.prepare(`DELETE FROM run_recipes WHERE run = ?1 AND ${IS_GOING}`).bind(life.run, life.incarnation),
      ready
        .prepare('DELETE FROM runs WHERE id = ? AND incarnation = ? AND deleting_at IS NOT NULL')
        .bind(life.run, life.incarnation),
    ]);
  });
  return true;
}

/** A late repeated deletion must not touch a new run with the same id. */
const IS_GOING = `EXISTS (SELECT 1 FROM runs n WHERE n.id = ?1 AND n.incarnation = ?2 AND n.deleting_at IS NOT NULL)`;

/** Removes the rows of one round. Returns true if none are left. */
async function removeRows(db: D1Database, { run, incarnation }: RunLife): Promise<boolean> {
  const some = `SELECT id FROM rollouts WHERE run = ?1 AND ${IS_GOING} ORDER BY step, group_id, sample, content LIMIT ?3`;
  return stored('d1', 'run_remove_rows', async () => {
    const ready = await database(db);
    const [, rows] = await ready.batch([
      ready.prepare(`DELETE FROM rollout_rows WHERE id IN (${some})`).bind(run, incarnation, RUN_REMOVAL_ROUND),
      ready.prepare(`DELETE FROM rollouts WHERE id IN (${some})`).bind(run, incarnation, RUN_REMOVAL_ROUND),
    ]);
    return (rows?.meta.changes ?? 0) < RUN_REMOVAL_ROUND;
  });
}

/** Removes the objects of one round. Returns true if none are left. */
async function removeObjects(bucket: R2Bucket, life: RunLife): Promise<boolean> {
  return stored('r2', 'run_remove_objects', async () => {
    const { objects, truncated } = await bucket.list({ prefix: runPrefix(life), limit: RUN_REMOVAL_ROUND });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    return !truncated;
  });
}
