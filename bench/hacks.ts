/**
 * `npm run bench:hacks`: what an answer earns by hacking instead of answering, as a share of the honest answer's reward,
 * for each recipe and in each grammar, and what is reported of it: the tables of docs/reference/hacks.md. With
 * `-- --write` it writes them into that page. Deterministic: the lexical judge compares words, no model is asked.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { agentTable } from './hacks/agent-hacks.ts';
import { hackMatrix } from './hacks/matrix.ts';
import { pageWith } from './hacks/page.ts';
import { countsTable, grammarsTable, hacksTable } from './hacks/tables.ts';

const PAGE = resolve(import.meta.dirname, '../docs/reference/hacks.md');

const matrix = await hackMatrix();
const tables = {
  counts: countsTable(matrix),
  hacks: hacksTable(matrix),
  grammars: grammarsTable(matrix),
  agent: await agentTable(),
};
console.log(Object.values(tables).join('\n\n'));
for (const { grammar, row, reports } of matrix.alarms)
  console.log(`\nfalse alarm on the honest row ${row} in ${grammar}: ${reports.join(', ')}`);
if (process.argv.includes('--write')) {
  writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), tables));
  console.log('\nwritten into docs/reference/hacks.md');
}
