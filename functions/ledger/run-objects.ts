/**
 * The R2 objects of a run: packed content that is too large for a row of its ledger. Names are random and never reused,
 * so a record never points at other content.
 */
import { stored } from '../storage/storage-error.ts';
import type { RunLife } from './run-list.ts';

/** Objects removed in one round. */
const REMOVAL_ROUND = 1_000;

/** The prefix of all R2 keys of a run. */
export function runPrefix({ project, run, incarnation }: RunLife): string {
  return `runs/${project}/${run}/${incarnation}/`;
}

/** @throws StorageError. */
export async function putObject(bucket: R2Bucket, key: string, packed: ArrayBuffer): Promise<void> {
  await stored('r2', 'run_put', () => bucket.put(key, packed));
}

/** @throws StorageError if R2 fails or the object does not exist. */
export function readObject(bucket: R2Bucket, key: string): Promise<ArrayBuffer> {
  return stored('r2', 'run_get', async () => {
    const object = await bucket.get(key);
    if (object === null) throw new Error('an object of a run is not there');
    return object.arrayBuffer();
  });
}

/** Removes an object that no record points at. @throws StorageError. */
export async function removeObject(bucket: R2Bucket, key: string): Promise<void> {
  await stored('r2', 'run_remove', () => bucket.delete(key));
}

/** Removes the objects of one round. `none`: there were none; `some`: there may be more. @throws StorageError. */
export function removeObjects(bucket: R2Bucket, prefix: string): Promise<'none' | 'all' | 'some'> {
  return stored('r2', 'run_remove_objects', async () => {
    const { objects, truncated } = await bucket.list({ prefix, limit: REMOVAL_ROUND });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (truncated) return 'some';
    return objects.length === 0 ? 'none' : 'all';
  });
}
