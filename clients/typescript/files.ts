/**
 * Files of batches. One that fits goes in one request, a larger one in parts; either way its content is a Blob, which in
 * Node can stand for a file on disk (`openAsBlob` of node:fs) and is then never in memory as a whole.
 */
import {
  type FileReply,
  fileDeletedSchema,
  fileSchema,
  type UploadPartReply,
  type UploadReply,
  uploadPartSchema,
  uploadSchema,
} from '../../src/wire/files.ts';
import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';

/** The platform caps a request at 100 MB on most plans; the form around the file needs a little of it. */
export const MAX_WHOLE_FILE_BYTES = 90_000_000;

/** Of a larger one; OpenAI's clients send 64 MiB, which is the most that is taken. */
export const UPLOAD_PART_BYTES = 64_000_000;

/** Such a part at 1 Mbit/s. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
/** The Worker copies every part once more. */
const COMPLETION_TIMEOUT_MS = 5 * 60_000;

export type NewFile = { readonly content: Blob; readonly filename: string };

export type UploadOptions = {
  /** Largest file that goes in one request. Default: MAX_WHOLE_FILE_BYTES. */
  readonly whole_bytes?: number;
  /** Bytes of one part. Default: UPLOAD_PART_BYTES. */
  readonly part_bytes?: number;
  /** Told after each part. */
  readonly onProgress?: (progress: { readonly sent_bytes: number; readonly total_bytes: number }) => void;
};

export type FilesClient = {
  /** `POST /v1/files`: one request. */
  create(file: NewFile): Promise<Reply<FileReply>>;
  /** A file of any size that the Worker takes (512 MB): in one request, or in parts. */
  upload(file: NewFile, options?: UploadOptions): Promise<Reply<FileReply>>;
  retrieve(id: string): Promise<Reply<FileReply>>;
  /** The bytes as they come. A connection that breaks makes the stream fail; compare its length with `bytes`. */
  content(id: string): Promise<Reply<ReadableStream<Uint8Array>>>;
  delete(id: string): Promise<Reply<{ id: string; object: 'file'; deleted: true }>>;
};

/** `/v1/uploads`: a file in parts, for callers that want to send them on their own. `files.upload` does it all. */
export type UploadsClient = {
  create(upload: { readonly filename: string; readonly bytes: number }): Promise<Reply<UploadReply>>;
  addPart(id: string, data: Blob): Promise<Reply<UploadPartReply>>;
  /** @param part_ids in the order of the file. */
  complete(id: string, part_ids: readonly string[]): Promise<Reply<UploadReply>>;
  cancel(id: string): Promise<Reply<UploadReply>>;
};

export function createUploads(connection: Connection): UploadsClient {
  const path = (id: string, action: string): string => `v1/uploads/${encodeURIComponent(id)}/${action}`;
  return {
    create: ({ filename, bytes }) =>
      connection.post(
        'v1/uploads',
        { json: { filename, bytes, purpose: 'batch', mime_type: 'application/jsonl' } },
        uploadSchema,
      ),
    addPart: (id, data) =>
      connection.post(path(id, 'parts'), { form: formOf({ data: [data, 'part'] }) }, uploadPartSchema, {
        timeout_ms: UPLOAD_TIMEOUT_MS,
      }),
    complete: (id, part_ids) =>
      connection.post(path(id, 'complete'), { json: { part_ids } }, uploadSchema, {
        timeout_ms: COMPLETION_TIMEOUT_MS,
      }),
    cancel: (id) => connection.post(path(id, 'cancel'), { json: {} }, uploadSchema),
  };
}

export function createFiles(connection: Connection, uploads: UploadsClient): FilesClient {
  const path = (id: string): string => `v1/files/${encodeURIComponent(id)}`;
  const create = ({ content, filename }: NewFile): Promise<Reply<FileReply>> =>
    // The purpose goes first, so that a refusal does not wait for the bytes.
    connection.post('v1/files', { form: formOf({ purpose: 'batch', file: [content, filename] }) }, fileSchema, {
      timeout_ms: UPLOAD_TIMEOUT_MS,
    });
  return {
    create,
    upload(file, { whole_bytes = MAX_WHOLE_FILE_BYTES, part_bytes = UPLOAD_PART_BYTES, onProgress } = {}) {
      if (file.content.size <= whole_bytes) return create(file);
      return uploadInParts(uploads, file, part_bytes, onProgress ?? (() => undefined));
    },
    retrieve: (id) => connection.get(path(id), fileSchema),
    content: (id) => connection.stream(`${path(id)}/content`),
    delete: (id) => connection.remove(path(id), fileDeletedSchema),
  };
}

async function uploadInParts(
  uploads: UploadsClient,
  { content, filename }: NewFile,
  part_bytes: number,
  onProgress: NonNullable<UploadOptions['onProgress']>,
): Promise<Reply<FileReply>> {
  const total_bytes = content.size;
  const created = await uploads.create({ filename, bytes: total_bytes });
  if (!created.ok) return created;
  const { id } = created.body;
  const part_ids: string[] = [];
  onProgress({ sent_bytes: 0, total_bytes });
  for (let from = 0; from < total_bytes; from += part_bytes) {
    const to = Math.min(from + part_bytes, total_bytes);
    const part = await uploads.addPart(id, content.slice(from, to));
    if (!part.ok) return giveUp(uploads, id, part);
    part_ids.push(part.body.id);
    onProgress({ sent_bytes: to, total_bytes });
  }
  const completed = await uploads.complete(id, part_ids);
  if (!completed.ok) return giveUp(uploads, id, completed);
  const { file } = completed.body;
  if (file !== undefined) return { ok: true, body: file };
  const detail = '200, but a completed upload without its file';
  return { ok: false, failure: { kind: 'unexpected_reply', status: 200, detail } };
}

/** Gives the upload up. What that gives does not matter: it ends by itself after an hour. */
async function giveUp<T>(uploads: UploadsClient, id: string, failed: T): Promise<T> {
  await uploads.cancel(id);
  return failed;
}

function formOf(parts: Readonly<Record<string, string | readonly [Blob, string]>>): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') form.append(name, part);
    else form.append(name, ...part);
  }
  return form;
}
