/** The contract of the stores of files and uploads, for any storage below them. */

import { beforeEach, describe, expect, it } from 'vitest';
import { FileStore, newFileId, nowSeconds, type StoredFile } from '../../functions/storage/files.ts';
import { PartWriter, R2_PART_BYTES } from '../../functions/storage/part-writer.ts';
import { newPartId, newUploadId, type StoredUpload, UploadStore } from '../../functions/storage/uploads.ts';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';

export type Bindings = { readonly bucket: R2Bucket; readonly db: D1Database };

/** Bytes that encode their own position. */
export function pattern(bytes: number): Uint8Array {
  const made = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at++) made[at] = (at * 31 + (at >> 8)) & 0xff;
  return made;
}

export async function digestOf(bytes: Uint8Array | ArrayBuffer): Promise<string> {
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))));
}

export function sampleFile(changes: Partial<StoredFile> = {}): StoredFile {
  const created_at = nowSeconds();
  return {
    id: newFileId(),
    purpose: 'batch',
    filename: 'rows.jsonl',
    bytes: 5,
    created_at,
    expires_at: null,
    ...changes,
  };
}

export function sampleUpload(changes: Partial<StoredUpload> = {}): StoredUpload {
  const created_at = nowSeconds();
  return {
    id: newUploadId(),
    status: 'pending',
    purpose: 'batch',
    filename: 'rows.jsonl',
    bytes: 5,
    created_at,
    expires_at: created_at + 3_600,
    file_lifetime_s: null,
    parts: 0,
    file_id: null,
    part_ids_sha256: null,
    ...changes,
  };
}

export async function keysOf(bucket: R2Bucket): Promise<string[]> {
  return (await bucket.list()).objects.map(({ key }) => key);
}

/** Empties both stores. The tables stay, because an isolate creates them once. */
export async function empty({ bucket, db }: Bindings): Promise<void> {
  await new FileStore(bucket, db, DEFAULT_PROJECT).list({});
  await db.batch([db.prepare('DELETE FROM files'), db.prepare('DELETE FROM uploads')]);
  for (;;) {
    const keys = await keysOf(bucket);
    if (keys.length === 0) return;
    await bucket.delete(keys);
  }
}

/** Stores a part and counts it. */
async function addPart(store: UploadStore, id: string, bytes: Uint8Array): Promise<string> {
  const part = newPartId();
  const writer = store.partWriter(id, part);
  await writer.write(bytes);
  await writer.close();
  expect(await store.addPart(id, 10)).toBe(true);
  return part;
}

/** Defines the suite. */
export function describeFileStorage(name: string, { bucket, db }: Bindings): void {
  describe(`file storage: ${name}`, () => {
    const files = new FileStore(bucket, db, DEFAULT_PROJECT);
    const uploads = new UploadStore(bucket, db, DEFAULT_PROJECT);
    beforeEach(() => empty({ bucket, db }));

    describe('a writer', () => {
      const sizes = [0, 1, 70_000, R2_PART_BYTES - 1, R2_PART_BYTES, R2_PART_BYTES + 1, 2 * R2_PART_BYTES, 20_000_000];
      it.each(sizes)('stores %i bytes whatever their chunks', async (size) => {
        const bytes = pattern(size);
        for (const chunk of [size || 1, 1_234_567]) {
          const writer = new PartWriter(bucket, `k${chunk}`);
          for (let at = 0; at < size; at += chunk) {
            const piece = bytes.slice(at, at + chunk);
            await writer.write(piece);
            // The caller reuses its buffer.
            piece.fill(0);
          }
          expect(await bucket.head(`k${chunk}`)).toBeNull();
          expect(await writer.close()).toEqual({ bytes: size });
          const stored = await bucket.get(`k${chunk}`);
          expect(stored?.size).toBe(size);
          expect(await digestOf((await stored?.arrayBuffer()) ?? new ArrayBuffer(1))).toBe(await digestOf(bytes));
        }
      });

      it('that is aborted leaves nothing, and takes nothing more', async () => {
        for (const size of [0, 10, R2_PART_BYTES + 10]) {
          const writer = new PartWriter(bucket, 'k');
          await writer.write(pattern(size));
          await writer.abort();
          await writer.abort();
          await expect(writer.write(pattern(1))).rejects.toThrow();
          await expect(writer.close()).rejects.toThrow();
        }
        expect(await keysOf(bucket)).toEqual([]);
      });
    });

    describe('files', () => {
      it('a writer that comes after the removal leaves neither a file nor bytes', async () => {
        const file = sampleFile();
        const write = async () => {
          const writer = files.writer(file.id);
          await writer.write(new TextEncoder().encode('lines'));
          await writer.close();
          await files.record(file);
        };
        await write();
        expect(await files.remove(file.id)).toBe(true);
        await write();
        expect(await files.get(file.id)).toBeNull();
        expect(await keysOf(bucket)).toEqual([]);
      });

      it('are known once they are recorded, as they were recorded first', async () => {
        const file = sampleFile();
        expect(await files.get(file.id)).toBeNull();
        await files.record(file);
        await files.record({ ...file, filename: 'other' });
        expect(await files.get(file.id)).toEqual(file);
        for (const id of ['', 'file-1', '../x', `${file.id}x`]) expect(await files.get(id)).toBeNull();
      });

      it('are removed with their bytes, once, and are not revived', async () => {
        const file = sampleFile();
        const writer = files.writer(file.id);
        await writer.write(pattern(5));
        await writer.close();
        await files.record(file);
        expect(await (await files.open(file.id))?.bytes()).toEqual(pattern(5));
        expect(await files.remove(file.id)).toBe(true);
        expect(await files.remove(file.id)).toBe(false);
        // A late writer, such as the finaliser of a batch, writes the bytes again.
        const late = files.writer(file.id);
        await late.write(pattern(5));
        await late.close();
        await files.record(file);
        expect([await files.get(file.id), await files.open(file.id), await keysOf(bucket)]).toEqual([null, null, []]);
      });

      it('open in ranges', async () => {
        const { id } = sampleFile();
        const writer = files.writer(id);
        await writer.write(pattern(100));
        await writer.close();
        const range = await files.open(id, { offset: 10, length: 20 });
        expect(await range?.bytes()).toEqual(pattern(100).slice(10, 30));
      });

      it('are listed by time in pages, also while they are removed', async () => {
        const made: StoredFile[] = [];
        for (let i = 0; i < 7; i++) {
          made.push(sampleFile({ created_at: 1_000 + Math.floor(i / 3), purpose: i % 2 ? 'batch_output' : 'batch' }));
        }
        for (const file of made) await files.record(file);
        const order = made
          .toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
          .map(({ id }) => id);
        const pages = async (
          options: { order?: 'asc' | 'desc'; limit: number; purpose?: string },
          isRemoving = false,
        ) => {
          const ids: string[] = [];
          for (let after: string | undefined; ; after = ids.at(-1)) {
            const page = await files.list({ ...options, ...(after === undefined ? {} : { after }) });
            ids.push(...page.files.map(({ id }) => id));
            if (isRemoving) for (const { id } of page.files) await files.remove(id);
            if (!page.has_more) return ids;
            expect(page.files).toHaveLength(options.limit);
          }
        };
        for (const limit of [1, 2, 3, 7, 100]) {
          expect(await pages({ limit, order: 'asc' })).toEqual(order);
          expect(await pages({ limit })).toEqual(order.toReversed());
        }
        const outputs = order.filter((id) => made.find((file) => file.id === id)?.purpose === 'batch_output');
        expect(await pages({ limit: 2, order: 'asc', purpose: 'batch_output' })).toEqual(outputs);
        expect(await pages({ limit: 2, purpose: 'vision' })).toEqual([]);
        expect(await files.knows(order[0] ?? '')).toBe(true);
        expect(await files.knows(newFileId())).toBe(false);
        expect(await pages({ limit: 2 }, true)).toEqual(order.toReversed());
        expect(await files.list({})).toEqual({ files: [], has_more: false });
      });

      it('that have expired are gone, and their bytes are cleared away', async () => {
        const now = nowSeconds();
        const [old, young] = [sampleFile({ expires_at: now - 1 }), sampleFile({ expires_at: now + 60 })];
        for (const file of [old, young]) {
          await files.writer(file.id).close();
          await files.record(file);
        }
        expect(await files.get(old.id)).toBeNull();
        expect((await files.list({})).files).toEqual([young]);
        await files.removeExpired();
        expect(await keysOf(bucket)).toEqual([`files/default/${young.id}`]);
        expect(await files.remove(old.id)).toBe(false);
      });
    });

    describe('uploads', () => {
      it('hold parts, which are read back', async () => {
        const upload = sampleUpload();
        await uploads.create(upload);
        const [a, b] = [
          await addPart(uploads, upload.id, pattern(300_000)),
          await addPart(uploads, upload.id, pattern(7)),
        ];
        expect(await uploads.get(upload.id)).toEqual({ ...upload, parts: 2 });
        expect(await uploads.parts(upload.id)).toEqual(
          new Map([
            [a, 300_000],
            [b, 7],
          ]),
        );
        const pieces: Uint8Array[] = [];
        const write = async (bytes: Uint8Array): Promise<void> => {
          pieces.push(bytes.slice());
        };
        expect(await uploads.copyPart(upload.id, a, write)).toBe(true);
        expect(await digestOf(await new Blob(pieces).arrayBuffer())).toBe(await digestOf(pattern(300_000)));
        for (const id of ['x', '../files', newPartId()])
          expect(await uploads.copyPart(upload.id, id, write)).toBe(false);
        expect(await uploads.parts(newUploadId())).toEqual(new Map());
      });

      it('end once: completed with their file, or cancelled', async () => {
        for (const [first, second] of [
          ['complete', 'cancel'],
          ['cancel', 'complete'],
          ['complete', 'complete'],
        ] as const) {
          const upload = sampleUpload();
          await uploads.create(upload);
          const [file, other] = [sampleFile(), sampleFile()];
          const end = (how: 'complete' | 'cancel', made: StoredFile): Promise<boolean> =>
            how === 'cancel' ? uploads.cancel(upload.id) : uploads.complete(upload.id, made, 'digest');
          expect([await end(first, file), await end(second, other)]).toEqual([true, false]);
          expect(await files.get(file.id)).toEqual(first === 'complete' ? file : null);
          expect(await files.get(other.id)).toBeNull();
          const status = first === 'complete' ? 'completed' : 'cancelled';
          expect(await uploads.get(upload.id)).toMatchObject({
            status,
            file_id: first === 'complete' ? file.id : null,
          });
          expect(await uploads.addPart(upload.id, 10)).toBe(false);
        }
      });

      it('take no more parts than they may', async () => {
        const upload = sampleUpload();
        await uploads.create(upload);
        const taken = [await uploads.addPart(upload.id, 2), await uploads.addPart(upload.id, 2)];
        expect([...taken, await uploads.addPart(upload.id, 2)]).toEqual([true, true, false]);
      });

      it('that are over time are expired, and cleared away with the ended ones', async () => {
        const now = nowSeconds();
        const pending = sampleUpload();
        const late = sampleUpload({ expires_at: now });
        const older = sampleUpload({ expires_at: now - 3_600 });
        const cancelled = sampleUpload();
        for (const upload of [pending, late, older, cancelled]) {
          await uploads.create(upload);
          await addPart(uploads, upload.id, pattern(3));
        }
        expect(await uploads.cancel(late.id)).toBe(false);
        expect(await uploads.cancel(cancelled.id)).toBe(true);
        expect((await uploads.get(late.id))?.status).toBe('expired');
        await uploads.clearEnded();
        const owners = (await keysOf(bucket)).map((key) => key.split('/')[2]).sort();
        // A completion of `late` that began in time may still be reading.
        expect(owners).toEqual([pending.id, late.id].sort());
        expect((await uploads.get(older.id))?.status).toBe('expired');
        expect(await uploads.complete(older.id, sampleFile(), 'digest')).toBe(false);
        expect(await uploads.complete(late.id, sampleFile(), 'digest')).toBe(true);
      });
    });
  });
}
