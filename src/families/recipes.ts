/** Every recipe family and every named recipe, in one place. A family is added here and in src/families/plan-rollout.ts. */
import * as z from 'zod';
import {
  DR_TULU_FIELDS,
  DR_TULU_RECIPES,
  type DrTuluRecipe,
  drTuluRecipeSchema,
  drTuluRewardRange,
} from './dr-tulu/recipe.ts';
import {
  LONG_TRACE_FIELDS,
  LONG_TRACE_RECIPES,
  type LongTraceRecipe,
  longTraceRecipeSchema,
  longTraceRewardRange,
} from './long-trace/recipe.ts';
import {
  REFINER_FIELDS,
  REFINER_RECIPES,
  type RefinerRecipe,
  refinerRecipeSchema,
  refinerRewardRange,
} from './refiner/recipe.ts';
import {
  TOOL_CALL_FIELDS,
  TOOL_CALL_RECIPES,
  type ToolCallRecipe,
  toolCallRecipeSchema,
  toolCallRewardRange,
} from './tool-call/recipe.ts';

export type Recipe = RefinerRecipe | LongTraceRecipe | ToolCallRecipe | DrTuluRecipe;
export type Family = Recipe['family'];

export const FAMILIES = ['refiner', 'long-trace', 'tool-call', 'dr-tulu'] as const satisfies readonly Family[];

export const recipeSchema = z.discriminatedUnion('family', [
  refinerRecipeSchema,
  longTraceRecipeSchema,
  toolCallRecipeSchema,
  drTuluRecipeSchema,
]);

export const RECIPES = {
  ...REFINER_RECIPES,
  ...LONG_TRACE_RECIPES,
  ...TOOL_CALL_RECIPES,
  ...DR_TULU_RECIPES,
} as const satisfies Record<string, Recipe>;

export type RecipeName = keyof typeof RECIPES;

/** `measure` fields decide what is asked, `compose` fields what is made of it. Replay changes compose fields freely. */
export type FieldKind = 'measure' | 'compose';

/** The fields of each family, each with its kind. */
export const FAMILY_FIELDS = {
  refiner: REFINER_FIELDS,
  'long-trace': LONG_TRACE_FIELDS,
  'tool-call': TOOL_CALL_FIELDS,
  'dr-tulu': DR_TULU_FIELDS,
} as const satisfies Record<Family, Readonly<Record<string, FieldKind>>>;

/** Smallest and largest reward; `null` = without bound. */
export type RewardRange = readonly [number | null, number | null];

/** Smallest and largest reward that a recipe can give. */
export function rewardRange(recipe: Recipe): RewardRange {
  switch (recipe.family) {
    case 'refiner':
      return refinerRewardRange(recipe);
    case 'long-trace':
      return longTraceRewardRange(recipe);
    case 'tool-call':
      return toolCallRewardRange(recipe);
    case 'dr-tulu':
      return drTuluRewardRange(recipe);
  }
}
