/** Checks the recipe of the flags, before the first row. */

import { RECIPE_NAMES } from '../../src/families/composers.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { type InputProblem, pathText } from '../../src/input-problem.ts';
import { UsageError } from './exit.ts';
import { CITEWARD } from './program.ts';
import { defaultRecipe, type ScoringOptions } from './scoring-flags.ts';
import { didYouMean } from './suggest.ts';
import { flagProblem } from './worker-failures.ts';

/** @throws UsageError if the recipe of the flags is wrong. */
export async function checkRecipe(options: ScoringOptions): Promise<void> {
  const flag = defaultRecipe(options);
  const name = typeof flag === 'string' ? flag : flag['base'];
  if (typeof name === 'string' && !RECIPE_NAMES.some((known) => known === name)) {
    const hint = didYouMean(name, RECIPE_NAMES);
    if (hint !== null) throw new UsageError(`recipe "${name}" is unknown`, hint);
  }
  const recipe = await resolveRecipe(flag);
  if (recipe.ok) return;
  throw new UsageError(
    recipe.error.map(({ path, message }) => flagProblem(pathText(path), message)).join('\n'),
    (typeof name === 'string' ? await fieldHint(name, recipe.error) : null) ??
      `To see the recipes: ${CITEWARD} help score`,
  );
}

/** Suggests the field of the named recipe that was probably meant; `null` if none is near. */
async function fieldHint(name: string, problems: readonly InputProblem[]): Promise<string | null> {
  const base = await resolveRecipe(name);
  const known = base.ok ? Object.keys(base.value.recipe) : [];
  for (const { path } of problems) {
    const field = path.at(-1);
    const isUnknown = path.length === 2 && typeof field === 'string' && !known.includes(field);
    const hint = isUnknown ? didYouMean(field, known) : null;
    if (hint !== null) return hint;
  }
  return null;
}
