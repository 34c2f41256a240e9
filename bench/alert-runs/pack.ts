/**
 * Packs an exported run for the benchmark of the alerts:
 *
 *     npx node bench/alert-runs/pack.ts RUN.jsonl NAME
 *
 * writes bench/alert-runs/NAME.json.br. The run needs one recipe, and steps in order, as `runs export` writes them.
 */
import { join } from 'node:path';
import { groupsOfFile, recipesOfFile } from '../../cli/shared/run-file.ts';
import { writePackedRun } from './packed-run.ts';

const [file, name] = process.argv.slice(2);
if (file === undefined || name === undefined) throw new Error('usage: pack.ts RUN.jsonl NAME');
const { recipes } = await recipesOfFile(file);
const [recipe, ...others] = recipes.values();
if (recipe === undefined || others.length > 0) throw new Error(`${file}: expected a run of one recipe`);
const groups = [];
for await (const rows of groupsOfFile(file, undefined)) groups.push(rows);
const bytes = writePackedRun(join(import.meta.dirname, `${name}.json.br`), recipe, groups);
console.log(`${name}: ${groups.length} groups, ${bytes} bytes`);
