/** `/v1/files` in OpenAI's shape. Uploaded forms are streamed into R2, file contents are streamed out of it. */

import type * as z from 'zod';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import { StorageError } from '../../../service/storage-error.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { MAX_FILE_BYTES } from '../../../src/limits.ts';
import { type FileListReply, type FileReply, fileFieldsSchema } from '../../../src/wire/files.ts';
import { type FileStore, newFileId, nowSeconds, type StoredFile } from '../../storage/files.ts';
import { R2_PART_BYTES } from '../../storage/part-writer.ts';
import { PassingBody } from '../body.ts';
import { type Context, storesOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';
import { readForm } from '../upload-form.ts';

/** The most that one file holds at a time: the part being sent, and the next. */
export const FILE_BUFFER_BYTES = 2 * R2_PART_BYTES;
/** What a file that arrives takes of the room for bodies: an eighth of its buffers, so that several can arrive. */
export const FILE_BUFFER_SHARE = FILE_BUFFER_BYTES / 8;

const LIFETIME_ANCHOR = 'expires_after[anchor]';
const LIFETIME_SECONDS = 'expires_after[seconds]';
const FILE_FIELDS = ['purpose', LIFETIME_ANCHOR, LIFETIME_SECONDS] as const;

export const fileHandlers = {
  'POST /v1/files': async (c) => {
    const store = storesOf(c).files;
    const file = await outlivingCaller(c, receiveFile(c, store));
    await ignoringStorageErrors(() => store.removeExpired());
    return c.json(fileReply(file));
  },
  'GET /v1/files': async (c, query) => {
    const store = storesOf(c).files;
    if (query.after !== undefined && !(await store.knows(query.after))) {
      throw invalidInput(['query', 'after'], 'expected the id of a file');
    }
    const { files, has_more } = await store.list(query);
    const [first_id, last_id] = [files[0]?.id ?? null, files.at(-1)?.id ?? null];
    return c.json({ object: 'list', data: files.map(fileReply), has_more, first_id, last_id } satisfies FileListReply);
  },
  'GET /v1/files/{id}': async (c) => c.json(fileReply(await found(c))),
  'DELETE /v1/files/{id}': async (c) => {
    const { id } = await found(c);
    await storesOf(c).files.remove(id);
    return c.json({ id, object: 'file', deleted: true });
  },
  'GET /v1/files/{id}/content': async (c) => {
    const file = await found(c);
    const range = rangeOf(c.req.raw.headers, file);
    if (range === 'unsatisfiable') throw new RequestError({ reason: 'range_not_satisfiable', bytes: file.bytes });
    const object = await storesOf(c).files.open(file.id, range ?? undefined);
    if (object === null) throw new RequestError({ reason: 'file_not_found' });
    return c.body(object.body, range === null ? 200 : 206, contentHeaders(file, range));
  },
} satisfies Partial<Handlers>;

/** Stores the file of a form; after a failure nothing of it remains. */
async function receiveFile(c: Context, store: FileStore): Promise<StoredFile> {
  const passing = new PassingBody(c, FILE_BUFFER_SHARE);
  const id = newFileId();
  const writer = store.writer(id);
  try {
    const form = await readForm(c, {
      file: 'file',
      maxFileBytes: MAX_FILE_BYTES,
      fields: FILE_FIELDS,
      begin: (fields) => {
        if (fields.has('purpose')) checked(purposeOnlySchema, { purpose: fields.get('purpose') });
      },
      write: async (bytes) => {
        await passing.add(bytes.byteLength);
        await writer.write(bytes);
      },
    });
    const { purpose, expires_after } = readFields(form.fields);
    const { bytes } = await writer.close();
    const created_at = nowSeconds();
    const expires_at = expires_after === undefined ? null : created_at + expires_after.seconds;
    const file: StoredFile = { id, purpose, filename: form.filename, bytes, created_at, expires_at };
    await store.record(file);
    return file;
  } catch (error) {
    await ignoringStorageErrors(() => writer.abort());
    // A write that was reported as failed may have succeeded.
    if (error instanceof StorageError) await ignoringStorageErrors(() => store.remove(id));
    throw error;
  }
}

const purposeOnlySchema = fileFieldsSchema.pick({ purpose: true });

function readFields(fields: ReadonlyMap<string, string>): z.output<typeof fileFieldsSchema> {
  const [purpose, anchor, seconds] = FILE_FIELDS.map((name) => fields.get(name));
  const expires_after = anchor === undefined && seconds === undefined ? {} : { expires_after: { anchor, seconds } };
  return checked(fileFieldsSchema, { purpose, ...expires_after });
}

function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RequestError({ reason: 'input_invalid', problems: problemsOfIssues(parsed.error.issues, value) });
}

export function fileReply({ id, bytes, created_at, expires_at, filename, purpose }: StoredFile): FileReply {
  const expiry = expires_at === null ? {} : { expires_at };
  return { id, object: 'file', bytes, created_at, ...expiry, filename, purpose, status: 'processed' };
}

async function found(c: Context): Promise<StoredFile> {
  const file = await storesOf(c).files.get(pathParameter(c, 'id'));
  if (file === null) throw new RequestError({ reason: 'file_not_found' });
  return file;
}

/**
 * Lets work continue after its caller disconnects, which would otherwise end the invocation before it can clean up. What
 * the request holds counts until then. The reply still waits for the work, so it promises nothing that has not happened.
 */
export async function outlivingCaller<T>(c: Context, work: Promise<T>): Promise<T> {
  const releases = [c.get('bodyLease').hold(), c.get('arrivingLease').hold()];
  const settled = Promise.allSettled([work]).then(() => {
    for (const release of releases) release();
  });
  c.executionCtx.waitUntil(settled);
  return work;
}

/** Runs a cleanup whose failure does not affect the reply. Storage failures are already logged. */
export async function ignoringStorageErrors(clear: () => Promise<unknown>): Promise<void> {
  try {
    await clear();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

type ContentRange = { readonly offset: number; readonly length: number };

/** One byte range: `0-99`, `100-`, `-50`. */
const RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/**
 * The requested range (RFC 9110 section 14); `null` = the whole file, because the request names no range, several
 * ranges, or a range of another version.
 */
function rangeOf(headers: Headers, file: StoredFile): ContentRange | 'unsatisfiable' | null {
  const condition = headers.get('if-range');
  if (condition !== null && condition !== etagOf(file)) return null;
  const [match, first, last, suffix] = RANGE.exec(headers.get('range')?.trim() ?? '') ?? [];
  if (match === undefined) return null;
  const offset = first === undefined ? Math.max(0, file.bytes - Number(suffix)) : Number(first);
  const end = last === undefined ? file.bytes : Math.min(Number(last) + 1, file.bytes);
  if (last !== undefined && Number(last) < offset) return null;
  return offset < end ? { offset, length: end - offset } : 'unsatisfiable';
}

/** The content comes from a caller, so a browser must save it and never render it as a page. */
function contentHeaders(file: StoredFile, range: ContentRange | null): Record<string, string> {
  const { offset, length } = range ?? { offset: 0, length: file.bytes };
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': disposition(file.filename),
    'content-length': String(length),
    'accept-ranges': 'bytes',
    etag: etagOf(file),
    ...(range === null ? {} : { 'content-range': `bytes ${offset}-${offset + length - 1}/${file.bytes}` }),
  };
}

/** The content of an id never changes. */
function etagOf({ id }: StoredFile): string {
  return `"${id}"`;
}

/** RFC 6266: the file name in ASCII and in UTF-8. */
function disposition(filename: string): string {
  const ascii = filename.replace(/[^A-Za-z0-9._ -]/g, '_');
  const extended = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${extended}`;
}
