/**
 * A lock across processes: one build at a time per machine. It uses SQLite's exclusive file lock, which the kernel
 * releases when the holder dies, so there are no stale locks. Waiting polls once a second; a build takes minutes.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 1_000;
const SQLITE_BUSY = 5;

/** Runs `work` while holding the lock. Calls `onWait` once if another process holds it. */
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
    // Closing rolls the transaction back, which releases the lock.
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
