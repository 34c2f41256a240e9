/** Loads a run for replay from its run file (src/runs/run-file.ts), exported by the API or opened from disk. */

import type { Recipe } from '../../../src/families/composers.ts';
import { recipeSchema } from '../../../src/families/schemas.ts';
import { replayedRow } from '../../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import { readRunLine } from '../../../src/runs/run-file.ts';
import { openApi, type Reply, runPath } from '../api/call.ts';
import { textLines } from '../api/text-lines.ts';
import type { RunRecipes } from '../recipe/recipe-changes.ts';

export type ReplayedRun = {
  readonly id: string;
  /** Name of the file on disk; `null` for a run from the API. */
  readonly file: string | null;
  /** Recipes by digest, in the order of the run; never empty. */
  readonly recipes: RunRecipes;
  /** The samples of one prompt and step; of each sample the latest attempt. */
  readonly groups: readonly (readonly LedgerRow[])[];
  readonly rollouts: number;
};

export type LoadedRun =
  | { readonly kind: 'run'; readonly run: ReplayedRun }
  | { readonly kind: 'refused'; readonly why: Refusal; readonly line: number };

/**
 * `line`: the first invalid line. `recipe`: the first rollout whose recipe the file lacks, or has for another family.
 * `cut_off`: the file ends early.
 */
type Refusal = 'line' | 'recipe' | 'cut_off' | 'too_many' | 'empty';

export type OnProgress = (rollouts: number) => void;

/** A rollout takes about 2 KB in memory; larger runs need the command line. */
export const MAX_ROLLOUTS = 100_000;

const PROGRESS_ROLLOUTS = 500;

/** Loads a run from the API. @throws DOMException (AbortError) when `signal` aborts. */
export async function loadReplayedRun(
  id: string,
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<Reply<LoadedRun>> {
  const file = await openApi(`${runPath(id)}/export`, { signal });
  if (!file.ok) return file;
  return { ...file, value: await readRunFile(file.value, null, onProgress) };
}

/** Reads a run file. @param name of the file on disk; `null` for a run from the API. */
export async function readRunFile(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  name: string | null,
  onProgress: OnProgress,
): Promise<LoadedRun> {
  let id = '';
  let number = 0;
  let isWhole = false;
  const recipes = new Map<string, { name: string | null; recipe: Recipe }>();
  const gathered = new GatheredRows();
  const refused = (why: Refusal): LoadedRun => ({
    kind: 'refused',
    why,
    line: number,
  });
  for await (const text of textLines(stream)) {
    number++;
    const read = readRunLine(text);
    if (!read.ok || isWhole) return refused('line');
    const { value: line } = read;
    switch (line.kind) {
      case 'run':
        id = line.id;
        break;
      case 'recipe': {
        const parsed = recipeSchema.safeParse(line.recipe);
        if (!parsed.success) return refused('line');
        recipes.set(line.digest, { name: line.name, recipe: parsed.data });
        break;
      }
      case 'rollout':
        if (recipes.get(line.rollout.recipe)?.recipe.family !== line.rollout.facts.family) return refused('recipe');
        gathered.add(replayedRow(line.rollout, line.rollout.counts));
        if (gathered.lines > MAX_ROLLOUTS) return refused('too_many');
        if (gathered.lines % PROGRESS_ROLLOUTS === 0) onProgress(gathered.lines);
        break;
      case 'end':
        if (line.rollouts !== gathered.lines) return refused('cut_off');
        isWhole = true;
        break;
    }
  }
  if (!isWhole) return refused('cut_off');
  if (gathered.lines === 0) return refused('empty');
  const groups = gathered.groups;
  const rollouts = groups.reduce((sum, rows) => sum + rows.length, 0);
  return { kind: 'run', run: { id, file: name, recipes, groups, rollouts } };
}

/** Collects groups from rows sorted by step, group, sample and attempt; the last attempt of a sample wins. */
class GatheredRows {
  readonly groups: LedgerRow[][] = [];
  lines = 0;

  add(row: LedgerRow): void {
    this.lines++;
    const group = this.groups.at(-1);
    const before = group?.at(-1);
    if (group === undefined || before?.step !== row.step || before.group !== row.group) this.groups.push([row]);
    else if (before.sample === row.sample) group[group.length - 1] = row;
    else group.push(row);
  }
}
