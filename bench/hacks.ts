/**
 * `npm run bench:hacks`: what an answer earns by hacking instead of answering, as a share of the honest answer's reward,
 * for each recipe, and which findings report it: the tables of docs/reference/hacks.md. Deterministic: the lexical judge
 * compares words, no model is asked.
 */
import { hackMatrix } from './hacks/matrix.ts';
import { countsTable, hacksTable } from './hacks/tables.ts';

const matrix = await hackMatrix();
console.log(`${countsTable(matrix)}\n\n${hacksTable(matrix)}`);
for (const { row, findings } of matrix.alarms)
  console.log(`\nfalse alarm on the honest row ${row}: ${findings.join(', ')}`);
