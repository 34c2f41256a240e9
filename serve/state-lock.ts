/**
 * Lets one process at a time use a state folder. The lock is SQLite's lock of a file, which the operating system
 * releases when the process ends, however it ends.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileHolder } from './holders.ts';
import { ServeError } from './serve-error.ts';

/** SQLITE_BUSY */
const BUSY = 5;

/** @throws ServeError if another process uses the folder, or if its file system cannot lock files. */
export async function lockState(state: string): Promise<{ close(): void }> {
  const file = join(state, 'lock.sqlite');
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
    return { close: () => database.isOpen && database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) {
      const by = (await fileHolder(await realpath(file))) ?? 'another process';
      throw new ServeError(`the folder ${state} is in use by ${by}`, 'Stop it, or choose another with --state.');
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServeError(`cannot lock the folder ${state}: ${reason}`, 'Choose a local disk with --state.');
  }
}
