/** Files and uploads on R2 and D1: the contract, and the state after a failed call. */

import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileStore } from '../../functions/storage/files.ts';
import { PartWriter, R2_PART_BYTES } from '../../functions/storage/part-writer.ts';
import { StorageError } from '../../service/storage-error.ts';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';
import { Faults } from '../contract/faulty-bindings.ts';
import { describeFileStorage, empty, keysOf, pattern, sampleFile } from '../contract/file-storage.case.ts';

const faults = new Faults();
const faulty = { bucket: faults.wrap(env.FILES), db: faults.wrap(env.DB) };

describeFileStorage('R2 and D1 in workerd', { bucket: env.FILES, db: env.DB });
describeFileStorage('the fault-injecting double, without a fault', faulty);

async function startAnew(): Promise<void> {
  faults.clear();
  await empty(faulty);
  faults.clear();
}

describe('a writer under faults', () => {
  const { bucket } = faulty;
  beforeEach(startAnew);

  async function write(bytes: number): Promise<{ readonly writer: PartWriter; readonly error: unknown }> {
    const writer = new PartWriter(bucket, 'k');
    try {
      for (let left = bytes; left > 0; left -= 1_000_000) await writer.write(pattern(Math.min(left, 1_000_000)));
      await writer.close();
      return { writer, error: null };
    } catch (error) {
      return { writer, error };
    }
  }

  it('makes one put of a small object, and equal parts of a large one', async () => {
    await write(R2_PART_BYTES - 1);
    expect(faults.calls).toEqual(['put']);
    faults.clear();
    await write(2 * R2_PART_BYTES + 1);
    expect(faults.calls).toEqual(['createMultipartUpload', 'uploadPart', 'uploadPart', 'uploadPart', 'complete']);
  });

  it.each([
    ['put', 0],
    ['createMultipartUpload', 0],
    ['uploadPart', 0],
    ['uploadPart', 1],
    ['uploadPart', 2],
    ['complete', 0],
  ])('says that %s failed (after %i), and leaves nothing once it is aborted', async (call, skipped) => {
    faults.plan(call, 'fails', skipped);
    const { writer, error } = await write(call === 'put' ? 100 : 2 * R2_PART_BYTES + 100);
    expect(error).toBeInstanceOf(StorageError);
    expect(faults.pending).toBe(false);
    await expect(writer.write(pattern(1))).rejects.toThrow('after its end');
    await writer.abort();
    expect([...faults.openUploads, ...(await keysOf(env.FILES))]).toEqual([]);
  });

  it('says that an abort failed, and can be aborted again', async () => {
    const writer = new PartWriter(bucket, 'k');
    await writer.write(pattern(R2_PART_BYTES));
    faults.plan('abort', 'fails');
    await expect(writer.abort()).rejects.toThrow(StorageError);
    await writer.abort();
    expect(faults.openUploads.size).toBe(0);
  });

  it('can be aborted after a completion whose acknowledgement was lost', async () => {
    faults.plan('complete', 'lost_acknowledgement');
    const { writer, error } = await write(R2_PART_BYTES + 1);
    expect(error).toBeInstanceOf(StorageError);
    await writer.abort();
    expect(faults.openUploads.size).toBe(0);
    // Another writer of the same key may have created it, so only the owner of the key removes it.
    expect(await keysOf(env.FILES)).toEqual(['k']);
  });
});

describe('the file store under faults', () => {
  const store = new FileStore(faulty.bucket, faulty.db, DEFAULT_PROJECT);
  beforeEach(startAnew);

  it('throws StorageError for whatever fails, and works once it is over', async () => {
    const file = sampleFile();
    await store.writer(file.id).close();
    const calls: [string, () => Promise<unknown>][] = [
      ['batch', () => store.record(file)],
      ['first', () => store.get(file.id)],
      ['first', () => store.knows(file.id)],
      ['all', () => store.list({})],
      ['get', () => store.open(file.id)],
      ['all', () => store.removeExpired()],
      ['delete', () => store.remove(file.id)],
      ['run', () => store.remove(file.id)],
    ];
    for (const [call, use] of calls) {
      faults.plan(call, 'fails');
      await expect(use(), call).rejects.toThrow(StorageError);
      await use();
    }
    expect([await store.get(file.id), await keysOf(env.FILES)]).toEqual([null, []]);
  });

  it('takes a record whose acknowledgement was lost again', async () => {
    const file = sampleFile();
    faults.plan('batch', 'lost_acknowledgement');
    await expect(store.record(file)).rejects.toThrow(StorageError);
    await store.record(file);
    expect((await store.list({})).files).toEqual([file]);
  });
});
