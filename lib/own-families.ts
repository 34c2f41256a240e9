/**
 * Supports recipe families that a user of the library adds to the built-in ones: their types, the checks of their
 * names, and lookups over both kinds.
 */
import type * as z from 'zod';
import {
  BUILT_IN,
  type Composers,
  createComposers,
  FAMILY_NAMES,
  type Facts,
  type FamilyName,
  RECIPES,
  type Recipe,
  type RecipeName,
} from '../src/families/composers.ts';
import { COMPOSERS } from '../src/families/list.ts';
import { createResolver, type ResolveRecipe, resolveRecipe } from '../src/families/resolve.ts';
import { recipeSchema } from '../src/families/schemas.ts';
import type { ScoringFamily } from '../src/family/family.ts';
import type { RecipeValues } from '../src/runs/gaps.ts';
import type { MadeBy, ScoreReply } from '../src/scoring/score-reply.ts';

/** Families beside the built-in ones, in any order; names of families and of recipes are distinct. */
export type OwnFamilies = readonly ScoringFamily[];

/** The recipes of a family, from the type of its value. */
export type RecipeOf<F extends ScoringFamily> = F extends ScoringFamily ? Parameters<F['compose']>[1] : never;
/** The facts of a family, from the type of its value. */
export type FactsOf<F extends ScoringFamily> = F extends ScoringFamily ? Parameters<F['compose']>[0] : never;

type NamesOf<F extends ScoringFamily> = F extends ScoringFamily ? keyof F['recipe']['named'] & string : never;

/** A recipe as a caller gives it: a name, a named recipe with changed fields, or all parameters. */
export type RecipeInput<F extends ScoringFamily = never> =
  | RecipeName
  | NamesOf<F>
  | ({ readonly base: RecipeName | NamesOf<F> } & Readonly<Record<string, unknown>>)
  | Recipe
  | RecipeOf<F>;

type FamilyIn<R> = R extends { readonly family: infer Name extends string } ? Name : FamilyName;

/** The own family that has a recipe of this name. */
type FamilyNamed<Name, F extends ScoringFamily> = F extends ScoringFamily
  ? Name extends NamesOf<F>
    ? F['name']
    : never
  : never;

/** The family of a recipe input, as far as the type of the input determines it. */
export type FamilyOf<R, F extends ScoringFamily = never> = R extends RecipeName
  ? FamilyIn<(typeof RECIPES)[R]>
  : R extends string
    ? FamilyNamed<R, F>
    : R extends { readonly base: infer Base }
      ? Base extends RecipeName
        ? FamilyIn<(typeof RECIPES)[Base]>
        : FamilyNamed<Base, F>
      : R extends { readonly family: infer Name extends string }
        ? Name
        : FamilyName | F['name'];

/** The reply of a family: what its plan's `reply` returns. */
type ReplyOf<F extends ScoringFamily> =
  Extract<ReturnType<F['plan']>, { readonly ok: true }> extends { readonly value: infer Plan }
    ? Extract<Plan, { readonly status: 'done' }> extends { readonly value: { reply(score: never): infer Reply } }
      ? Reply
      : never
    : never;

/** The score of a family: its reply, what made it, and the facts to replay it from. */
export type ScoredBy<Name, F extends ScoringFamily = never> = Name extends FamilyName
  ? Extract<ScoreReply, { readonly family: Name }> & { readonly facts: Extract<Facts, { readonly family: Name }> }
  : F extends { readonly name: Name }
    ? ReplyOf<F> & MadeBy & { readonly facts: FactsOf<F> }
    : never;

/** What replaying and scoring look up by the family of a recipe. */
export type KnownFamilies = {
  readonly composers: Composers;
  readonly resolve: ResolveRecipe<RecipeValues, string>;
};

/**
 * The built-in families with those of the caller.
 *
 * @param caller the function whose option is checked, for messages.
 * @throws TypeError for a name of a family or recipe that is taken, and for a named recipe that its schema refuses.
 */
export function withOwnFamilies(own: OwnFamilies, caller: string): KnownFamilies {
  if (own.length === 0) return { composers: BUILT_IN, resolve: resolveRecipe };
  const wrong = (message: string): TypeError => new TypeError(`${caller}: families: ${message}`);
  const names = new Set<string>(FAMILY_NAMES);
  const named = new Map<string, RecipeValues>(Object.entries<Recipe>(RECIPES));
  for (const { name, recipe } of own) {
    if (names.has(name)) throw wrong(`the name "${name}" is taken by another family; choose another`);
    names.add(name);
    for (const [title, values] of Object.entries(recipe.named)) {
      if (named.has(title)) throw wrong(`the recipe name "${title}" of the family "${name}" is taken; choose another`);
      if (values.family !== name || !recipe.schema.safeParse(values).success) {
        throw wrong(`the recipe "${title}" is not valid under the schema of the family "${name}"`);
      }
      named.set(title, { ...values });
    }
  }
  const composers = createComposers([...COMPOSERS, ...own]);
  const schemas = new Map(own.map(({ name, recipe }): [string, z.ZodType<RecipeValues>] => [name, recipe.schema]));
  const resolve = createResolver<RecipeValues, string>({
    families: [...names],
    named: Object.fromEntries(named),
    schemaOf: (family) => schemas.get(family) ?? recipeSchema,
    rangeOf: (recipe) => composers.of(recipe).recipe.range(recipe),
    fieldsOf: (family) => Object.keys(composers.of({ family }).recipe.fields),
  });
  return { composers, resolve };
}
