/**
 * The recipe families of this build: the only list of them. A new family is a folder beside this file, and its line in
 * each of the three lists; the compiler names a list that lacks it. Every type, schema and function derives from them.
 *
 * One list of whole families would put the plan, the prompts and the schemas of each family into every bundle that
 * composes a reward: bundlers drop unused exports, but no unused members of an object
 * (docs/decisions/2026-11-22-three-lists-of-families.md).
 */
import type * as z from 'zod';
import type { Composer, Family } from '../family/family.ts';
import { carrComposer } from './carr/composer.ts';
import { carrFactsSchema } from './carr/facts.ts';
import { carr } from './carr/family.ts';
import { carrRecipeSchema } from './carr/recipe.ts';
import { drTuluComposer } from './dr-tulu/composer.ts';
import { drTuluFactsSchema } from './dr-tulu/facts.ts';
import { drTulu } from './dr-tulu/family.ts';
import { drTuluRecipeSchema } from './dr-tulu/recipe.ts';
import { longTraceComposer } from './long-trace/composer.ts';
import { longTraceFactsSchema } from './long-trace/facts.ts';
import { longTrace } from './long-trace/family.ts';
import { longTraceRecipeSchema } from './long-trace/recipe.ts';
import { refinerComposer } from './refiner/composer.ts';
import { refinerFactsSchema } from './refiner/facts.ts';
import { refiner } from './refiner/family.ts';
import { refinerRecipeSchema } from './refiner/recipe.ts';
import { toolCallComposer } from './tool-call/composer.ts';
import { toolCallFactsSchema } from './tool-call/facts.ts';
import { toolCall } from './tool-call/family.ts';
import { toolCallRecipeSchema } from './tool-call/recipe.ts';

/** The families as replay uses them. */
export const COMPOSERS = [refinerComposer, longTraceComposer, carrComposer, toolCallComposer, drTuluComposer] as const;

/** The schemas that read stored recipes and facts of each family. */
export const SCHEMAS = [
  { recipe: refinerRecipeSchema, facts: refinerFactsSchema },
  { recipe: longTraceRecipeSchema, facts: longTraceFactsSchema },
  { recipe: carrRecipeSchema, facts: carrFactsSchema },
  { recipe: toolCallRecipeSchema, facts: toolCallFactsSchema },
  { recipe: drTuluRecipeSchema, facts: drTuluFactsSchema },
] as const satisfies SchemasOf<typeof COMPOSERS>;

/** The families as scoring uses them, in the order of documents and schemas. */
export const FAMILIES = [refiner, longTrace, carr, toolCall, drTulu] as const satisfies FamiliesOf<typeof COMPOSERS>;

type SchemasOf<List extends readonly Composer[]> = {
  readonly [Place in keyof List]: {
    readonly recipe: z.ZodObject & z.ZodType<Parameters<List[Place]['compose']>[1]>;
    readonly facts: z.ZodObject & z.ZodType<Parameters<List[Place]['compose']>[0]>;
  };
};

type FamiliesOf<List extends readonly Composer[]> = { readonly [Place in keyof List]: Family & List[Place] };
