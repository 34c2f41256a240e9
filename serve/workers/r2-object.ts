/**
 * An R2 bucket in SQLite. Speaks the HTTP protocol of workerd's `r2Bucket` binding (r2-requests.ts, r2-replies.ts).
 * The bytes of an object are written as chunks while they arrive; one transaction then makes the object visible.
 */

import { DurableObject } from 'cloudflare:workers';
import { createHash, type Hash } from 'node:crypto';
import type * as z from 'zod';
import { BlobTable } from './blob-table.ts';
import { BodyReader } from './r2-body.ts';
import { type ByteRange, described, refused, replied, repliedWith, type StoredObject } from './r2-replies.ts';
import { bytesOfRange, holds, type R2Request, type RequestOf, requestSchema } from './r2-requests.ts';
import { UnusedBlobs } from './r2-unused-blobs.ts';
import { MultipartUploads } from './r2-uploads.ts';
import { cursorAfter, keyOfCursor, prefixEnd } from './sql-text.ts';

const MAX_KEY_BYTES = 1_024;
const MAX_LISTED = 1_000;

const DIGESTS = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;

export class R2Object extends DurableObject<unknown> {
  readonly #sql = this.ctx.storage.sql;
  readonly #blobs: BlobTable;
  readonly #unused: UnusedBlobs;
  readonly #uploads: MultipartUploads;

  constructor(state: DurableObjectState, environment: unknown) {
    super(state, environment);
    this.#blobs = new BlobTable(state.storage);
    this.#unused = new UnusedBlobs(state.storage, this.#blobs);
    this.#uploads = new MultipartUploads(state.storage, this.#unused);
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS objects (key TEXT PRIMARY KEY, version TEXT NOT NULL,
      size INTEGER NOT NULL, etag TEXT NOT NULL, uploaded_ms INTEGER NOT NULL, checksums TEXT NOT NULL,
      http TEXT NOT NULL, custom TEXT NOT NULL, blobs TEXT NOT NULL) STRICT`);
  }

  override async fetch(request: Request): Promise<Response> {
    const header = request.headers.get('cf-r2-request');
    const body = header === null ? new BodyReader(request.body) : null;
    const size = Number(request.headers.get('cf-r2-metadata-size') ?? 0);
    const text = header ?? new TextDecoder().decode(await body?.read(size));
    const parsed = requestSchema.safeParse(JSON.parse(text));
    const reply = await this.#answerOrRefuse(parsed, body ?? new BodyReader(null));
    await body?.drain();
    return reply;
  }

  async #answerOrRefuse(parsed: z.ZodSafeParseResult<R2Request>, body: BodyReader): Promise<Response> {
    if (!parsed.success) return refused('bad_request');
    return hasGoodName(parsed.data) ? this.#answer(parsed.data, body) : refused('bad_name');
  }

  async #answer(request: R2Request, body: BodyReader): Promise<Response> {
    switch (request.method) {
      case 'head': {
        const stored = this.#find(request.object);
        return stored === null ? refused('missing') : replied(described(stored));
      }
      case 'get':
        return this.#get(request);
      case 'list':
        return this.#list(request);
      case 'put':
        return this.#put(request, body);
      case 'delete':
        this.ctx.storage.transactionSync(() => {
          for (const key of request.objects ?? [request.object ?? '']) this.#remove(key);
        });
        this.#unused.clear();
        return new Response(null);
      case 'createMultipartUpload':
        return replied({ uploadId: this.#uploads.begin(request) });
      case 'uploadPart':
        return this.#putPart(request, body);
      case 'completeMultipartUpload':
        return this.#complete(request);
      case 'abortMultipartUpload':
        this.#uploads.abort(request.uploadId);
        this.#unused.clear();
        return new Response(null);
    }
  }

  #get(request: RequestOf<'get'>): Response {
    const stored = this.#find(request.object);
    if (stored === null) return refused('missing');
    if (!holds(request.onlyIf, stored)) return refused('precondition', stored);
    const range = bytesOfRange(request, stored.size);
    if (range === null) return refused('bad_range');
    return repliedWith(stored, range, this.#bytes(stored, range));
  }

  /** The bytes of a range, chunk by chunk. Its blobs are kept until the last one is read. */
  async *#bytes({ blobs }: StoredObject, { offset, length }: ByteRange): AsyncGenerator<Uint8Array> {
    const list: [number, number][] = JSON.parse(blobs);
    using _ = this.#unused.keep(list.map(([blob]) => blob));
    let start = 0;
    for (const [blob, size] of list) {
      const from = Math.max(offset - start, 0);
      const to = Math.min(offset + length - start, size);
      for (let at = from; at < to; ) {
        const position = Math.floor(at / BlobTable.CHUNK_BYTES);
        const chunkStart = position * BlobTable.CHUNK_BYTES;
        const end = Math.min(to, chunkStart + BlobTable.CHUNK_BYTES);
        yield this.#blobs.chunk(blob, position).subarray(at - chunkStart, end - chunkStart);
        at = end;
      }
      start += size;
    }
  }

  async #put(request: RequestOf<'put'>, body: BodyReader): Promise<Response> {
    const given = DIGESTS.map((name) => ({ name, expected: request[name] }));
    const hashes = new Map(
      given.flatMap(({ name, expected }) =>
        name === 'md5' || expected !== undefined ? [[name, createHash(name)] as const] : [],
      ),
    );
    const { blob, size } = await this.#write(body, [...hashes.values()]);
    const digests = new Map([...hashes].map(([name, hash]) => [name, hash.digest()]));
    const isWrong = given.some(({ name, expected }) => {
      const encoding = name === 'md5' ? 'base64' : 'hex';
      return expected !== undefined && digests.get(name)?.toString(encoding) !== expected;
    });
    const checksums = Object.fromEntries(
      given.flatMap(({ name }, n) => (digests.has(name) ? [[n, digests.get(name)?.toString('hex')]] : [])),
    );
    const stored: StoredObject = {
      key: request.object,
      version: crypto.randomUUID().replaceAll('-', ''),
      size,
      etag: digests.get('md5')?.toString('hex') ?? '',
      uploaded_ms: Date.now(),
      checksums: JSON.stringify(checksums),
      http: JSON.stringify(request.httpFields ?? {}),
      custom: JSON.stringify(request.customFields ?? []),
      blobs: JSON.stringify([[blob, size]]),
    };
    const isStored = this.ctx.storage.transactionSync(() => {
      if (isWrong || !holds(request.onlyIf, this.#find(request.object))) return false;
      this.#replace(stored);
      this.#unused.take(blob);
      return true;
    });
    if (!isStored) this.#unused.release(blob);
    this.#unused.clear();
    if (isStored) return replied(described(stored));
    return refused(isWrong ? 'bad_digest' : 'precondition');
  }

  async #putPart(request: RequestOf<'uploadPart'>, body: BodyReader): Promise<Response> {
    if (!this.#uploads.has(request)) return refused('no_upload');
    const hash = createHash('md5');
    const { blob, size } = await this.#write(body, [hash]);
    const etag = this.#uploads.put(request, { blob, size, md5: hash.digest('hex') });
    if (etag === null) this.#unused.release(blob);
    this.#unused.clear();
    return etag === null ? refused('no_upload') : replied({ etag });
  }

  #complete(request: RequestOf<'completeMultipartUpload'>): Response {
    const completed = this.ctx.storage.transactionSync(() => {
      const found = this.#uploads.complete(request);
      if (found.ok) this.#replace(found.value);
      return found;
    });
    this.#unused.clear();
    return completed.ok ? replied(described(completed.value)) : refused(completed.error);
  }

  /** Writes the rest of a body as a blob, which counts as unused until an object takes it. */
  async #write(body: BodyReader, hashes: readonly Hash[]): Promise<{ readonly blob: number; readonly size: number }> {
    const blob = this.ctx.storage.transactionSync(() => this.#unused.begin());
    let size = 0;
    try {
      for (let position = 0; ; position++) {
        const bytes = await body.read(BlobTable.CHUNK_BYTES);
        if (bytes.byteLength === 0) break;
        for (const hash of hashes) hash.update(bytes);
        this.#blobs.add(blob, position, bytes);
        size += bytes.byteLength;
        if (bytes.byteLength < BlobTable.CHUNK_BYTES) break;
      }
    } catch (error) {
      this.#unused.release(blob);
      this.#unused.clear();
      throw error;
    }
    return { blob, size };
  }

  #list(request: RequestOf<'list'>): Response {
    const include = request.include ?? [];
    const limit = Math.min(request.limit ?? MAX_LISTED, include.length > 0 ? 100 : MAX_LISTED);
    if (limit < 1 || (request.limit ?? 1) > MAX_LISTED) return refused('bad_limit');
    const prefix = request.prefix ?? '';
    const delimiter = request.delimiter ?? '';
    const objects: object[] = [];
    const delimitedPrefixes: string[] = [];
    const cursor = keyOfCursor(request.cursor);
    let after = (request.startAfter ?? '') > cursor ? (request.startAfter ?? '') : cursor;
    let isTruncated = false;
    // With a delimiter, each row decides where the next one is searched.
    const step = delimiter === '' ? limit + 1 : 1;
    for (let isOver = false; !isOver; ) {
      const sql = 'SELECT * FROM objects WHERE key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?';
      const rows = this.#sql.exec<StoredObject>(sql, prefix, prefixEnd(prefix), after, step).toArray();
      isOver = rows.length < step;
      for (const row of rows) {
        if (objects.length + delimitedPrefixes.length === limit) {
          isTruncated = true;
          isOver = true;
          break;
        }
        const end = delimiter === '' ? -1 : row.key.indexOf(delimiter, prefix.length);
        if (end === -1) {
          const http = include.includes(0) ? row.http : '{}';
          objects.push(described({ ...row, http, custom: include.includes(1) ? row.custom : '[]' }));
          after = row.key;
        } else {
          const group = row.key.slice(0, end + delimiter.length);
          delimitedPrefixes.push(group);
          after = prefixEnd(group);
        }
      }
    }
    const next = isTruncated ? { cursor: cursorAfter(after) } : {};
    return replied({ objects, truncated: isTruncated, ...next, delimitedPrefixes });
  }

  #find(key: string): StoredObject | null {
    return this.#sql.exec<StoredObject>('SELECT * FROM objects WHERE key = ?', key).toArray()[0] ?? null;
  }

  #replace(stored: StoredObject): void {
    this.#remove(stored.key);
    const { key, version, size, etag, uploaded_ms, checksums, http, custom, blobs } = stored;
    this.#sql.exec(
      'INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[key, version, size, etag, uploaded_ms, checksums, http, custom, blobs],
    );
  }

  #remove(key: string): void {
    const sql = 'DELETE FROM objects WHERE key = ? RETURNING blobs';
    for (const { blobs } of this.#sql.exec<{ blobs: string }>(sql, key).toArray()) {
      const list: [number, number][] = JSON.parse(blobs);
      for (const [blob] of list) this.#unused.add(blob);
    }
  }
}

function hasGoodName(request: R2Request): boolean {
  const names = 'objects' in request ? (request.objects ?? []) : [];
  const name = 'object' in request ? (request.object ?? '') : '';
  return [...names, name].every((each) => new TextEncoder().encode(each).byteLength <= MAX_KEY_BYTES);
}
