/**
 * The R2 objects of a run: segments of its ledger, and packed content that is too large for a row of it. Names are never
 * reused for other bytes, so a record never points at other content.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import type { RunLife } from '../../service/ledger-port.ts';
import { stored } from '../storage/stored.ts';

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

/**
 * Puts a segment. The name ends in the start of the digest of its bytes; if it is taken, these bytes are there already.
 * @param name the part of the key before the digest. @returns the key. @throws StorageError.
 */
export async function putSegment(bucket: R2Bucket, name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  const key = `${name}-${bytesToHex(new Uint8Array(digest)).slice(0, 16)}.jsonl.gz`;
  const options = { sha256: digest, onlyIf: new Headers({ 'if-none-match': '*' }) };
  await stored('r2', 'segment_put', () => bucket.put(key, bytes, options));
  return key;
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
