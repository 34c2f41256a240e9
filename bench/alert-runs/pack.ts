/**
 * Packs an exported run for the benchmark of the alerts:
 *
 *     npx node bench/alert-runs/pack.ts RUN.jsonl NAME
 *
 * writes bench/alert-runs/NAME.json.br, and prints from which step on the outcome stays at or below its start, which
 * helps to say in runs.ts from which step the run is wrong. The run needs one recipe.
 */
import { join } from 'node:path';
import { groupsOfFile, recipesOfFile } from '../../cli/shared/run-file.ts';
import { ALERT_WINDOW_STEPS } from '../../src/runs/alert-rules.ts';
import type { WatchedRow } from '../../src/runs/alerts.ts';
import { writePackedRun } from './packed-run.ts';

if (process.argv[1] === import.meta.filename) {
  const [file, name] = process.argv.slice(2);
  if (file === undefined || name === undefined) throw new Error('usage: pack.ts RUN.jsonl NAME');
  const { groups, bytes } = await packRun(file, name);
  console.log(`${name}: ${groups.length} groups, ${bytes} bytes, ${outcomeText(groups)}`);
}

/** Packs a file of `runs export`. @throws Error for a run of several recipes. */
export async function packRun(file: string, name: string) {
  const { recipes } = await recipesOfFile(file);
  const [recipe, ...others] = recipes.values();
  if (recipe === undefined || others.length > 0) throw new Error(`${file}: expected a run of one recipe`);
  const groups = [];
  for await (const rows of groupsOfFile(file, undefined)) groups.push(rows);
  return { groups, bytes: writePackedRun(join(import.meta.dirname, `${name}.json.br`), recipe, groups) };
}

/** Means over four steps, as the alerts take them. */
function outcomeText(run: readonly (readonly WatchedRow[])[]): string {
  const steps = [...Map.groupBy(run, ([row]) => row?.step ?? -1).entries()];
  const means = steps.slice(ALERT_WINDOW_STEPS - 1).map(([step], n) => {
    const outcomes = steps
      .slice(n, n + ALERT_WINDOW_STEPS)
      .flatMap(([, own]) => own.flat().flatMap(({ counts }) => counts?.outcome ?? []));
    return { step, mean: outcomes.reduce((sum, outcome) => sum + outcome, 0) / outcomes.length };
  });
  const [first, last] = [means.at(0), means.at(-1)];
  if (first === undefined || last === undefined || Number.isNaN(first.mean)) return 'no outcomes';
  const above = means.findLastIndex(({ mean }) => mean > first.mean);
  const from = means[above + 1];
  const stays = from === undefined ? 'above its start at the end' : `at or below its start from step ${from.step} on`;
  return `outcome ${first.mean.toFixed(3)} -> ${last.mean.toFixed(3)}, ${stays}`;
}
