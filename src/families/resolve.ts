/**
 * Resolves the recipe of a request: a name, a named recipe with changed fields (`{base, ...fields}`), or a whole
 * recipe. The digest covers every parameter, so each spelling of one recipe has the same digest, and defaults are
 * included.
 */

import type * as z from 'zod';
import { digestOnce } from '../digest.ts';
import type { BaseRecipe, RewardRange } from '../family/family.ts';
import { type InputProblem, problemsOfIssues, UNKNOWN_FIELD } from '../input-problem.ts';
import { MAX_NAME_CHARS } from '../limits.ts';
import type { Result } from '../result.ts';
import { nearestName } from '../text/nearest-name.ts';
import { BUILT_IN, FAMILY_NAMES, RECIPES, type Recipe, type RecipeName } from './composers.ts';
import { recipeSchema } from './schemas.ts';

export type RecipeInput = string | Readonly<Record<string, unknown>>;

/** A recipe with all parameters, its digest, and the lowest and highest reward that it can give. */
export type ResolvedRecipe<R extends BaseRecipe = Recipe, Name extends string = RecipeName> = {
  /** `null` for an inline recipe, even if it changes nothing. */
  readonly name: Name | null;
  readonly recipe: R;
  /** SHA-256 (hex) of the RFC 8785 JSON of all parameters. */
  readonly digest: string;
  readonly reward_range: RewardRange;
};

export type RecipeResolution<R extends BaseRecipe = Recipe, Name extends string = RecipeName> = Result<
  ResolvedRecipe<R, Name>,
  readonly InputProblem[]
>;

/** Resolves a recipe. Problems name the field, below `path`, and never repeat the input. Default path: `recipe`. */
export type ResolveRecipe<R extends BaseRecipe = Recipe, Name extends string = RecipeName> = (
  input: RecipeInput,
  path?: InputProblem['path'],
) => Promise<RecipeResolution<R, Name>>;

/** The recipes that a resolver knows. */
type KnownRecipes<R extends BaseRecipe, Name extends string> = {
  readonly families: readonly string[];
  readonly named: Readonly<Record<Name, R>>;
  /** The schema of a family's recipes, for the names in `families`. */
  schemaOf(family: string): z.ZodType<R> | undefined;
  rangeOf(recipe: R): RewardRange;
  /** The names of the fields of a family's recipes, for the names in `families`. */
  fieldsOf(family: string): readonly string[];
};

/** Creates the resolver of a list of families. */
export function createResolver<R extends BaseRecipe, Name extends string>(
  known: KnownRecipes<R, Name>,
): ResolveRecipe<R, Name> {
  const { families, named } = known;
  const isName = (name: string): name is Name => Object.hasOwn(named, name);
  const described = (name: Name | null, recipe: R): RecipeResolution<R, Name> => {
    const resolved = { name, recipe, digest: digestOnce(recipe), reward_range: known.rangeOf(recipe) };
    return { ok: true, value: resolved };
  };
  const unknownName = (given: unknown, path: InputProblem['path']): RecipeResolution<R, Name> => {
    const names = Object.keys(named);
    const near = typeof given === 'string' && given.length <= MAX_NAME_CHARS ? nearestName(given, names) : null;
    const meant = near === null ? 'expected' : `did you mean ${near}? Expected`;
    const message = `unknown recipe; ${meant} one of ${names.join(', ')}`;
    return { ok: false, error: [{ path, message }] };
  };
  return async (input, path = ['recipe']) => {
    if (typeof input === 'string') return isName(input) ? described(input, named[input]) : unknownName(input, path);
    const { base, ...fields } = input;
    let candidate: Readonly<Record<string, unknown>> = fields;
    if (Object.hasOwn(input, 'base')) {
      if (typeof base !== 'string' || !isName(base)) return unknownName(base, [...path, 'base']);
      candidate = { ...named[base], ...fields };
    }
    const family = families.find((name) => name === candidate['family']);
    const parsed = family === undefined ? undefined : known.schemaOf(family)?.safeParse(candidate);
    if (family === undefined || parsed === undefined) return { ok: false, error: [unknownFamily(families, path)] };
    if (parsed.success) return described(null, parsed.data);
    const problems = problemsOfIssues(parsed.error.issues, candidate, path);
    return {
      ok: false,
      error: problems.map((problem) =>
        problem.path.length === path.length + 1 ? withFamilies(problem, family, known) : problem,
      ),
    };
  };
}

/** Says of an unknown field which field is probably meant, or the recipes of which families have it. */
function withFamilies(
  problem: InputProblem,
  family: string,
  { families, fieldsOf }: Pick<KnownRecipes<BaseRecipe, string>, 'families' | 'fieldsOf'>,
): InputProblem {
  const field = problem.path.at(-1);
  if (problem.message !== UNKNOWN_FIELD || typeof field !== 'string') return problem;
  const others = families.filter((name) => fieldsOf(name).includes(field));
  const near = nearestName(field, fieldsOf(family));
  const more =
    others.length > 0
      ? ` of a ${family} recipe; recipes of ${others.join(', ')} have it`
      : near === null
        ? ''
        : `; did you mean ${near}?`;
  return { ...problem, message: `${UNKNOWN_FIELD}${more}` };
}

/** Without a known family the other fields cannot be checked, so the family is the only problem. */
function unknownFamily(families: readonly string[], path: InputProblem['path']): InputProblem {
  const names = families.map((family) => JSON.stringify(family)).join(', ');
  const message = `expected one of ${names}; or "base", the name of a recipe to start from`;
  return { path: [...path, 'family'], message };
}

/** Resolves a recipe of a built-in family. */
export const resolveRecipe: ResolveRecipe = createResolver<Recipe, RecipeName>({
  families: FAMILY_NAMES,
  named: RECIPES,
  schemaOf: () => recipeSchema,
  rangeOf: (recipe) => BUILT_IN.of(recipe).recipe.range(recipe),
  fieldsOf: (family) =>
    FAMILY_NAMES.flatMap((name) => (name === family ? Object.keys(BUILT_IN.of({ family: name }).recipe.fields) : [])),
});
