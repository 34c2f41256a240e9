/** The API keys in D1. A key itself is never stored, only its SHA-256. */
import * as z from 'zod';
import { newId } from '../../service/ids.ts';
import { MAX_PROJECT_KEYS } from '../../src/limits.ts';
import { RATE_TIERS, type RateTier, SCOPES, type Scope } from '../../src/wire/api-keys.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long the row of a revoked or expired key is kept, so that the audit names it. */
const ENDED_KEY_MEMORY_MS = 90 * DAY_MS;
/** `last_used_at` is written at most once in this time. */
const LAST_USE_STEP_MS = 60 * 60 * 1000;

export type StoredKey = {
  readonly id: string;
  readonly project: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly tier: RateTier;
  /** Milliseconds since 1970. */
  readonly created_at: number;
  /** `null` = never. */
  readonly expires_at: number | null;
  /** To the hour; `null` = not used yet. */
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
};

type NewKey = Pick<StoredKey, 'project' | 'label' | 'scopes' | 'tier' | 'created_at' | 'expires_at'> & {
  /** SHA-256 of the key's text, in hex. */
  readonly sha256: string;
};

type KeyPage = { readonly keys: readonly StoredKey[]; readonly has_more: boolean };

const COLUMNS = 'id, project, label, scopes, tier, created_at, expires_at, last_used_at, revoked_at';
const isScope = (name: string): name is Scope => SCOPES.some((scope) => scope === name);

/** A key that a later version made keeps, after a rollback, what this version knows: fewer scopes, the lowest tier. */
const columnsSchema = z.object({
  id: z.string(),
  project: z.string(),
  label: z.string(),
  scopes: z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text)).filter(isScope)),
  tier: z.string().transform((name): RateTier => RATE_TIERS.find((tier) => tier === name) ?? 'standard'),
  created_at: z.int(),
  expires_at: z.int().nullable(),
  last_used_at: z.int().nullable(),
  revoked_at: z.int().nullable(),
});

/** Every method throws StorageError if D1 fails. */
export class KeyTable {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** Adds a key. Returns null if its project has MAX_PROJECT_KEYS keys already. */
  async add({ sha256, project, label, scopes, tier, created_at, expires_at }: NewKey): Promise<StoredKey | null> {
    const id = newId('key_');
    const { meta } = await this.#run('add', (db) =>
      db
        .prepare(
          `INSERT INTO api_keys (id, sha256, project, label, scopes, tier, created_at, expires_at)
           SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE
             (SELECT COUNT(*) FROM api_keys WHERE project = ?3 AND revoked_at IS NULL
                AND (expires_at IS NULL OR expires_at > ?7)) < ?9`,
        )
        .bind(id, sha256, project, label, JSON.stringify(scopes), tier, created_at, expires_at, MAX_PROJECT_KEYS)
        .run(),
    );
    if (meta.changes === 0) return null;
    return { id, project, label, scopes, tier, created_at, expires_at, last_used_at: null, revoked_at: null };
  }

  /** Finds a key that is not revoked, by the SHA-256 of its text in hex, and notes that it is used. */
  async use(sha256: string, now: number): Promise<StoredKey | null> {
    const row = await this.#run('use', (db) =>
      db.prepare(`SELECT ${COLUMNS} FROM api_keys WHERE sha256 = ? AND revoked_at IS NULL`).bind(sha256).first(),
    );
    if (row === null) return null;
    const key = columnsSchema.parse(row);
    const hour = now - (now % LAST_USE_STEP_MS);
    if (key.last_used_at === null || key.last_used_at < hour) {
      await this.#run('used', (db) =>
        db.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?').bind(hour, key.id).run(),
      );
    }
    return key;
  }

  /** One page, the newest first; null if `after` is unknown. @param project `null` = all projects. */
  async page(
    project: string | null,
    { after, limit }: { readonly after: string | null; readonly limit: number },
  ): Promise<KeyPage | null> {
    const own = '(?1 IS NULL OR project = ?1)';
    return this.#run('list', async (db) => {
      if (after !== null) {
        const known = await db.prepare(`SELECT 1 FROM api_keys WHERE ${own} AND id = ?2`).bind(project, after).first();
        if (known === null) return null;
      }
      const { results } = await db
        .prepare(
          `SELECT ${COLUMNS} FROM api_keys WHERE ${own}
             AND (?2 IS NULL OR (created_at, id) < (SELECT created_at, id FROM api_keys WHERE id = ?2))
           ORDER BY created_at DESC, id DESC LIMIT ?3`,
        )
        .bind(project, after, limit + 1)
        .all();
      const keys = results.slice(0, limit).map((row) => columnsSchema.parse(row));
      return { keys, has_more: results.length > limit };
    });
  }

  /**
   * Revokes a key; a revoked one stays so. Returns its SHA-256, or null if there is no such key.
   * @param project `null` = a key of any project.
   */
  async revoke(project: string | null, id: string, now: number): Promise<string | null> {
    const [, found] = await this.#run('revoke', (db) =>
      db.batch<{ sha256: string }>([
        db
          .prepare(
            'UPDATE api_keys SET revoked_at = ?3 WHERE (?1 IS NULL OR project = ?1) AND id = ?2 AND revoked_at IS NULL',
          )
          .bind(project, id, now),
        db.prepare('SELECT sha256 FROM api_keys WHERE (?1 IS NULL OR project = ?1) AND id = ?2').bind(project, id),
      ]),
    );
    return found?.results[0]?.sha256 ?? null;
  }

  /** Deletes the rows of keys that were revoked or expired long ago. */
  async clear(now: number): Promise<void> {
    const before = now - ENDED_KEY_MEMORY_MS;
    await this.#run('clear', (db) =>
      db.prepare('DELETE FROM api_keys WHERE revoked_at < ?1 OR expires_at < ?1').bind(before).run(),
    );
  }

  #run<T>(operation: string, work: (db: D1Database) => Promise<T>): Promise<T> {
    return stored('d1', `keys_${operation}`, async () => work(await database(this.#db)));
  }
}
