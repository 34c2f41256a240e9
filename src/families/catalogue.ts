/**
 * The named recipes as `GET /v1/recipes` and docs/recipes.md describe them: every parameter with its kind, its value and
 * where that comes from. A parameter that is an object is described by its members (`overlong_penalty.factor`), as they
 * need not come from the same place.
 */
import * as z from 'zod';
import {
  type Provenance,
  type RecipeOrigin,
  type RecipeOrigins,
  sourceText,
  TRAINING_FIELDS,
  type TrainingField,
} from '../family/provenance.ts';
import { DR_TULU_ORIGINS } from './dr-tulu/origin.ts';
import { drTuluRecipeSchema } from './dr-tulu/recipe.ts';
import { FORMULAS } from './formulas.ts';
import { LONG_TRACE_ORIGINS } from './long-trace/origin.ts';
import { longTraceRecipeSchema } from './long-trace/recipe.ts';
import {
  FAMILY_FIELDS,
  type Family,
  type FieldKind,
  RECIPES,
  type Recipe,
  type RecipeName,
  type RewardRange,
} from './recipes.ts';
import { REFINER_ORIGINS } from './refiner/origin.ts';
import { refinerRecipeSchema } from './refiner/recipe.ts';
import { RECIPE_NAMES, resolveRecipe } from './resolve.ts';
import { TOOL_CALL_ORIGINS } from './tool-call/origin.ts';
import { toolCallRecipeSchema } from './tool-call/recipe.ts';

/** The origins of every named recipe. */
export const ORIGINS: RecipeOrigins = {
  ...REFINER_ORIGINS,
  ...LONG_TRACE_ORIGINS,
  ...TOOL_CALL_ORIGINS,
  ...DR_TULU_ORIGINS,
};

const SCHEMAS = {
  refiner: refinerRecipeSchema,
  'long-trace': longTraceRecipeSchema,
  'tool-call': toolCallRecipeSchema,
  'dr-tulu': drTuluRecipeSchema,
} as const satisfies Record<Family, z.ZodObject>;

type Marked = {
  readonly mark: Provenance['mark'];
  /** card: the model and its words; code: repository, commit and place; ours: the reason. */
  readonly source: string;
};

type ParameterValue = string | number | boolean;

export type ParameterDescription = Marked & {
  /** Path in the recipe: a field, or a field and its member. */
  readonly name: string;
  readonly kind: FieldKind;
  readonly value: ParameterValue;
  /** Of the member, else of the field; `null` where the name says it all. */
  readonly description: string | null;
};

export type TrainingDescription = Marked & { readonly name: TrainingField; readonly value: string | number };

export type RecipeDescription = {
  readonly name: RecipeName;
  readonly family: Family;
  /** SHA-256 (hex) of the RFC 8785 JSON of all parameters. */
  readonly digest: string;
  /** The model that was trained with it; `null` = a variant that no published model names. */
  readonly model: string | null;
  readonly summary: string;
  readonly formula: readonly string[];
  readonly reward_range: RewardRange;
  readonly parameters: readonly ParameterDescription[];
  readonly training: readonly TrainingDescription[];
};

/** Of values, not a promise: one request of a Worker must not wait for what another began. */
let catalogue: readonly RecipeDescription[] | null = null;

/** Every named recipe, in the order of `RECIPE_NAMES`. Computed once. */
export async function describeRecipes(): Promise<readonly RecipeDescription[]> {
  catalogue ??= await Promise.all(RECIPE_NAMES.map(describe));
  return catalogue;
}

async function describe(name: RecipeName): Promise<RecipeDescription> {
  const resolution = await resolveRecipe(name);
  if (!resolution.ok) throw new TypeError(`${name} does not resolve`);
  const { digest, reward_range } = resolution.resolved;
  const recipe: Recipe = RECIPES[name];
  const { model, summary, training, parameters }: RecipeOrigin<Family> = ORIGINS[name];
  return {
    name,
    family: recipe.family,
    digest,
    model,
    summary,
    formula: FORMULAS[recipe.family],
    reward_range,
    parameters: describeParameters(recipe, parameters),
    training: TRAINING_FIELDS.flatMap((field) => {
      const fact = training[field];
      return fact === undefined ? [] : [{ name: field, value: fact.value, ...marked(fact) }];
    }),
  };
}

/** @throws TypeError for a parameter without value or origin, which the types rule out. */
function describeParameters(recipe: Recipe, parameters: RecipeOrigin<Family>['parameters']): ParameterDescription[] {
  const values = new Map(leaves(recipe, isValue));
  const origins = new Map(leaves(parameters, isProvenance));
  const fields: Readonly<Record<string, FieldKind>> = FAMILY_FIELDS[recipe.family];
  return [...values].flatMap(([path, value]) => {
    const [field = '', member] = path.split('.');
    if (field === 'family') return [];
    const kind = fields[field];
    const origin = origins.get(path);
    if (kind === undefined || origin === undefined) throw new TypeError(`${path} has no kind or no origin`);
    const description = describedAs(SCHEMAS[recipe.family], field, member);
    return [{ name: path, kind, value, ...marked(origin), description }];
  });
}

/** The leaves of an object whose members are leaves or objects of leaves, each with its path. */
function leaves<T>(object: object, isLeaf: (value: unknown) => value is T): [path: string, leaf: T][] {
  return Object.entries(object).flatMap(([name, value]: [string, unknown]): [string, T][] => {
    if (isLeaf(value)) return [[name, value]];
    if (typeof value !== 'object' || value === null) throw new TypeError(`${name} is neither a leaf nor an object`);
    return leaves(value, isLeaf).map(([path, leaf]) => [`${name}.${path}`, leaf]);
  });
}

function isValue(value: unknown): value is ParameterValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isProvenance(value: unknown): value is Provenance {
  return typeof value === 'object' && value !== null && 'mark' in value;
}

function marked(provenance: Provenance): Marked {
  return { mark: provenance.mark, source: sourceText(provenance) };
}

function describedAs(family: z.ZodObject, field: string, member: string | undefined): string | null {
  const schema = family.shape[field];
  if (schema === undefined) throw new TypeError(`${field} is no field`);
  const part = member !== undefined && schema instanceof z.ZodObject ? schema.shape[member] : undefined;
  const own = part === undefined ? undefined : z.globalRegistry.get(part)?.description;
  return own ?? z.globalRegistry.get(schema)?.description ?? null;
}
