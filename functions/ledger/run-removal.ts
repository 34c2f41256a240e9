/**
 * Deletes a run: its records, reports and texts. From the start of a deletion the run is invisible and accepts no
 * recordings; afterwards its id is free. A deletion can be repeated and continues where it stopped. Judgments stay,
 * because they belong to no run.
 */

import type { RunLife } from '../../service/ledger-port.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';
import { repeated, shardsOf } from './ledger-calls.ts';
import { forgetRun } from './run-list.ts';
import { removeObjects, runPrefix } from './run-objects.ts';
import type { LedgerStores } from './run-recording.ts';

/** Rounds in which one request removes objects, of 1,000 each. */
const MAX_REMOVAL_ROUNDS = 200;

/** `complete` = nothing of the run is left. */
export type RunRemoval = { readonly complete: boolean };

/** Returns null if the run does not exist. @throws StorageError; the next call continues. */
export async function removeRun(stores: LedgerStores, run: string, now: number): Promise<RunRemoval | null> {
  const { db, project } = stores;
  const found = await stored('d1', 'run_hide', async () => {
    const ready = await database(db);
    const [, rows] = await ready.batch<{ incarnation: string; shards: number }>([
      ready
        .prepare('UPDATE run_list SET deleting_at = ? WHERE project = ? AND id = ? AND deleting_at IS NULL')
        .bind(now, project, run),
      ready.prepare('SELECT incarnation, shards FROM run_list WHERE project = ? AND id = ?').bind(project, run),
    ]);
    return rows?.results[0] ?? null;
  });
  if (found === null) return null;
  forgetRun(db, project, run);
  return { complete: await removeLife(stores, { project, run, ...found }) };
}

/**
 * Continues interrupted deletions, and deletes runs without recent recordings, in all projects.
 * @param inactiveSince deletes runs without a recording since then, in milliseconds since 1970; `null` = none.
 * @param limit the maximum number of runs.
 */
export async function clearRuns(
  stores: LedgerStores,
  inactiveSince: number | null,
  limit: number,
  now: number,
): Promise<void> {
  const { results } = await stored('d1', 'run_clear', async () =>
    (await database(stores.db))
      .prepare(
        `SELECT project, id FROM (SELECT project, id FROM run_list WHERE deleting_at IS NOT NULL LIMIT ?1)
         UNION SELECT project, id
         FROM (SELECT project, id FROM run_list WHERE active_at < ?2 ORDER BY active_at LIMIT ?1) LIMIT ?1`,
      )
      .bind(limit, inactiveSince ?? -1)
      .all<{ project: string; id: string }>(),
  );
  for (const { project, id } of results) await removeRun({ ...stores, project }, id, now);
}

/** Returns false if the rounds of one call were not enough. */
async function removeLife({ db, bucket, objects }: LedgerStores, life: RunLife): Promise<boolean> {
  const prefix = runPrefix(life);
  await Promise.all(
    shardsOf(life).map((shard) => repeated(objects, life, shard, async (object) => await object.erase(prefix))),
  );
  // No write of this life succeeds from here on, so a writer that comes late removes its own objects.
  let rounds = MAX_REMOVAL_ROUNDS;
  for (; rounds > 0; rounds--) if ((await removeObjects(bucket, prefix)) !== 'some') break;
  if (rounds === 0) return false;
  await stored('d1', 'run_forget', async () =>
    (await database(db))
      .prepare('DELETE FROM run_list WHERE project = ? AND id = ? AND incarnation = ? AND deleting_at IS NOT NULL')
      .bind(life.project, life.run, life.incarnation)
      .run(),
  );
  return true;
}
