/**
 * `/v1/uploads` in OpenAI's shape: a file larger than one request, sent in parts. OpenAI's API cannot read an upload,
 * so completing or cancelling is idempotent: a caller who missed the reply repeats the request and gets it.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import type { InputProblem } from '../../../src/input-problem.ts';
import { MAX_UPLOAD_PART_BYTES, MAX_UPLOAD_PARTS } from '../../../src/limits.ts';
import {
  type UploadPartReply,
  type UploadReply,
  uploadCompletionSchema,
  uploadRequestSchema,
} from '../../../src/wire/files.ts';
import { type FileStore, newFileId, nowSeconds, type StoredFile } from '../../storage/files.ts';
import { newPartId, newUploadId, type StoredUpload, type UploadStore } from '../../storage/uploads.ts';
import { PassingBody, readJson, reserveBuffers } from '../body.ts';
import { type Context, storesOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';
import { readForm } from '../upload-form.ts';
import { FILE_BUFFER_BYTES, FILE_BUFFER_SHARE, fileReply, ignoringStorageErrors, outlivingCaller } from './files.ts';

/** An upload expires if it is not completed within this time (OpenAI's value). */
const UPLOAD_LIFETIME_S = 60 * 60;

export const uploadHandlers = {
  'POST /v1/uploads': async (c) => {
    const { bytes, filename, purpose, expires_after } = await readJson(c, uploadRequestSchema);
    const created_at = nowSeconds();
    const upload: StoredUpload = {
      id: newUploadId(),
      status: 'pending',
      purpose,
      filename,
      bytes,
      created_at,
      expires_at: created_at + UPLOAD_LIFETIME_S,
      file_lifetime_s: expires_after?.seconds ?? null,
      parts: 0,
      file_id: null,
      part_ids_sha256: null,
    };
    const store = storesOf(c).uploads;
    await store.create(upload);
    await ignoringStorageErrors(() => store.clearEnded());
    return c.json(uploadReply(upload));
  },
  'POST /v1/uploads/{id}/parts': async (c) => {
    const upload = await pending(c);
    return c.json(await outlivingCaller(c, receivePart(c, upload, storesOf(c).uploads)));
  },
  'POST /v1/uploads/{id}/complete': async (c) => {
    const { part_ids, md5 } = await readJson(c, uploadCompletionSchema);
    const upload = await found(c);
    const { files } = storesOf(c);
    reserveBuffers(c.get('bodyLease'), Math.min(upload.bytes, FILE_BUFFER_BYTES));
    const partIdsSha256 = await sha256Hex(JSON.stringify(part_ids));
    const before = upload.part_ids_sha256 === partIdsSha256 && upload.file_id !== null;
    const file = before
      ? await files.get(upload.file_id)
      : await outlivingCaller(
          c,
          complete(stillPending(upload), { part_ids, md5, partIdsSha256 }, storesOf(c).uploads, files),
        );
    if (file === null) throw notPending(upload);
    return c.json(uploadReply({ ...upload, status: 'completed' }, file));
  },
  'POST /v1/uploads/{id}/cancel': async (c) => {
    const upload = await found(c);
    const store = storesOf(c).uploads;
    if (upload.status !== 'cancelled') {
      stillPending(upload);
      if (!(await store.cancel(upload.id))) throw notPending(await found(c));
    }
    await ignoringStorageErrors(() => store.clear(upload.id));
    return c.json(uploadReply({ ...upload, status: 'cancelled' }));
  },
} satisfies Partial<Handlers>;

/** Stores a part; after a failure nothing of it remains. */
async function receivePart(c: Context, upload: StoredUpload, store: UploadStore): Promise<UploadPartReply> {
  const passing = new PassingBody(c, FILE_BUFFER_SHARE);
  const id = newPartId();
  const writer = store.partWriter(upload.id, id);
  try {
    await readForm(c, {
      file: 'data',
      maxFileBytes: MAX_UPLOAD_PART_BYTES,
      fields: [],
      write: async (bytes) => {
        await passing.add(bytes.byteLength);
        await writer.write(bytes);
      },
    });
    await writer.close();
    if (!(await store.addPart(upload.id, MAX_UPLOAD_PARTS))) throw await refusal(upload.id, store);
    return { id, object: 'upload.part', created_at: nowSeconds(), upload_id: upload.id };
  } catch (error) {
    await ignoringStorageErrors(() => writer.abort());
    await ignoringStorageErrors(() => store.removePart(upload.id, id));
    throw error;
  }
}

type Completion = {
  readonly part_ids: readonly string[];
  readonly md5?: string | undefined;
  readonly partIdsSha256: string;
};

/**
 * Assembles the file of an upload. Two concurrent completions assemble one file each, and the later one removes its
 * own.
 */
async function complete(
  upload: StoredUpload,
  { part_ids, md5, partIdsSha256 }: Completion,
  uploads: UploadStore,
  files: FileStore,
): Promise<StoredFile> {
  checkParts(upload, part_ids, await uploads.parts(upload.id));
  const id = newFileId();
  const writer = files.writer(id);
  const created_at = nowSeconds();
  const expires_at = upload.file_lifetime_s === null ? null : created_at + upload.file_lifetime_s;
  const { purpose, filename, bytes } = upload;
  const file: StoredFile = { id, purpose, filename, bytes, created_at, expires_at };
  try {
    const digest = md5 === undefined ? null : new Md5();
    for (const part of part_ids) {
      const isThere = await uploads.copyPart(upload.id, part, async (piece) => {
        await digest?.add(piece);
        await writer.write(piece);
      });
      // The part existed a moment ago, so the upload was cancelled meanwhile.
      if (!isThere) throw await refusal(upload.id, uploads);
    }
    if (digest !== null && (await digest.hex()) !== md5?.toLowerCase())
      throw invalidInput(['md5'], 'the MD5 of the parts differs; send the parts again');
    await writer.close();
    if (!(await uploads.complete(upload.id, file, partIdsSha256))) throw await refusal(upload.id, uploads);
  } catch (error) {
    await ignoringStorageErrors(() => writer.abort());
    // The completion may have succeeded although it was reported as failed. If that cannot be determined, the file
    // stays.
    if ((await uploads.get(upload.id))?.file_id !== id) {
      await ignoringStorageErrors(() => files.remove(id));
      throw error;
    }
  }
  await ignoringStorageErrors(() => uploads.clear(upload.id));
  return file;
}

function checkParts({ bytes }: StoredUpload, ids: readonly string[], sizes: ReadonlyMap<string, number>): void {
  const named = new Set<string>();
  const problems: InputProblem[] = [];
  let sum = 0;
  for (const [position, id] of ids.entries()) {
    const size = sizes.get(id);
    if (size === undefined)
      problems.push({ path: ['part_ids', position], message: 'the upload has no part with this id' });
    if (named.has(id))
      problems.push({ path: ['part_ids', position], message: 'the part occurs twice; list each part once' });
    named.add(id);
    sum += size ?? 0;
  }
  if (problems.length === 0 && sum !== bytes) {
    problems.push({
      path: ['part_ids'],
      message: `the parts have ${sum} bytes, but the upload was created with ${bytes}`,
    });
  }
  if (problems.length > 0) throw new RequestError({ reason: 'input_invalid', problems });
}

class Md5 {
  readonly #stream = new crypto.DigestStream('MD5');
  readonly #writer = this.#stream.getWriter();

  async add(bytes: Uint8Array): Promise<void> {
    await this.#writer.write(bytes);
  }

  async hex(): Promise<string> {
    await this.#writer.close();
    return bytesToHex(new Uint8Array(await this.#stream.digest));
  }
}

async function sha256Hex(text: string): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

function uploadReply(upload: StoredUpload, file?: StoredFile): UploadReply {
  const { id, bytes, created_at, expires_at, filename, purpose, status } = upload;
  const made = file === undefined ? {} : { file: fileReply(file) };
  return { id, object: 'upload', bytes, created_at, expires_at, filename, purpose, status, ...made };
}

async function found(c: Context): Promise<StoredUpload> {
  const upload = await storesOf(c).uploads.get(pathParameter(c, 'id'));
  if (upload === null) throw new RequestError({ reason: 'upload_not_found' });
  return upload;
}

async function pending(c: Context): Promise<StoredUpload> {
  return stillPending(await found(c));
}

function stillPending(upload: StoredUpload): StoredUpload {
  if (upload.status !== 'pending') throw notPending(upload);
  return upload;
}

function notPending({ status }: StoredUpload): RequestError {
  return new RequestError({ reason: 'upload_not_pending', status });
}

/** Why an upload that was pending before accepts no change now. */
async function refusal(id: string, store: UploadStore): Promise<RequestError> {
  const upload = await store.get(id);
  if (upload === null) return new RequestError({ reason: 'upload_not_found' });
  if (upload.status !== 'pending') return notPending(upload);
  return new RequestError({ reason: 'upload_parts_exceeded', limit: MAX_UPLOAD_PARTS });
}
