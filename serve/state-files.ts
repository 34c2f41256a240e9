/**
 * Checks the state folder before workerd opens it: whether other users may read it, and whether its SQLite files are
 * whole. workerd would name no damaged file, and would take an emptied one for a new store.
 */
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServeError } from './serve-error.ts';

/** The umask under which folders get the mode 0700 and files 0600. */
export const PRIVATE_UMASK = 0o077;

/** Returns a warning if other users of the machine may use the folder; null if not. */
export function accessWarning(state: string): string | null {
  if (process.platform === 'win32' || (statSync(state).mode & PRIVATE_UMASK) === 0) return null;
  return `other users of this machine can read the data in ${state}; to prevent it: chmod -R go= '${state}'`;
}

const NAMED_FILES = 5;
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
/** workerd reads this file of each class of objects when it starts: their alarms. It is small. */
const CLASS_FILE = 'metadata.sqlite';

/** @param objects the folder with a folder for each class. @throws ServeError that names the damaged files. */
export function requireWholeFiles(objects: string): void {
  const files = readdirSync(objects, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(join(objects, name)).map((file) => join(objects, name, file)))
    .filter((file) => file.endsWith('.sqlite'));
  const damaged = files.flatMap((file) => {
    const damage = damageOf(file);
    return damage === null ? [] : [`${file} ${damage}`];
  });
  if (damaged.length === 0) return;
  const more = damaged.length > NAMED_FILES ? [`and ${damaged.length - NAMED_FILES} more`] : [];
  throw new ServeError(
    `files of the state folder are damaged:\n${[...damaged.slice(0, NAMED_FILES), ...more].join('\n')}`,
    'Put the files back from a copy of the folder, or move them away: what they held is lost then (docs/guides/serve.md).',
  );
}

/**
 * A file that a kill has left empty was made at most this long before its last change: SQLite writes its header at once.
 * Where the file system does not keep the time of making, every empty file counts as such.
 */
const MAKING_MS = 1_000;

/** What is wrong with a file, as the predicate of a sentence; `null` = nothing that its size and header show. */
function damageOf(file: string): string | null {
  // A kill while SQLite made the file leaves its journal, with which SQLite repairs it. Nothing was stored yet.
  if (existsSync(`${file}-journal`)) return null;
  const { size, birthtimeMs, mtimeMs } = statSync(file);
  if (size === 0) return Math.abs(mtimeMs - birthtimeMs) < MAKING_MS ? null : 'is empty';
  const header = headerOf(file);
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return 'is no SQLite file';
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  // The log may have the pages that the file lacks.
  if ((log?.size ?? 0) === 0 && size < pagesOf(header) * pageSizeOf(header)) return 'is cut off';
  return basename(file) === CLASS_FILE ? damageInside(file) : null;
}

function headerOf(file: string): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(descriptor, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}

// The format of the header: https://www.sqlite.org/fileformat2.html#the_database_header

function pageSizeOf(header: Buffer): number {
  const stored = header.readUInt16BE(16);
  return stored === 1 ? 65_536 : stored;
}

/** The number of pages; 0 = the header does not say it. */
function pagesOf(header: Buffer): number {
  return header.readUInt32BE(24) === header.readUInt32BE(92) ? header.readUInt32BE(28) : 0;
}

function damageInside(file: string): string | null {
  const database = new DatabaseSync(file);
  try {
    const found = database.prepare('PRAGMA quick_check(1)').get();
    return found?.['quick_check'] === 'ok' ? null : 'has damaged pages';
  } catch {
    return 'cannot be read by SQLite';
  } finally {
    database.close();
  }
}
