/** Lists the compose fields of a recipe that may be changed one by one, each with the values that are tried. */
import * as z from 'zod';
import { BUILT_IN, type Recipe, rewardRange } from '../families/composers.ts';
import { familyOf } from '../families/registry.ts';

/** A field with another value. */
export type FieldChange = { readonly field: string; readonly value: string | number | boolean };

/** A recipe with some fields changed. */
export type ChangedRecipe = { readonly changes: readonly FieldChange[]; readonly recipe: Recipe };

/** Weights are tried at these multiples of their value. 0 is not: it would stop paying for a part of the answer. */
const WEIGHT_FACTORS = [0.5, 2] as const;

/**
 * Every single change of a compose field that gives a valid recipe: other words, the other switch, half and double
 * weights. Words and switches that change the range of the reward are left out, because they rescale it.
 */
export function singleChanges(recipe: Recipe): readonly FieldChange[] {
  const { schema } = familyOf(recipe).recipe;
  const values = new Map<string, unknown>(Object.entries(recipe));
  return Object.entries(BUILT_IN.of(recipe).recipe.fields).flatMap(([field, kind]) => {
    const type = schema.shape[field];
    if (kind !== 'compose' || type === undefined) return [];
    return valuesOf(type, values.get(field))
      .map((value) => ({ field, value }))
      .filter((change) => {
        const after = changed({ changes: [], recipe }, change)?.recipe;
        return after !== undefined && (typeof change.value === 'number' || hasRangeOf(recipe, after));
      });
  });
}

function hasRangeOf(recipe: Recipe, other: Recipe): boolean {
  const [least, most] = rewardRange(recipe);
  const [otherLeast, otherMost] = rewardRange(other);
  return least === otherLeast && most === otherMost;
}

/** Adds a change; `null` = the fields do not fit together, or the field is changed already. */
export function changed({ changes, recipe }: ChangedRecipe, change: FieldChange): ChangedRecipe | null {
  if (changes.some(({ field }) => field === change.field)) return null;
  const read = familyOf(recipe).recipe.schema.safeParse({ ...recipe, [change.field]: change.value });
  return read.success ? { changes: [...changes, change], recipe: read.data } : null;
}

function valuesOf(type: z.core.$ZodType, value: unknown): readonly FieldChange['value'][] {
  if (type instanceof z.ZodOptional || type instanceof z.ZodExactOptional || type instanceof z.ZodDefault) {
    return valuesOf(type.unwrap(), value);
  }
  if (type instanceof z.ZodBoolean) return [value !== true];
  if (type instanceof z.ZodEnum) return type.options.filter((one) => one !== value);
  if (type instanceof z.ZodNumber && typeof value === 'number') return WEIGHT_FACTORS.map((factor) => factor * value);
  return [];
}
