/**
 * `npm run bench:probe`: what each named recipe of the refiner family pays for canned answers to the rows of the demo
 * runs: the tables of docs/guides/probe.md. With `-- --write` it writes them into that page. Deterministic: the lexical
 * judge compares words, no model is asked.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pageWith } from './hacks/page.ts';
import { probeTables } from './probe/tables.ts';

const PAGE = resolve(import.meta.dirname, '../docs/guides/probe.md');

const tables = await probeTables();
console.log(Object.values(tables).join('\n\n'));
if (process.argv.includes('--write')) {
  writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), tables));
  console.log('\nwritten into docs/guides/probe.md');
}
