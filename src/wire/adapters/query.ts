/** The query of the adapters' routes: a trainer's URL is the one place where a user can say how to score. */
import * as z from 'zod';
import { RECIPE_NAMES } from '../../families/resolve.ts';
import { MAX_NAME_CHARS } from '../../limits.ts';
import { runIdSchema } from '../../runs/placement.ts';

const recipeNameSchema = z.enum(RECIPE_NAMES).describe('Name of a recipe (GET /v1/recipes).');

export const adapterQuerySchema = z.strictObject({
  recipe: recipeNameSchema,
  run: runIdSchema
    .exactOptional()
    .describe(
      'Names the run: everything that the family measures is measured and recorded, and the reply says as which group ' +
        'and sample.',
    ),
  judge: z.string().min(1).max(MAX_NAME_CHARS).exactOptional().describe('Name of a configured judge.'),
});

export type AdapterQuery = z.infer<typeof adapterQuerySchema>;

export const slimeQuerySchema = adapterQuerySchema.extend({
  reply: z.enum(['number', 'object']).default('number').describe('object: for --reward-key.'),
});

/** The request itself says how to combine the parts; the recipe only names the family. */
export const longTraceRlQuerySchema = adapterQuerySchema.extend({
  recipe: recipeNameSchema.default('longtrace-rl'),
});
