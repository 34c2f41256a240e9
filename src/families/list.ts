/**
 * The recipe families of this build: the only list of them. A new family is a folder beside this file, and its line in
 * each of the four lists; the compiler names a list that lacks it. Every type, schema and function derives from them.
 *
 * One list of whole families would put the plan, the prompts and the schemas of each family into every bundle that
 * composes a reward: bundlers drop unused exports, but no unused members of an object
 * (docs/decisions/2026-11-22-three-lists-of-families.md).
 */
import type * as z from 'zod';
import type { Composer, Family } from '../family/family.ts';
import type { RecipeDocuments } from '../family/provenance.ts';
import { carrComposer } from './carr/composer.ts';
import { carrFactsSchema } from './carr/facts.ts';
import { carr } from './carr/family.ts';
import { CARR_ORIGINS } from './carr/origin.ts';
import { CARR_FORMULA, carrRecipeSchema } from './carr/recipe.ts';
import { drTuluComposer } from './dr-tulu/composer.ts';
import { drTuluFactsSchema } from './dr-tulu/facts.ts';
import { drTulu } from './dr-tulu/family.ts';
import { DR_TULU_ORIGINS } from './dr-tulu/origin.ts';
import { DR_TULU_FORMULA, drTuluRecipeSchema } from './dr-tulu/recipe.ts';
import { longTraceComposer } from './long-trace/composer.ts';
import { longTraceFactsSchema } from './long-trace/facts.ts';
import { longTrace } from './long-trace/family.ts';
import { LONG_TRACE_ORIGINS } from './long-trace/origin.ts';
import { LONG_TRACE_FORMULA, longTraceRecipeSchema } from './long-trace/recipe.ts';
import { refinerComposer } from './refiner/composer.ts';
import { refinerFactsSchema } from './refiner/facts.ts';
import { refiner } from './refiner/family.ts';
import { REFINER_ORIGINS } from './refiner/origin.ts';
import { REFINER_FORMULA, refinerRecipeSchema } from './refiner/recipe.ts';
import { toolCallComposer } from './tool-call/composer.ts';
import { toolCallFactsSchema } from './tool-call/facts.ts';
import { toolCall } from './tool-call/family.ts';
import { TOOL_CALL_ORIGINS } from './tool-call/origin.ts';
import { TOOL_CALL_FORMULA, toolCallRecipeSchema } from './tool-call/recipe.ts';

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

/** What the documents say of the recipes of each family. */
export const DOCUMENTS = [
  { origins: REFINER_ORIGINS, formula: REFINER_FORMULA },
  { origins: LONG_TRACE_ORIGINS, formula: LONG_TRACE_FORMULA },
  { origins: CARR_ORIGINS, formula: CARR_FORMULA },
  { origins: TOOL_CALL_ORIGINS, formula: TOOL_CALL_FORMULA },
  { origins: DR_TULU_ORIGINS, formula: DR_TULU_FORMULA },
] as const satisfies DocumentsOf<typeof COMPOSERS>;

type SchemasOf<List extends readonly Composer[]> = {
  readonly [Place in keyof List]: {
    readonly recipe: z.ZodObject & z.ZodType<Parameters<List[Place]['compose']>[1]>;
    readonly facts: z.ZodObject & z.ZodType<Parameters<List[Place]['compose']>[0]>;
  };
};

type FamiliesOf<List extends readonly Composer[]> = { readonly [Place in keyof List]: Family & List[Place] };

type DocumentsOf<List extends readonly Composer[]> = {
  readonly [Place in keyof List]: RecipeDocuments<
    Parameters<List[Place]['compose']>[1],
    keyof List[Place]['recipe']['named'] & string
  >;
};
