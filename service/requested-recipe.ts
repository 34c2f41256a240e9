/** Resolves the recipes of requests. A training run sends the same whole recipe with every request: it is read once. */
import { type RecipeInput, type RecipeResolution, resolveRecipe } from '../src/families/resolve.ts';
import { createRecentlyUsed } from '../src/recently-used.ts';

/** Whole and changed recipes by their JSON. A recipe of a request has some hundred characters. */
const recent = createRecentlyUsed<RecipeResolution>({ entries: 64, size: 64 * 1024 });

/** Like `resolveRecipe`, for a recipe that was read from JSON. */
export async function requestedRecipe(recipe: RecipeInput): Promise<RecipeResolution> {
  if (typeof recipe === 'string') return resolveRecipe(recipe);
  const json = JSON.stringify(recipe);
  const known = recent.get(json);
  if (known !== undefined) return known;
  const resolution = await resolveRecipe(recipe);
  // JSON.stringify writes null for a number beyond the range of a double, so null may stand for another value.
  if (resolution.ok && !json.includes('null')) recent.add(json, resolution, json.length);
  return resolution;
}
