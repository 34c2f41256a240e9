/** Recipes at the front door: the named ones, resolving, and composing facts under a recipe. */
import {
  composeGroup as composeFamilyGroup,
  compose as composeRollout,
  type Facts,
  type FamilyName,
  RECIPES,
  type Recipe,
  type RecipeName,
  type Score,
} from '../src/families/composers.ts';
import {
  type RecipeInput as AnyRecipeInput,
  type ResolvedRecipe,
  resolveRecipe as resolve,
} from '../src/families/resolve.ts';
import type { GroupVotes } from '../src/family/family.ts';
import { InputError } from './input-error.ts';

/** The named recipes, each with all of its parameters. */
export const recipes = RECIPES;

/** A recipe as a caller gives it: a name, a named recipe with changed fields, or all parameters. */
export type RecipeInput = RecipeName | ({ readonly base: RecipeName } & Readonly<Record<string, unknown>>) | Recipe;

/** The family of a recipe input, as far as its type tells. */
export type FamilyOf<R> = R extends RecipeName
  ? FamilyIn<(typeof RECIPES)[R]>
  : R extends { readonly base: infer Base extends RecipeName }
    ? FamilyIn<(typeof RECIPES)[Base]>
    : R extends { readonly family: infer Family extends FamilyName }
      ? Family
      : FamilyName;

type FamilyIn<R> = R extends { readonly family: infer Family extends FamilyName } ? Family : FamilyName;

type OfFamily<Union, Family> = Extract<Union, { readonly family: Family }>;

/**
 * Resolves a recipe to all of its parameters, its digest and the range of its reward.
 *
 * @example
 * ```ts
 * import { resolveRecipe } from 'citeward';
 *
 * const { recipe, digest } = await resolveRecipe({ base: 'refiner-rl-balanced', citation_weight: 0.3 });
 * ```
 * @throws InputError for an unknown name or a wrong field.
 */
export async function resolveRecipe(recipe: RecipeInput): Promise<ResolvedRecipe> {
  const input: AnyRecipeInput = recipe;
  const resolution = await resolve(input);
  if (!resolution.ok) throw new InputError(resolution.problems);
  return resolution.resolved;
}

/**
 * Composes the reward that facts have under a recipe. Pure and exact: the same bits in every runtime, no judge, no text.
 *
 * @example
 * ```ts
 * import { compose, createScorer, lexicalJudge, recipes } from 'citeward';
 *
 * const scorer = createScorer({ judge: lexicalJudge });
 * const { facts } = await scorer.score(
 *   {
 *     question: 'How long is the Aare?',
 *     tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>',
 *     response: '<answer><snippet id=S1>It is 288 km long.</snippet></answer>',
 *     positive_rubrics: [{ description: 'States the length' }],
 *   },
 *   'refiner-rl-balanced',
 *   { measureAll: true },
 * );
 * const { reward } = compose(facts, { ...recipes['refiner-rl-balanced'], citation_weight: 0.2 });
 * ```
 * @param group The group's largest vote; `null` for a rollout alone. `composeGroup` computes it.
 * @throws RangeError if facts and recipe are of different families, or the reward is not finite.
 */
export function compose<F extends Facts>(
  facts: F,
  recipe: OfFamily<Recipe, F['family']>,
  group?: GroupVotes,
): OfFamily<Score, F['family']>;
export function compose(facts: Facts, recipe: Recipe, group: GroupVotes = null): Score {
  return composeRollout(facts, recipe, group);
}

/**
 * Composes the rewards of the samples of one prompt, in their order. Recipes that compare within the group (long-trace) do.
 *
 * @throws RangeError as `compose`.
 */
export function composeGroup<F extends Facts>(
  facts: readonly F[],
  recipe: OfFamily<Recipe, F['family']>,
): readonly OfFamily<Score, F['family']>[];
export function composeGroup(facts: readonly Facts[], recipe: Recipe): readonly Score[] {
  return composeFamilyGroup(facts, recipe);
}
