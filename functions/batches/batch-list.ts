/**
 * The list of batches in D1: the latest snapshot of each batch, for listing only. The batch's object owns its state.
 */
import * as z from 'zod';
import { type BatchReply, batchSchema } from '../../src/wire/batches/batch.ts';
import { logEvent } from '../log-event.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';

type BatchPage = { readonly batches: readonly BatchReply[]; readonly has_more: boolean };

/** Fields that a later version of the Worker added are left out. */
const snapshotSchema = z.object({ v: z.literal(1), batch: z.object(batchSchema.shape) });
type Snapshot = z.infer<typeof snapshotSchema>;

/** The batches of one project. Every method throws `StorageError` if D1 fails. */
export class BatchList {
  readonly #db: D1Database;
  readonly #project: string;

  constructor(db: D1Database, project: string) {
    this.#db = db;
    this.#project = project;
  }

  /** Stores a snapshot. A late write after the batch's end changes nothing. */
  async put(batch: BatchReply): Promise<void> {
    const snapshot = JSON.stringify({ v: 1, batch } satisfies Snapshot);
    await this.#run('put', (db) =>
      db
        .prepare(
          `INSERT INTO batches (id, project, created_at, snapshot) VALUES (?, ?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET snapshot = excluded.snapshot
           WHERE batches.snapshot ->> '$.batch.status' NOT IN ('failed', 'completed', 'expired', 'cancelled')`,
        )
        .bind(batch.id, this.#project, batch.created_at, snapshot)
        .run(),
    );
  }

  /**
   * Returns one page, the newest first, or `null` if `after` (the last id of the previous page) is unknown. Batches in the
   * form of a later version are left out until the deployment is forward again.
   */
  async page({ after, limit }: { readonly after: string | null; readonly limit: number }): Promise<BatchPage | null> {
    if (after !== null && !(await this.#knows(after))) return null;
    const where = after === null ? '' : 'AND (created_at, id) < (SELECT created_at, id FROM batches WHERE id = ?)';
    const { results } = await this.#run('list', (db) =>
      db
        .prepare(
          `SELECT snapshot FROM batches WHERE project = ? AND snapshot ->> '$.v' = 1 ${where}
           ORDER BY created_at DESC, id DESC LIMIT ?`,
        )
        .bind(this.#project, ...(after === null ? [] : [after]), limit + 1)
        .all<{ snapshot: string }>(),
    );
    const batches = results.slice(0, limit).flatMap(({ snapshot }) => {
      const read = snapshotSchema.safeParse(JSON.parse(snapshot));
      if (read.success) return [read.data.batch];
      logEvent('error', { event: 'stored_form_unknown', object: 'BatchList', detail: 'a snapshot' });
      return [];
    });
    return { batches, has_more: results.length > limit };
  }

  async #knows(id: string): Promise<boolean> {
    const found = await this.#run('knows', (db) =>
      db.prepare('SELECT id FROM batches WHERE id = ? AND project = ?').bind(id, this.#project).first('id'),
    );
    return found !== null;
  }

  #run<T>(operation: string, work: (db: D1Database) => Promise<T>): Promise<T> {
    return stored('d1', `batches_${operation}`, async () => work(await database(this.#db)));
  }
}
