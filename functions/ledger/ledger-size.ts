/** Measures the objects of the runs that were recorded in during the last minutes, for `GET /metrics`. */
import * as z from 'zod';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';
import { askShard, type LedgerObjects, shardsOf } from './ledger-calls.ts';
import { LEDGER_MESSAGE_VERSION } from './ledger-messages.ts';

/** Older runs are not asked: a question would wake their objects. */
const ACTIVE_MS = 10 * 60 * 1000;
/** Runs asked at most, the last recorded first. */
const MAX_RUNS = 20;

const lifeSchema = z.object({ project: z.string(), run: z.string(), incarnation: z.string(), shards: z.int().min(1) });

/** The bytes of SQLite of each shard. @param now in milliseconds since 1970. @throws StorageError, RequestError. */
export async function activeShardBytes(db: D1Database, objects: LedgerObjects, now: number): Promise<number[]> {
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
        askShard(objects, life, shard, 0, async (object) => await object.bytes(LEDGER_MESSAGE_VERSION)),
      );
    }),
  );
}
