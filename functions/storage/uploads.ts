/**
 * Uploads: files sent in parts, in any order. The upload is a row of D1; each part is an R2 object
 * (`uploads/<project>/<upload>/<part>`), and R2's listing says which parts exist. Status changes are conditional updates: when a
 * completion, a cancellation and a part race, each learns who was first, and the losers undo their work.
 */

import { newId } from '../../service/ids.ts';
import { insertFile, MAX_CLEARED_AT_ONCE, nowSeconds, REMOVED_FILE_MEMORY_S, type StoredFile } from './files.ts';
import { PartWriter } from './part-writer.ts';
import { database } from './schema.ts';
import { stored } from './stored.ts';

/** How much longer the parts of an expired upload are kept, for a completion that began in time. */
const UPLOAD_GRACE_S = 15 * 60;
/** Keys per R2 listing or deletion (limit of the platform). */
export const MAX_R2_BULK_KEYS = 1_000;

const UPLOAD_STATUSES = ['pending', 'completed', 'cancelled', 'expired'] as const;
type UploadStatus = (typeof UPLOAD_STATUSES)[number];

export type StoredUpload = {
  readonly id: string;
  readonly status: UploadStatus;
  readonly purpose: 'batch';
  readonly filename: string;
  /** The size that the caller declared. */
  readonly bytes: number;
  /** Seconds since 1970. */
  readonly created_at: number;
  /** Seconds since 1970. */
  readonly expires_at: number;
  /** Lifetime of the file, in seconds; `null` = until it is removed. */
  readonly file_lifetime_s: number | null;
  /** Number of stored parts. */
  readonly parts: number;
  readonly file_id: string | null;
  /** Digest of the part ids of the completion, so that it can be repeated. */
  readonly part_ids_sha256: string | null;
};

const UPLOAD_ID = /^upload_[A-Za-z0-9_-]{24}$/;
/** Large reads, because every read leaves garbage. */
const READ_BYTES = 512 * 1024;
const MIN_READ_BYTES = READ_BYTES / 2;
const PART_ID = /^part_[A-Za-z0-9_-]{24}$/;
const COLUMNS =
  'id, status, purpose, filename, bytes, created_at, expires_at, file_lifetime_s, parts, file_id, part_ids_sha256';

export function newUploadId(): string {
  return newId('upload_');
}

export function newPartId(): string {
  return newId('part_');
}

/** The uploads of one project. Every method throws StorageError if R2 or D1 fails. */
export class UploadStore {
  readonly #bucket: R2Bucket;
  readonly #db: D1Database;
  readonly #project: string;

  constructor(bucket: R2Bucket, db: D1Database, project: string) {
    this.#bucket = bucket;
    this.#db = db;
    this.#project = project;
  }

  async create(upload: StoredUpload): Promise<void> {
    const { id, status, purpose, filename, bytes, created_at, expires_at, file_lifetime_s, parts } = upload;
    const values = [id, status, purpose, filename, bytes, created_at, expires_at, file_lifetime_s, parts, null, null];
    await this.#run('create', (db) =>
      db
        .prepare(`INSERT INTO uploads (${COLUMNS}, project, cleared) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`)
        .bind(...values, this.#project)
        .run(),
    );
  }

  /** The upload as of now: `expired` if its time has passed. */
  async get(id: string): Promise<StoredUpload | null> {
    if (!UPLOAD_ID.test(id)) return null;
    const row = await this.#run('get', (db) =>
      db
        .prepare(`SELECT ${COLUMNS} FROM uploads WHERE id = ? AND project = ?`)
        .bind(id, this.#project)
        .first<StoredUpload>(),
    );
    if (row?.status !== 'pending' || row.expires_at > nowSeconds()) return row;
    return { ...row, status: 'expired' };
  }

  partWriter(id: string, part: string): PartWriter {
    return new PartWriter(this.#bucket, `${this.#prefixOf(id)}${part}`);
  }

  async removePart(id: string, part: string): Promise<void> {
    await stored('r2', 'delete', () => this.#bucket.delete(`${this.#prefixOf(id)}${part}`));
  }

  /** Counts a stored part. Returns false if the upload accepts no more parts; the caller must then remove it. */
  async addPart(id: string, maxParts: number): Promise<boolean> {
    return this.#change('add_part', 'parts = parts + 1', 'AND parts < ?', [id, maxParts]);
  }

  /** All stored parts, with their sizes in bytes. */
  async parts(id: string): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const prefix = this.#prefixOf(id);
    for await (const { key, size } of this.#objects(prefix)) found.set(key.slice(prefix.length), size);
    return found;
  }

  /**
   * Reads a part.
   * @param write receives bytes that are valid until its promise resolves.
   * @returns false if the part does not exist.
   */
  async copyPart(id: string, part: string, write: (bytes: Uint8Array) => Promise<void>): Promise<boolean> {
    if (!PART_ID.test(part)) return false;
    const object = await stored('r2', 'get', () => this.#bucket.get(`${this.#prefixOf(id)}${part}`));
    if (object === null) return false;
    const reader = object.body.getReader({ mode: 'byob' });
    let buffer = new ArrayBuffer(READ_BYTES);
    for (;;) {
      const into = new Uint8Array(buffer);
      const { done, value } = await stored('r2', 'read', () => reader.readAtLeast(MIN_READ_BYTES, into));
      if (done) return true;
      await write(value);
      buffer = value.buffer;
    }
  }

  /**
   * Completes the upload with its file, whose bytes are stored: both rows change, or neither. Returns false if the
   * upload had ended.
   */
  async complete(id: string, file: StoredFile, partIdsSha256: string): Promise<boolean> {
    const [updated] = await this.#run('complete', (db) =>
      db.batch([
        db
          .prepare(
            `UPDATE uploads SET status = 'completed', file_id = ?, part_ids_sha256 = ?
             WHERE id = ? AND project = ? AND status = 'pending'`,
          )
          .bind(file.id, partIdsSha256, id, this.#project),
        insertFile(db, this.#project, file, id),
      ]),
    );
    return updated !== undefined && updated.meta.changes > 0;
  }

  /** Returns false if the upload had ended. */
  async cancel(id: string): Promise<boolean> {
    return this.#change('cancel', "status = 'cancelled'", 'AND expires_at > ?', [id, nowSeconds()]);
  }

  /** Removes the parts of an ended upload. Can be repeated. */
  async clear(id: string): Promise<void> {
    let keys: string[] = [];
    const remove = async (): Promise<void> => {
      if (keys.length > 0) await stored('r2', 'delete', () => this.#bucket.delete(keys));
      keys = [];
    };
    for await (const { key } of this.#objects(this.#prefixOf(id))) {
      keys.push(key);
      if (keys.length === MAX_R2_BULK_KEYS) await remove();
    }
    await remove();
    await this.#run('clear', (db) =>
      db.prepare('UPDATE uploads SET cleared = 1 WHERE id = ? AND project = ?').bind(id, this.#project).run(),
    );
  }

  /** Removes the parts of some ended uploads of all projects, and deletes the rows of those that ended long ago. */
  async clearEnded(): Promise<void> {
    const now = nowSeconds();
    const { results } = await this.#run('ended', async (db) => {
      await db.batch([
        db
          .prepare(`UPDATE uploads SET status = 'expired' WHERE cleared = 0 AND expires_at <= ? AND status = 'pending'`)
          .bind(now - UPLOAD_GRACE_S),
        db.prepare('DELETE FROM uploads WHERE cleared = 1 AND expires_at <= ?').bind(now - REMOVED_FILE_MEMORY_S),
      ]);
      return db
        .prepare(
          `SELECT id, project FROM uploads WHERE cleared = 0 AND status <> 'pending' ORDER BY expires_at LIMIT ?`,
        )
        .bind(MAX_CLEARED_AT_ONCE)
        .all<{ id: string; project: string }>();
    });
    for (const { id, project } of results) await new UploadStore(this.#bucket, this.#db, project).clear(id);
  }

  /**
   * Changes a pending upload. @param values of the id, then of the condition. Returns false if nothing changed.
   */
  async #change(
    operation: string,
    set: string,
    condition: string,
    [id, ...values]: readonly unknown[],
  ): Promise<boolean> {
    const { meta } = await this.#run(operation, (db) =>
      db
        .prepare(`UPDATE uploads SET ${set} WHERE id = ? AND project = ? AND status = 'pending' ${condition}`)
        .bind(id, this.#project, ...values)
        .run(),
    );
    return meta.changes > 0;
  }

  async *#objects(prefix: string): AsyncGenerator<R2Object> {
    let cursor: string | null = null;
    do {
      const options: R2ListOptions = { prefix, limit: MAX_R2_BULK_KEYS, ...(cursor === null ? {} : { cursor }) };
      const page: R2Objects = await stored('r2', 'list', () => this.#bucket.list(options));
      yield* page.objects;
      cursor = page.truncated ? page.cursor : null;
    } while (cursor !== null);
  }

  #prefixOf(id: string): string {
    return `uploads/${this.#project}/${id}/`;
  }

  #run<T>(operation: string, work: (db: D1Database) => Promise<T>): Promise<T> {
    return stored('d1', `uploads_${operation}`, async () => work(await database(this.#db)));
  }
}
