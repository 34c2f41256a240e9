/**
 * Resolves the recipe of a request: a name, a named recipe with changed fields (`{base, ...fields}`), or a whole
 * recipe. The digest covers every parameter, so each spelling of one recipe has the same digest, and defaults are
 * included.
 */

import { digestJson } from '../digest.ts';
import type { RewardRange } from '../family/family.ts';
import { type InputProblem, problemsOfIssues } from '../input-problem.ts';
import {
  FAMILY_NAMES,
  isRecipeName,
  RECIPE_NAMES,
  RECIPES,
  type Recipe,
  type RecipeName,
  rewardRange,
} from './composers.ts';
import { recipeSchema } from './schemas.ts';

export type RecipeInput = string | Readonly<Record<string, unknown>>;

export type ResolvedRecipe = {
  /** `null` for an inline recipe, even if it changes nothing. */
  readonly name: RecipeName | null;
  readonly recipe: Recipe;
  /** SHA-256 (hex) of the RFC 8785 JSON of all parameters. */
  readonly digest: string;
  readonly reward_range: RewardRange;
};

export type RecipeResolution =
  | { readonly ok: true; readonly resolved: ResolvedRecipe }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** Resolves a recipe. Problems name the field, below `path`, and never repeat the input. */
export async function resolveRecipe(
  input: RecipeInput,
  path: InputProblem['path'] = ['recipe'],
): Promise<RecipeResolution> {
  if (typeof input === 'string') {
    if (!isRecipeName(input)) return unknownName(path);
    return { ok: true, resolved: described(input, RECIPES[input]) };
  }
  const { base, ...fields } = input;
  let candidate: Readonly<Record<string, unknown>> = fields;
  if (Object.hasOwn(input, 'base')) {
    if (typeof base !== 'string' || !isRecipeName(base)) return unknownName([...path, 'base']);
    candidate = { ...RECIPES[base], ...fields };
  }
  const parsed = recipeSchema.safeParse(candidate);
  if (!parsed.success) return { ok: false, problems: problemsOfRecipe(parsed.error.issues, candidate, path) };
  return { ok: true, resolved: described(null, parsed.data) };
}

function unknownName(path: InputProblem['path']): RecipeResolution {
  return { ok: false, problems: [{ path, message: `unknown recipe; expected one of ${RECIPE_NAMES.join(', ')}` }] };
}

/** Without a known family the other fields cannot be checked, so the family is the only problem. */
function problemsOfRecipe(
  issues: Parameters<typeof problemsOfIssues>[0],
  candidate: Readonly<Record<string, unknown>>,
  path: InputProblem['path'],
): InputProblem[] {
  if (FAMILY_NAMES.some((family) => family === candidate['family'])) return problemsOfIssues(issues, candidate, path);
  const names = FAMILY_NAMES.map((family) => JSON.stringify(family)).join(', ');
  const message = `expected one of ${names}; or "base", the name of a recipe to start from`;
  return [{ path: [...path, 'family'], message }];
}

function described(name: RecipeName | null, recipe: Recipe): ResolvedRecipe {
  return { name, recipe, digest: digestJson(recipe), reward_range: rewardRange(recipe) };
}
