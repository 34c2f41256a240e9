/**
 * The list of webhook endpoints in D1: which there are. What they are is asked of their objects. It is also the gate to
 * them: an object is only ever addressed under an id that stands here, so that guessed ids make no objects.
 */
import { MAX_WEBHOOK_ENDPOINTS } from '../../src/limits.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/storage-error.ts';

export class WebhookEndpoints {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** False = there are as many as there may be. @param created_at milliseconds since 1970. */
  async add(id: string, created_at: number): Promise<boolean> {
    const { meta } = await stored('d1', 'webhook_add', async () =>
      (await database(this.#db))
        .prepare(
          `INSERT INTO webhook_endpoints (id, created_at)
           SELECT ?, ? WHERE (SELECT COUNT(*) FROM webhook_endpoints) < ?`,
        )
        .bind(id, created_at, MAX_WEBHOOK_ENDPOINTS)
        .run(),
    );
    return meta.changes === 1;
  }

  async has(id: string): Promise<boolean> {
    const found = await stored('d1', 'webhook_find', async () =>
      (await database(this.#db)).prepare('SELECT 1 AS found FROM webhook_endpoints WHERE id = ?').bind(id).first(),
    );
    return found !== null;
  }

  /** The oldest first. */
  async list(): Promise<string[]> {
    const { results } = await stored('d1', 'webhook_list', async () =>
      (await database(this.#db))
        .prepare('SELECT id FROM webhook_endpoints ORDER BY created_at, id LIMIT ?')
        .bind(MAX_WEBHOOK_ENDPOINTS)
        .all<{ id: string }>(),
    );
    return results.map(({ id }) => id);
  }

  async remove(id: string): Promise<void> {
    await stored('d1', 'webhook_remove', async () =>
      (await database(this.#db)).prepare('DELETE FROM webhook_endpoints WHERE id = ?').bind(id).run(),
    );
  }
}
