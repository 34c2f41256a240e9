/**
 * One build at a time on this machine, across processes. The lock is SQLite's exclusive file lock: the kernel drops it when
 * its holder dies, so there is no stale lock to guess about, and it works wherever Node does. Polling once a second is
 * coarse, but whoever waits waits for minutes.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 1_000;
const SQLITE_BUSY = 5;

/** Runs `work` while holding the lock. `onWait` is called once, if somebody else holds it. */
export async function whileLocked<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    for (let waited = false; !tryLock(database); waited = true) {
      if (!waited) onWait();
      await pause(POLL_MS);
    }
    return await work();
  } finally {
    // Closing rolls back, which frees the lock.
    database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
