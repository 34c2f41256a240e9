/**
 * Files of batches. Small files are uploaded in one request, larger ones in parts. Content is a Blob: in Node,
 * `openAsBlob` of node:fs reads it from disk in pieces.
 */

import {
  type FileListReply,
  type FileReply,
  fileDeletedSchema,
  fileListSchema,
  fileSchema,
  type UploadPartReply,
  type UploadReply,
  uploadPartSchema,
  uploadSchema,
} from '../../src/wire/files.ts';
import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/**
 * Largest file that is uploaded in one request. The platform limits a request to 100 MB on most plans, including the
 * form around the file.
 */
export const MAX_WHOLE_FILE_BYTES = 90_000_000;

/** Part size of larger files. OpenAI's clients send 64 MiB, which is the maximum. */
export const UPLOAD_PART_BYTES = 64_000_000;

/** Time limit of an upload request: enough for one part at 1 Mbit/s. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
/** Time limit of a completion, in which the Worker copies every part once more. */
const COMPLETION_TIMEOUT_MS = 5 * 60_000;

/** A file to upload. */
export type NewFile = { readonly content: Blob; readonly filename: string };

/** How a file is uploaded in parts. */
export type UploadOptions = {
  /** Largest file to upload in one request. Default: MAX_WHOLE_FILE_BYTES. */
  readonly whole_bytes?: number;
  /** Part size in bytes. Default: UPLOAD_PART_BYTES. */
  readonly part_bytes?: number;
  /** Called after each part. */
  readonly onProgress?: (progress: { readonly sent_bytes: number; readonly total_bytes: number }) => void;
};

/** Uploads, downloads and deletes files. */
export type FilesClient = {
  /** Uploads a file in one request (`POST /v1/files`). */
  create(file: NewFile): Promise<Reply<FileReply>>;
  /** Uploads a file of up to 512 MB, in one request or in parts. */
  upload(file: NewFile, options?: UploadOptions): Promise<Reply<FileReply>>;
  retrieve(id: string): Promise<Reply<FileReply>>;
  /** Lists files, newest first. @param query `after`: last id of the previous page. */
  list(query?: { readonly after?: string }): Promise<Reply<FileListReply>>;
  /** Streams the content of a file. A broken connection fails the stream; compare the received length with `bytes`. */
  content(id: string): Promise<Reply<ReadableStream<Uint8Array>>>;
  delete(id: string): Promise<Reply<{ id: string; object: 'file'; deleted: true }>>;
};

/** `/v1/uploads`: uploads a file part by part. `files.upload` does all of it for you. */
export type UploadsClient = {
  create(upload: { readonly filename: string; readonly bytes: number }): Promise<Reply<UploadReply>>;
  addPart(id: string, data: Blob): Promise<Reply<UploadPartReply>>;
  /** Completes the file. @param part_ids in the order of the parts in the file. */
  complete(id: string, part_ids: readonly string[]): Promise<Reply<UploadReply>>;
  cancel(id: string): Promise<Reply<UploadReply>>;
};

export function createUploads(connection: Connection): UploadsClient {
  return {
    create: ({ filename, bytes }) =>
      connection.post(
        routePath('POST /v1/uploads', {}),
        { json: { filename, bytes, purpose: 'batch', mime_type: 'application/jsonl' } },
        uploadSchema,
      ),
    addPart: (id, data) =>
      connection.post(
        routePath('POST /v1/uploads/{id}/parts', { id }),
        { form: formOf({ data: [data, 'part'] }) },
        uploadPartSchema,
        {
          timeout_ms: UPLOAD_TIMEOUT_MS,
        },
      ),
    complete: (id, part_ids) =>
      connection.post(routePath('POST /v1/uploads/{id}/complete', { id }), { json: { part_ids } }, uploadSchema, {
        timeout_ms: COMPLETION_TIMEOUT_MS,
      }),
    cancel: (id) => connection.post(routePath('POST /v1/uploads/{id}/cancel', { id }), { json: {} }, uploadSchema),
  };
}

export function createFiles(connection: Connection, uploads: UploadsClient): FilesClient {
  const create = ({ content, filename }: NewFile): Promise<Reply<FileReply>> =>
    // `purpose` comes first, so that the server can refuse before it reads the content.
    connection.post(
      routePath('POST /v1/files', {}),
      { form: formOf({ purpose: 'batch', file: [content, filename] }) },
      fileSchema,
      {
        timeout_ms: UPLOAD_TIMEOUT_MS,
      },
    );
  return {
    create,
    upload(file, { whole_bytes = MAX_WHOLE_FILE_BYTES, part_bytes = UPLOAD_PART_BYTES, onProgress } = {}) {
      if (file.content.size <= whole_bytes) return create(file);
      return uploadInParts(uploads, file, part_bytes, onProgress ?? (() => undefined));
    },
    retrieve: (id) => connection.get(routePath('GET /v1/files/{id}', { id }), fileSchema),
    list: ({ after } = {}) => connection.get(routePath('GET /v1/files', {}, { after }), fileListSchema),
    content: (id) => connection.stream(routePath('GET /v1/files/{id}/content', { id })),
    delete: (id) => connection.remove(routePath('DELETE /v1/files/{id}', { id }), fileDeletedSchema),
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

/** Cancels the upload. A failure does not matter: an upload expires after an hour. */
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
