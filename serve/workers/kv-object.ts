/**
 * A KV namespace in SQLite. Speaks the HTTP protocol of workerd's `kvNamespace` binding: GET, PUT and DELETE of
 * `/<key>`, GET of `/` (list) and POST of `/bulk/get`. Reads see every earlier write at once, unlike the platform's.
 */
import { DurableObject } from 'cloudflare:workers';
import * as z from 'zod';
import { BlobTable } from './blob-table.ts';
import { failed } from './replies.ts';
import { cursorAfter, keyOfCursor, prefixEnd } from './sql-text.ts';

/** Limits of the platform. */
const MAX_KEY_BYTES = 512;
const MAX_VALUE_BYTES = 25 * 1024 * 1024;
const MAX_METADATA_BYTES = 1_024;
const MAX_BULK_KEYS = 100;
const MAX_LISTED_KEYS = 1_000;
const MIN_EXPIRY_S = 60;
/** Puts between two removals of expired entries. */
const PUTS_PER_CLEANUP = 256;
const EXPIRED_PER_CLEANUP = 512;

/** A put that waits for its transaction. */
type Put = {
  readonly key: string;
  readonly value: ArrayBuffer;
  readonly metadata: string | null;
  readonly expires_s: number | null;
};

type Entry = {
  readonly key: string;
  readonly value: ArrayBuffer | null;
  readonly blob: number | null;
  readonly metadata: string | null;
  readonly expires_s: number | null;
};

const bulkSchema = z.object({
  keys: z.array(z.string()),
  type: z.enum(['text', 'json']).optional(),
  withMetadata: z.boolean().optional(),
});

export class KvObject extends DurableObject<unknown> {
  readonly #sql = this.ctx.storage.sql;
  readonly #blobs: BlobTable;
  #puts = 0;
  /** Puts of the next transaction, and when it has run. */
  #gathered: Put[] = [];
  #gathering: Promise<void> | null = null;

  constructor(state: DurableObjectState, environment: unknown) {
    super(state, environment);
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS entries
      (key TEXT PRIMARY KEY, value BLOB, blob INTEGER, metadata TEXT, expires_s INTEGER) STRICT`);
    this.#sql.exec('CREATE INDEX IF NOT EXISTS expiry ON entries (expires_s) WHERE expires_s IS NOT NULL');
    this.#blobs = new BlobTable(state.storage);
  }

  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (request.method === 'POST') return this.#bulk(await request.json());
    if (url.pathname === '/' && request.method === 'GET') return this.#list(url.searchParams);
    const key = keyOf(url);
    if (key === null) await request.arrayBuffer();
    if (key === null) return failed(400, `a key must have 1 to ${MAX_KEY_BYTES} bytes and not be "." or ".."`);
    switch (request.method) {
      case 'GET':
        return this.#get(key);
      case 'PUT':
        return this.#put(key, request, url.searchParams);
      case 'DELETE':
        this.ctx.storage.transactionSync(() => this.#remove(key));
        return new Response(null);
      default:
        return failed(405, 'expected GET, PUT, POST or DELETE');
    }
  }

  #get(key: string): Response {
    const entry = this.#find(key);
    if (entry === null) return failed(404, 'no such key');
    const headers = new Headers();
    if (entry.expires_s !== null) headers.set('CF-Expiration', String(entry.expires_s));
    if (entry.metadata !== null) headers.set('CF-KV-Metadata', entry.metadata);
    return new Response(this.#valueOf(entry), { headers });
  }

  #bulk(body: unknown): Response {
    const { keys, type, withMetadata } = bulkSchema.parse(body);
    if (keys.length === 0 || keys.length > MAX_BULK_KEYS) return failed(400, `expected 1 to ${MAX_BULK_KEYS} keys`);
    const found: Record<string, unknown> = {};
    let bytes = 0;
    for (const key of keys) {
      const entry = this.#find(key);
      const buffer = entry === null ? null : this.#valueOf(entry);
      if (entry === null || buffer === null) {
        found[key] = null;
        continue;
      }
      bytes += buffer.byteLength;
      if (bytes > MAX_VALUE_BYTES) return failed(413, `the values together exceed ${MAX_VALUE_BYTES} bytes`);
      const text = new TextDecoder().decode(buffer);
      const value: unknown = type === 'json' ? JSON.parse(text) : text;
      found[key] = withMetadata === true ? { value, metadata: metadataOf(entry) } : value;
    }
    return Response.json(found);
  }

  async #put(key: string, request: Request, query: URLSearchParams): Promise<Response> {
    // Read before any refusal: the binding waits until its body is taken.
    const value = await request.arrayBuffer();
    const now_s = Math.floor(Date.now() / 1_000);
    const expires_s = expiryOf(query, now_s);
    if (expires_s === 'malformed') return failed(400, `expected an expiry at least ${MIN_EXPIRY_S} s in the future`);
    const metadata = request.headers.get('CF-KV-Metadata');
    if (metadata !== null && new TextEncoder().encode(metadata).byteLength > MAX_METADATA_BYTES) {
      return failed(413, `metadata must have at most ${MAX_METADATA_BYTES} bytes`);
    }
    if (value.byteLength > MAX_VALUE_BYTES) return failed(413, `a value must have at most ${MAX_VALUE_BYTES} bytes`);
    this.#gathered.push({ key, value, metadata, expires_s });
    this.#gathering ??= this.#storeGathered();
    await this.#gathering;
    return new Response(null);
  }

  /** Stores the puts of a millisecond in one transaction, because each transaction waits for the disk. */
  async #storeGathered(): Promise<void> {
    // workerd reads sockets only when no other work is left. A batch whose judge computes here never waits for anything
    // outside the process, so each put waits for a timer, and waiting requests are answered meanwhile.
    await scheduler.wait(1);
    const puts = this.#gathered;
    this.#gathered = [];
    this.#gathering = null;
    this.ctx.storage.transactionSync(() => {
      for (const put of puts) this.#store(put);
    });
  }

  #store({ key, value, metadata, expires_s }: Put): void {
    const isSmall = value.byteLength <= BlobTable.CHUNK_BYTES;
    const blob = isSmall ? null : this.#blobs.put(new Uint8Array(value));
    const insert = (): number =>
      this.#sql.exec(
        'INSERT INTO entries (key, value, blob, metadata, expires_s) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
        ...[key, isSmall ? value : null, blob, metadata, expires_s],
      ).rowsWritten;
    // Most keys are new: one statement.
    if (insert() === 0) {
      this.#remove(key);
      insert();
    }
    if (this.#puts++ % PUTS_PER_CLEANUP === 0) this.#removeExpired(Math.floor(Date.now() / 1_000));
  }

  #list(query: URLSearchParams): Response {
    const limit = Number(query.get('key_count_limit') ?? MAX_LISTED_KEYS);
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED_KEYS) {
      return failed(400, `expected a limit from 1 to ${MAX_LISTED_KEYS}`);
    }
    const prefix = query.get('prefix') ?? '';
    const rows = this.#sql
      .exec<Pick<Entry, 'key' | 'metadata' | 'expires_s'>>(
        `SELECT key, metadata, expires_s FROM entries
        WHERE key >= ? AND key < ? AND key > ? AND (expires_s IS NULL OR expires_s > ?) ORDER BY key LIMIT ?`,
        ...[prefix, prefixEnd(prefix), keyOfCursor(query.get('cursor')), Date.now() / 1_000, limit + 1],
      )
      .toArray();
    const page = rows.slice(0, limit);
    const keys = page.map(({ key, metadata, expires_s }) => ({
      name: key,
      ...(expires_s === null ? {} : { expiration: expires_s }),
      ...(metadata === null ? {} : { metadata }),
    }));
    const last = page.at(-1);
    const isComplete = rows.length <= limit || last === undefined;
    return Response.json({
      keys,
      list_complete: isComplete,
      ...(isComplete ? {} : { cursor: cursorAfter(last.key) }),
      cacheStatus: null,
    });
  }

  #find(key: string): Entry | null {
    const [entry] = this.#sql.exec<Entry>('SELECT * FROM entries WHERE key = ?', key).toArray();
    if (entry === undefined || (entry.expires_s !== null && entry.expires_s <= Date.now() / 1_000)) return null;
    return entry;
  }

  #valueOf({ value, blob }: Entry): ArrayBuffer {
    if (value !== null) return value;
    if (blob === null) throw new Error('an entry has neither a value nor a blob');
    return this.#blobs.whole(blob);
  }

  #remove(key: string): void {
    const removed = this.#sql
      .exec<{ blob: number | null }>('DELETE FROM entries WHERE key = ? RETURNING blob', key)
      .toArray();
    for (const { blob } of removed) if (blob !== null) this.#blobs.remove(blob);
  }

  #removeExpired(now_s: number): void {
    const expired = this.#sql
      .exec<{ key: string }>('SELECT key FROM entries WHERE expires_s <= ? LIMIT ?', now_s, EXPIRED_PER_CLEANUP)
      .toArray();
    for (const { key } of expired) this.#remove(key);
  }
}

/** The binding percent-encodes keys; `null` = not a key. */
function keyOf(url: URL): string | null {
  const key = decodeURIComponent(url.pathname.slice(1));
  const bytes = new TextEncoder().encode(key).byteLength;
  return bytes < 1 || bytes > MAX_KEY_BYTES || key === '.' || key === '..' ? null : key;
}

function expiryOf(query: URLSearchParams, now_s: number): number | null | 'malformed' {
  const ttl = query.get('expiration_ttl');
  const at = query.get('expiration');
  if (ttl === null && at === null) return null;
  const expires_s = ttl === null ? Number(at) : now_s + Number(ttl);
  return Number.isInteger(expires_s) && expires_s >= now_s + MIN_EXPIRY_S ? expires_s : 'malformed';
}

function metadataOf({ metadata }: Entry): unknown {
  return metadata === null ? null : JSON.parse(metadata);
}
