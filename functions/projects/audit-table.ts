/** The uses of admin routes, in D1: who did what, and the outcome. Rows are kept for 90 days. */
import { type AuditedUse, auditedUseSchema } from '../../src/wire/stored-keys.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';

const AUDIT_MEMORY_MS = 90 * 24 * 60 * 60 * 1000;

/** @param at milliseconds since 1970. */
export type NewUse = Omit<AuditedUse, 'n' | 'at'> & { readonly at: number };

type AuditPage = { readonly uses: readonly AuditedUse[]; readonly next: number | null };

/** Every method throws StorageError if D1 fails. */
export class AuditTable {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  async add({ at, project, key_id, key_label, method, route, path, status, reason }: NewUse): Promise<void> {
    await this.#run('add', (db) =>
      db
        .prepare(
          `INSERT INTO audit (at, project, key_id, key_label, method, route, path, status, reason)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .bind(at, project, key_id, key_label, method, route, path, status, reason)
        .run(),
    );
  }

  /** One page, the newest first. @param project `null` = all projects. @param before `next` of the previous page. */
  async page(
    project: string | null,
    { before, limit }: { readonly before: number | null; readonly limit: number },
  ): Promise<AuditPage> {
    const { results } = await this.#run('list', (db) =>
      db
        .prepare(
          `SELECT n, at, project, key_id, key_label, method, route, path, status, reason FROM audit
           WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR n < ?2) ORDER BY n DESC LIMIT ?3`,
        )
        .bind(project, before, limit + 1)
        .all<NewUse & { n: number }>(),
    );
    const uses = results
      .slice(0, limit)
      .map((row) => auditedUseSchema.parse({ ...row, at: new Date(row.at).toISOString() }));
    return { uses, next: results.length > limit ? (uses.at(-1)?.n ?? null) : null };
  }

  /** Deletes old rows. @param now milliseconds since 1970. */
  async clear(now: number): Promise<void> {
    await this.#run('clear', (db) =>
      db
        .prepare('DELETE FROM audit WHERE at < ?')
        .bind(now - AUDIT_MEMORY_MS)
        .run(),
    );
  }

  #run<T>(operation: string, work: (db: D1Database) => Promise<T>): Promise<T> {
    return stored('d1', `audit_${operation}`, async () => work(await database(this.#db)));
  }
}
