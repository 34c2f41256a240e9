/** Schemas of stored recipes and facts, for every family of the list. They read data; they plan and judge nothing. */
import * as z from 'zod';
import { FAMILY_NAMES, type Facts, type Recipe } from './composers.ts';
import { SCHEMAS } from './list.ts';

const [FIRST, ...OTHERS] = SCHEMAS;

export const recipeSchema: z.ZodType<Recipe> = z.discriminatedUnion('family', [
  FIRST.recipe,
  ...OTHERS.map(({ recipe }) => recipe),
]);

export const factsSchema: z.ZodType<Facts> = z.discriminatedUnion('family', [
  FIRST.facts,
  ...OTHERS.map(({ facts }) => facts),
]);

/** The schema of one family's recipes, with its fields. */
export function recipeSchemaOf({ family }: Recipe): z.ZodObject {
  const schemas = SCHEMAS[FAMILY_NAMES.indexOf(family)];
  if (schemas === undefined) throw new RangeError(`recipeSchemaOf: no family is called ${family}`);
  return schemas.recipe;
}
