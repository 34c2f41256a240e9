/**
 * Files of batches: bytes in R2 (`files/<project>/<id>`), metadata in D1. The row is written after the object and removed after
 * it, so every listed file can be read. Removed rows stay for a week: list pages continue after the id of a file that
 * may have been removed since, and a repeated write does not revive a removed file.
 */

import { newId } from '../../service/ids.ts';
import { MAX_FILES_LISTED } from '../../src/limits.ts';
import { PartWriter } from './part-writer.ts';
import { database } from './schema.ts';
import { stored } from './stored.ts';

/** How long the row of a removed file stays, in seconds, so that paging continues while a list is being emptied. */
export const REMOVED_FILE_MEMORY_S = 7 * 24 * 60 * 60;
/** How many expired files and ended uploads one request cleans up. */
export const MAX_CLEARED_AT_ONCE = 10;

const FILE_PURPOSES = ['batch', 'batch_output'] as const;

export type StoredFile = {
  readonly id: string;
  readonly purpose: (typeof FILE_PURPOSES)[number];
  readonly filename: string;
  readonly bytes: number;
  /** Seconds since 1970. */
  readonly created_at: number;
  /** Seconds since 1970, when the file expires; `null` = kept until removed. */
  readonly expires_at: number | null;
};

type FileListOptions = {
  /** The last id of the previous page. */
  readonly after?: string;
  /** Files per page. Default: MAX_FILES_LISTED. */
  readonly limit?: number;
  /** By time of creation. Default: newest first. */
  readonly order?: 'asc' | 'desc';
  readonly purpose?: string;
};

type FilePage = { readonly files: StoredFile[]; readonly has_more: boolean };

const FILE_ID = /^file-[A-Za-z0-9_-]{24}$/;

export function newFileId(): string {
  return newId('file-');
}

const COLUMNS = 'id, purpose, filename, bytes, created_at, expires_at';
/** Selects rows that are not removed; the parameter is the current time in seconds. */
const ALIVE = 'removed_at IS NULL AND (expires_at IS NULL OR expires_at > ?)';

/** The files of one project. Every method throws StorageError if R2 or D1 fails. */
export class FileStore {
  readonly #bucket: R2Bucket;
  readonly #db: D1Database;
  readonly #project: string;

  constructor(bucket: R2Bucket, db: D1Database, project: string) {
    this.#bucket = bucket;
    this.#db = db;
    this.#project = project;
  }

  /** Opens a writer for the bytes of a file. The file exists after `record`. */
  writer(id: string): PartWriter {
    return new PartWriter(this.#bucket, this.#keyOf(id));
  }

  /**
   * Registers a file. Idempotent: an existing row stays. If the file has been removed since, its bytes, which a late
   * writer has written again, are removed too.
   */
  async record(file: StoredFile): Promise<void> {
    const forgotten = nowSeconds() - REMOVED_FILE_MEMORY_S;
    const [, removed] = await this.#run('record', (db) =>
      db.batch([
        insertFile(db, this.#project, file),
        db.prepare('SELECT 1 FROM files WHERE id = ? AND removed_at IS NOT NULL').bind(file.id),
        db.prepare('DELETE FROM files WHERE removed_at < ?').bind(forgotten),
      ]),
    );
    if ((removed?.results.length ?? 0) > 0) await this.#removeBytes(file.id);
  }

  /** Returns null if the file does not exist or has expired. */
  async get(id: string): Promise<StoredFile | null> {
    if (!FILE_ID.test(id)) return null;
    return this.#run('get', (db) =>
      db
        .prepare(`SELECT ${COLUMNS} FROM files WHERE id = ? AND project = ? AND ${ALIVE}`)
        .bind(id, this.#project, nowSeconds())
        .first<StoredFile>(),
    );
  }

  /** Lists one page. After an unknown id the page is empty: check `knows` first. */
  async list({ after, limit = MAX_FILES_LISTED, order = 'desc', purpose }: FileListOptions): Promise<FilePage> {
    const [beyond, direction] = order === 'asc' ? (['>', 'ASC'] as const) : (['<', 'DESC'] as const);
    const conditions = [
      'project = ?',
      ALIVE,
      ...(purpose === undefined ? [] : ['purpose = ?']),
      ...(after === undefined ? [] : [`(created_at, id) ${beyond} (SELECT created_at, id FROM files WHERE id = ?)`]),
    ];
    const sql = `SELECT ${COLUMNS} FROM files WHERE ${conditions.join(' AND ')}
                 ORDER BY created_at ${direction}, id ${direction} LIMIT ?`;
    const values = [purpose, after].filter((value) => value !== undefined);
    const { results } = await this.#run('list', (db) =>
      db
        .prepare(sql)
        .bind(this.#project, nowSeconds(), ...values, limit + 1)
        .all<StoredFile>(),
    );
    return { files: results.slice(0, limit), has_more: results.length > limit };
  }

  /** Whether a page can follow this file: it exists or was removed within a week. */
  async knows(id: string): Promise<boolean> {
    const found = await this.#run('knows', (db) =>
      db.prepare('SELECT id FROM files WHERE id = ? AND project = ?').bind(id, this.#project).first('id'),
    );
    return found !== null;
  }

  /** The bytes of a file or of a range; `null` = they do not exist. */
  async open(id: string, range?: { readonly offset: number; readonly length: number }): Promise<R2ObjectBody | null> {
    return stored('r2', 'get', () => this.#bucket.get(this.#keyOf(id), range === undefined ? {} : { range }));
  }

  /** Removes bytes and row; can be repeated after a failure. Returns false if the file did not exist. */
  async remove(id: string): Promise<boolean> {
    if (!FILE_ID.test(id)) return false;
    await this.#removeBytes(id);
    const { meta } = await this.#run('remove', (db) =>
      db
        .prepare('UPDATE files SET removed_at = ? WHERE id = ? AND project = ? AND removed_at IS NULL')
        .bind(nowSeconds(), id, this.#project)
        .run(),
    );
    return meta.changes > 0;
  }

  /** Removes some of the expired files of all projects. */
  async removeExpired(): Promise<void> {
    const { results } = await this.#run('expired', (db) =>
      db
        .prepare('SELECT id, project FROM files WHERE expires_at <= ? AND removed_at IS NULL LIMIT ?')
        .bind(nowSeconds(), MAX_CLEARED_AT_ONCE)
        .all<{ id: string; project: string }>(),
    );
    for (const { id, project } of results) await new FileStore(this.#bucket, this.#db, project).remove(id);
  }

  async #removeBytes(id: string): Promise<void> {
    await stored('r2', 'delete', () => this.#bucket.delete(this.#keyOf(id)));
  }

  #keyOf(id: string): string {
    return `files/${this.#project}/${id}`;
  }

  #run<T>(operation: string, work: (db: D1Database) => Promise<T>): Promise<T> {
    return stored('d1', `files_${operation}`, async () => work(await database(this.#db)));
  }
}

/**
 * A statement that registers a file, for a transaction. @param upload the file is registered only if this upload ended
 * with it.
 */
export function insertFile(db: D1Database, project: string, file: StoredFile, upload?: string): D1PreparedStatement {
  const condition = upload === undefined ? 'true' : 'EXISTS (SELECT 1 FROM uploads WHERE id = ? AND file_id = ?)';
  const { id, purpose, filename, bytes, created_at, expires_at } = file;
  return db
    .prepare(
      `INSERT INTO files (project, ${COLUMNS}) SELECT ?, ?, ?, ?, ?, ?, ? WHERE ${condition} ON CONFLICT (id) DO NOTHING`,
    )
    .bind(project, id, purpose, filename, bytes, created_at, expires_at, ...(upload === undefined ? [] : [upload, id]));
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
