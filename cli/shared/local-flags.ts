/** Scoring rows: in this process with the lexical judge, or by a Worker. Both give the same reply for the same row. */

import { REFINER_FIELDS } from '../../src/families/refiner/recipe.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { type InputProblem, pathText } from '../../src/input-problem.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { UsageError } from './exit.ts';
import { didYouMean } from './suggest.ts';
import { flagProblem } from './worker-failures.ts';

/** What the flags ask of a run in this process. @throws UsageError for what only a Worker has. */
export async function checkLocalFlags(flags: {
  readonly recipe: string | Readonly<Record<string, unknown>>;
  readonly judge: string | null;
  readonly judgments: 'use' | 'only' | 'skip' | null;
  readonly receipt?: boolean;
}): Promise<void> {
  if (flags.judge !== null && flags.judge !== LEXICAL_JUDGE.name) {
    throw new UsageError(
      `--judge: this process has only the judge "${LEXICAL_JUDGE.name}"`,
      'Models are configured in a Worker: --url URL --judge NAME',
    );
  }
  if (flags.judgments === 'only') {
    throw new UsageError('--judgments only: this process stores no judgments', 'A Worker does: --url URL');
  }
  if (flags.receipt === true) throw new UsageError('--receipt: this process signs nothing', 'A Worker does: --url URL');
  await checkRecipe(flags.recipe);
}

/** @throws UsageError for a recipe that is none. */
export async function checkRecipe(flag: string | Readonly<Record<string, unknown>>): Promise<void> {
  const recipe = await resolveRecipe(flag);
  if (!recipe.ok) {
    throw new UsageError(
      recipe.problems.map(({ path, message }) => flagProblem(pathText(path), message)).join('\n'),
      recipeHint(recipe.problems),
    );
  }
}

/** The nearest field to one that does not exist. */
function recipeHint(problems: readonly InputProblem[]): string {
  for (const { path } of problems) {
    const field = path.at(-1);
    const near = path.length === 2 && typeof field === 'string' ? didYouMean(field, Object.keys(REFINER_FIELDS)) : null;
    if (near !== null && typeof field === 'string' && !Object.hasOwn(REFINER_FIELDS, field)) return near;
  }
  return 'citeward help score lists the recipes';
}
