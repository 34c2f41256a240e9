/** Measures the objects of runs that were active in the last minutes, for `GET /metrics` and `GET /readyz`. */
import * as z from 'zod';
import { withinMs } from '../../service/within-ms.ts';
import { logEvent } from '../log-event.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';
import { askShard, type LedgerObjects, shardsOf } from './ledger-calls.ts';
import { LEDGER_MESSAGE_VERSION, type ObjectLoad } from './ledger-messages.ts';

/** Older runs are not asked: a question would wake their objects. */
const ACTIVE_MS = 10 * 60 * 1000;
/** Runs asked at most, the last recorded first. */
const MAX_RUNS = 20;
/** How long all may take to answer, in milliseconds. */
const ANSWER_MS = 5_000;
/** A shard in which nothing is recorded. */
const IDLE: ObjectLoad = { bytes: 0, calls_per_s: 0 };

const lifeSchema = z.object({ project: z.string(), run: z.string(), incarnation: z.string(), shards: z.int().min(1) });

/**
 * The load of each shard; `null` = D1 or an object did not answer in time, a run was erased meanwhile, or an object
 * still has older code. @param now in milliseconds since 1970.
 */
export async function activeShardLoads(
  db: D1Database,
  objects: LedgerObjects,
  now: number,
): Promise<readonly ObjectLoad[] | null> {
  try {
    const loads = await withinMs(shardLoads(db, objects, now), ANSWER_MS);
    return loads === 'late' ? null : loads;
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    logEvent('error', { event: 'figures_missing', error: name });
    return null;
  }
}

async function shardLoads(db: D1Database, objects: LedgerObjects, now: number): Promise<ObjectLoad[]> {
  const { results } = await stored('d1', 'run_active', async () =>
    (await database(db))
      .prepare(
        `SELECT project, id AS run, incarnation, shards FROM run_list
         WHERE deleting_at IS NULL AND active_at >= ? ORDER BY active_at DESC LIMIT ?`,
      )
      .bind(now - ACTIVE_MS, MAX_RUNS)
      .all(),
  );
  return Promise.all(
    results.flatMap((columns) => {
      const life = lifeSchema.parse(columns);
      return shardsOf(life).map((shard) =>
        askShard(objects, life, shard, IDLE, async (object) => await object.load(LEDGER_MESSAGE_VERSION)),
      );
    }),
  );
}
