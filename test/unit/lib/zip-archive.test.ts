/** A ZIP archive is read one file at a time, and a broken one is told from a whole one. */
import { deflateRawSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { entryText, zipEntries } from '../../../lib/zip-archive.ts';

/** An archive as zip writes it. @param files name, method, packed data. */
function archiveOf(files: readonly (readonly [name: string, method: number, packed: Buffer])[]): Blob {
  const locals: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const [name, method, packed] of files) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), packed);
    list.push(entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const entries = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return new Blob([...locals, entries, end].map((part) => new Uint8Array(part)));
}

const TEXT = Buffer.from('{"id": "é"}');

test('reads stored, deflated and Zstandard files', async () => {
  const archive = archiveOf([
    ['header.json', 0, TEXT],
    ['samples/a.json', 8, deflateRawSync(TEXT)],
    ['samples/b.json', 93, zstdCompressSync(TEXT)],
    ['samples/c.json', 12, TEXT],
  ]);
  const entries = (await zipEntries(archive)) ?? [];
  expect(entries.map(({ name }) => name)).toEqual([
    'header.json',
    'samples/a.json',
    'samples/b.json',
    'samples/c.json',
  ]);
  const texts = await Promise.all(entries.map((entry) => entryText(archive, entry, async () => 'unpacked')));
  expect(texts).toEqual(['{"id": "é"}', '{"id": "é"}', 'unpacked', null]);
  const [, , zstandard] = entries;
  expect(zstandard === undefined ? '' : await entryText(archive, zstandard, null)).toBeNull();
});

test('what is no archive, or is cut off, has no entries', async () => {
  const archive = archiveOf([['a', 0, TEXT]]);
  expect(await zipEntries(new Blob(['PK\u0003\u0004']))).toBeNull();
  expect(await zipEntries(archive.slice(0, archive.size - 10))).toBeNull();
  expect(await zipEntries(archive.slice(20))).toBeNull();
});
