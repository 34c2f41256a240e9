/** The check of the files of `citeward serve` before it starts: damaged ones are named, unfinished ones are not. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireWholeFiles } from '../../serve/state-files.ts';

let objects: string;
let count = 0;

beforeAll(() => {
  objects = mkdtempSync(join(tmpdir(), 'citeward-files-'));
});

afterAll(() => rmSync(objects, { recursive: true, force: true }));

/** A new class with one file of several pages. */
function made(name = 'object.sqlite'): { readonly folder: string; readonly file: string } {
  const folder = join(objects, String(count++));
  const file = join(folder, 'citeward-Class', name);
  mkdirSync(join(folder, 'citeward-Class'), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (text TEXT);');
  const insert = database.prepare('INSERT INTO t VALUES (?)');
  for (let n = 0; n < 200; n++) insert.run('x'.repeat(200));
  database.close();
  return { folder, file };
}

/** Empties a file, as long after it was made as a store with data is old. */
function empty(file: string): void {
  truncateSync(file, 0);
  const later_s = Date.now() / 1000 + 60;
  utimesSync(file, later_s, later_s);
}

const damage = (file: string, from: number): void => writeFileSync(file, readFileSync(file).fill(0xff, from));

it.each([
  ['is empty', empty],
  ['is no SQLite file', (file: string) => writeFileSync(file, 'x'.repeat(8_192))],
  ['is no SQLite file', (file: string) => truncateSync(file, 50)],
  ['is cut off', (file: string) => truncateSync(file, 8_192)],
])('a file that %s is named', (words, spoil) => {
  const { folder, file } = made();
  expect(() => requireWholeFiles(folder)).not.toThrow();
  spoil(file);
  expect(() => requireWholeFiles(folder)).toThrow(`${file} ${words}`);
});

it('the file of a class is read to its end, those of objects are not', () => {
  const ofClass = made('metadata.sqlite');
  damage(ofClass.file, 8_192);
  expect(() => requireWholeFiles(ofClass.folder)).toThrow(`${ofClass.file} has damaged pages`);
  damage(ofClass.file, 100);
  expect(() => requireWholeFiles(ofClass.folder)).toThrow(
    /metadata.sqlite (has damaged pages|cannot be read by SQLite)/u,
  );
  const ofObject = made();
  damage(ofObject.file, 8_192);
  expect(() => requireWholeFiles(ofObject.folder)).not.toThrow();
});

it('a file that a kill left before anything was stored in it is none', () => {
  const { folder, file } = made();
  empty(file);
  writeFileSync(`${file}-journal`, 'x');
  expect(() => requireWholeFiles(folder)).not.toThrow();
  // Killed even before SQLite made the journal.
  writeFileSync(join(folder, 'citeward-Class', 'new.sqlite'), '');
  expect(() => requireWholeFiles(folder)).not.toThrow();
});
