import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { pageWith } from '../../../bench/hacks/page.ts';
import { ENTRIES, pinnedVersion } from '../../../scripts/real/entries.ts';
import { readReport, realList } from '../../../scripts/real/report.ts';
import { ANSWER_FORMATS } from '../../../src/citations/formats/names.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');
const page = read('docs/reference/compat.md');
const { devDependencies: versions } = z
  .object({ devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('test/vendors/package.json')));
const tests = readdirSync(resolve(root, 'test/vendors'))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => read(`test/vendors/${name}`))
  .join('\n');
const rows = [...page.matchAll(/^\| [^|]+ \| `([^`]+)` ([\d.]+)/gm)];

it('names the version of each package that the suite of the vendors installs, and tests it', () => {
  expect(rows.length).toBeGreaterThanOrEqual(8);
  for (const [, name = '', version] of rows) {
    expect([name, version]).toEqual([name, versions[name]]);
    expect(tests.includes(`'${name}'`), `no test imports ${name}`).toBe(true);
  }
});

it('has a row for every format of cited answers', () => {
  const formats = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
  expect(formats.toSorted()).toEqual([...ANSWER_FORMATS].toSorted());
});

it('has what the real packages did when they ran last, in the versions that are pinned', () => {
  const report = readReport();
  expect(pageWith(page, { real: realList(report) })).toBe(page);
  for (const entry of ENTRIES)
    expect([entry.name, report[entry.name]?.version]).toEqual([entry.name, pinnedVersion(entry)]);
});
