/** Resolving recipes needs their schemas, so it is apart from recipes.ts: a bundle that only composes has no schemas. */
import type { ResolvedRecipe } from '../src/families/resolve.ts';
import type { ScoringFamily } from '../src/family/family.ts';
import type { RecipeValues } from '../src/runs/gaps.ts';
import { InputError } from './input-error.ts';
import { type RecipeInput, withOwnFamilies } from './own-families.ts';

/**
 * Resolves a recipe to all of its parameters, its digest and the range of its reward.
 *
 * @example
 * ```ts
 * import { resolveRecipe } from 'citeward';
 *
 * const { recipe, digest } = await resolveRecipe({ base: 'refiner-guarded', citation_weight: 0.3 });
 * ```
 * @param options.families families of your own beside the built-in ones.
 * @throws InputError for an unknown name or a wrong field. TypeError for a family whose name is taken.
 */
export function resolveRecipe(recipe: RecipeInput): Promise<ResolvedRecipe>;
export function resolveRecipe<const F extends ScoringFamily>(
  recipe: RecipeInput<F>,
  options: { readonly families: readonly F[] },
): Promise<ResolvedRecipe<RecipeValues, string>>;
export async function resolveRecipe<const F extends ScoringFamily>(
  recipe: RecipeInput<F>,
  { families = [] }: { readonly families?: readonly F[] } = {},
): Promise<ResolvedRecipe | ResolvedRecipe<RecipeValues, string>> {
  const resolution = await withOwnFamilies(families, 'resolveRecipe').resolve(recipe);
  if (!resolution.ok) throw new InputError(resolution.error);
  return resolution.value;
}
