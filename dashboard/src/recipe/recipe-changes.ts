/** Applies changed fields to the recipes of a run, like `{set: {…}}` in a replay request. */

import type { Recipe } from '../../../src/families/composers.ts';
import { recipeSchema } from '../../../src/families/schemas.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import type { Result } from '../../../src/result.ts';
import type { Changes } from './recipe-fields.ts';

/** The recipes of a run by digest. */
export type RunRecipes = ReadonlyMap<string, { readonly name: string | null; readonly recipe: Recipe }>;

/** The changed recipes, or what is expected instead, by path in the recipe. */
type ChangedRecipes = Result<ReadonlyMap<string, Recipe>, ReadonlyMap<string, string>>;

/** The changed recipes, by the digests of the recorded recipes that they replace. */
export function changedRecipes(recorded: RunRecipes, changes: Changes): ChangedRecipes {
  const recipes = new Map<string, Recipe>();
  for (const [digest, { recipe }] of recorded) {
    const changed = withChanges(recipe, changes);
    const parsed = recipeSchema.safeParse(changed);
    if (!parsed.success) {
      const problems = problemsOfIssues(parsed.error.issues, changed);
      return { ok: false, error: new Map(problems.map(({ path, message }) => [path.join('.'), message])) };
    }
    recipes.set(digest, parsed.data);
  }
  return { ok: true, value: recipes };
}

function withChanges(recipe: Recipe, changes: Changes): Readonly<Record<string, unknown>> {
  const changed = new Map<string, unknown>(Object.entries(recipe));
  for (const [path, value] of changes) {
    const [field = '', member] = path.split('.');
    const whole = changed.get(field);
    if (member === undefined) changed.set(field, value);
    else if (typeof whole === 'object' && whole !== null) changed.set(field, { ...whole, [member]: value });
  }
  return Object.fromEntries(changed);
}
