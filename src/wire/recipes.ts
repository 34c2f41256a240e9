/** The reply of `GET /v1/recipes`: every named recipe with its formula and the origin of each parameter. */
import * as z from 'zod';
import { FAMILY_NAMES, RECIPE_NAMES } from '../families/composers.ts';

import { TRAINING_FIELDS } from '../family/provenance.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';

const markFields = {
  mark: z
    .enum(['card', 'code', 'ours'])
    .describe('Origin of the value: a model card, public code, or a choice of this project.'),
  source: z
    .string()
    .describe("card: the model and the card's words. code: repository, commit and place. ours: the reason."),
};

const boundSchema = z.number().nullable();

const recipeDescriptionSchema = z.strictObject({
  name: z.enum(RECIPE_NAMES),
  family: z.enum(FAMILY_NAMES),
  digest: sha256Schema.describe('SHA-256 of the RFC 8785 JSON of all parameters.'),
  model: z
    .string()
    .nullable()
    .describe('The model that was trained with the recipe; null = no published model names it.'),
  summary: z.string(),
  formula: z.array(z.string()).describe('Lines of plain text that use the field names.'),
  reward_range: z.tuple([boundSchema, boundSchema]).describe('Smallest and largest reward; null = unbounded.'),
  parameters: z.array(
    z.strictObject({
      name: z.string().describe('Path in the recipe: a field, or a field and its member, such as "a.b".'),
      kind: z
        .enum(['measure', 'compose'])
        .describe(
          'measure: decides what is judged. compose: decides how the reward is computed; a replay can change it.',
        ),
      value: z.union([z.string(), z.number(), z.boolean()]),
      ...markFields,
      description: z.string().nullable(),
    }),
  ),
  training: z
    .array(
      z.strictObject({
        name: z.enum(TRAINING_FIELDS),
        value: z.union([z.string(), z.number()]),
        ...markFields,
      }),
    )
    .describe('Settings of the published run that are outside the recipe.'),
});

export const recipesResponseSchema = z.strictObject({ recipes: z.array(recipeDescriptionSchema) });
