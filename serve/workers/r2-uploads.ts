/** Multipart uploads of a bucket: parts are blobs, and completing an upload makes an object of them. */
import { createHash } from 'node:crypto';
import type { Result } from '../../src/result.ts';
import type { R2Error, StoredObject } from './r2-replies.ts';
import type { RequestOf } from './r2-requests.ts';
import type { UnusedBlobs } from './r2-unused-blobs.ts';

const MIN_PART_BYTES = 5 * 1024 * 1024;

type Part = { readonly blob: number; readonly size: number; readonly md5: string };
type StoredPart = Part & { readonly part: number; readonly etag: string };
type Upload = { readonly key: string; readonly http: string; readonly custom: string };
type Named = { readonly object: string; readonly uploadId: string };

type Completed = Result<StoredObject, R2Error>;

export class MultipartUploads {
  readonly #storage: DurableObjectStorage;
  readonly #unused: UnusedBlobs;

  constructor(storage: DurableObjectStorage, unused: UnusedBlobs) {
    this.#storage = storage;
    this.#unused = unused;
    storage.sql.exec(`CREATE TABLE IF NOT EXISTS uploads
      (id TEXT PRIMARY KEY, key TEXT NOT NULL, http TEXT NOT NULL, custom TEXT NOT NULL) STRICT`);
    storage.sql.exec(`CREATE TABLE IF NOT EXISTS parts (upload TEXT NOT NULL, part INTEGER NOT NULL,
      blob INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, md5 TEXT NOT NULL,
      PRIMARY KEY (upload, part)) STRICT`);
  }

  /** Returns the id of the upload. */
  begin({ object, httpFields, customFields }: RequestOf<'createMultipartUpload'>): string {
    const id = crypto.randomUUID().replaceAll('-', '');
    this.#storage.sql.exec(
      'INSERT INTO uploads (id, key, http, custom) VALUES (?, ?, ?, ?)',
      ...[id, object, JSON.stringify(httpFields ?? {}), JSON.stringify(customFields ?? [])],
    );
    return id;
  }

  has({ object, uploadId }: Named): boolean {
    return this.#find({ object, uploadId }) !== null;
  }

  /** Stores a part; one with the same number is replaced. Returns its ETag, or `null` if the upload is over. */
  put(request: RequestOf<'uploadPart'>, { blob, size, md5 }: Part): string | null {
    const { uploadId, partNumber } = request;
    const etag = crypto.randomUUID().replaceAll('-', '');
    return this.#storage.transactionSync(() => {
      if (!this.has(request)) return null;
      const sql = 'DELETE FROM parts WHERE upload = ? AND part = ? RETURNING blob';
      this.#dropAll(this.#storage.sql.exec<{ blob: number }>(sql, uploadId, partNumber).toArray());
      this.#storage.sql.exec(
        'INSERT INTO parts (upload, part, blob, size, etag, md5) VALUES (?, ?, ?, ?, ?, ?)',
        ...[uploadId, partNumber, blob, size, etag, md5],
      );
      this.#unused.take(blob);
      return etag;
    });
  }

  /** Ends an upload with the object of the named parts. Part of the transaction that stores the object. */
  complete(request: RequestOf<'completeMultipartUpload'>): Completed {
    const upload = this.#find(request);
    if (upload === null) return { ok: false, error: 'no_upload' };
    const sql = 'SELECT * FROM parts WHERE upload = ?';
    const stored = new Map(
      this.#storage.sql
        .exec<StoredPart>(sql, request.uploadId)
        .toArray()
        .map((part) => [part.part, part]),
    );
    const chosen = request.parts
      .toSorted((a, b) => a.part - b.part)
      .map(({ part, etag }) => ({ etag, of: stored.get(part) }));
    const parts = chosen.flatMap(({ etag, of }) => (of?.etag === etag ? [of] : []));
    if (parts.length === 0 || parts.length < chosen.length) return { ok: false, error: 'no_part' };
    const [first] = parts;
    const size = first?.size ?? 0;
    const areEven = parts.slice(0, -1).every((part) => part.size === size && part.size >= MIN_PART_BYTES);
    if (!areEven || (parts.at(-1)?.size ?? 0) > size) return { ok: false, error: 'part_too_small' };
    const used = new Set(parts.map(({ blob }) => blob));
    this.#dropAll([...stored.values()].filter(({ blob }) => !used.has(blob)));
    this.#end(request.uploadId);
    const digest = createHash('md5');
    for (const { md5 } of parts) digest.update(md5, 'hex');
    return {
      ok: true,
      value: {
        key: upload.key,
        version: request.uploadId,
        size: parts.reduce((sum, part) => sum + part.size, 0),
        etag: `${digest.digest('hex')}-${parts.length}`,
        uploaded_ms: Date.now(),
        checksums: '{}',
        http: upload.http,
        custom: upload.custom,
        blobs: JSON.stringify(parts.map((part) => [part.blob, part.size])),
      },
    };
  }

  abort(uploadId: string): void {
    this.#storage.transactionSync(() => {
      const sql = 'SELECT blob FROM parts WHERE upload = ?';
      this.#dropAll(this.#storage.sql.exec<{ blob: number }>(sql, uploadId).toArray());
      this.#end(uploadId);
    });
  }

  #find({ object, uploadId }: Named): Upload | null {
    const sql = 'SELECT key, http, custom FROM uploads WHERE id = ? AND key = ?';
    return this.#storage.sql.exec<Upload>(sql, uploadId, object).toArray()[0] ?? null;
  }

  #dropAll(parts: readonly { readonly blob: number }[]): void {
    for (const { blob } of parts) this.#unused.add(blob);
  }

  #end(uploadId: string): void {
    this.#storage.sql.exec('DELETE FROM parts WHERE upload = ?', uploadId);
    this.#storage.sql.exec('DELETE FROM uploads WHERE id = ?', uploadId);
  }
}
