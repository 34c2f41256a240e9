/**
 * The named recipes as `GET /v1/recipes` and docs/reference/recipes.md describe them: every parameter with its kind, its
 * value and its origin. A parameter that is an object is described member by member (`overlong_penalty.factor`), since
 * members may have different origins.
 */
import * as z from 'zod';
import type { FieldKind, RewardRange } from '../family/family.ts';
import {
  type Provenance,
  type RecipeDocuments,
  type RecipeOrigin,
  sourceText,
  TRAINING_FIELDS,
  type TrainingField,
} from '../family/provenance.ts';
import { FAMILY_NAMES, type FamilyName, RECIPE_NAMES, RECIPES, type Recipe, type RecipeName } from './composers.ts';
import { DOCUMENTS } from './list.ts';
import { familyOf } from './registry.ts';
import { resolveRecipe } from './resolve.ts';

type Marked = {
  readonly mark: Provenance['mark'];
  /**
   * Where the value comes from. With the mark `card`: the model and a quote of its card; `code`: repository, commit and
   * path; `ours`: the reason of our choice.
   */
  readonly source: string;
};

type ParameterValue = string | number | boolean;

export type ParameterDescription = Marked & {
  /** Path in the recipe: a field, or a field and its member. */
  readonly name: string;
  readonly kind: FieldKind;
  readonly value: ParameterValue;
  /** Description of the member, or else of the field; `null` = neither has one. */
  readonly description: string | null;
};

type TrainingDescription = Marked & { readonly name: TrainingField; readonly value: string | number };

export type RecipeDescription = {
  readonly name: RecipeName;
  readonly family: FamilyName;
  /** SHA-256 (hex) of the RFC 8785 JSON of all parameters. */
  readonly digest: string;
  /** The model that was trained with the recipe; `null` = a variant that no published model names. */
  readonly model: string | null;
  readonly summary: string;
  readonly formula: readonly string[];
  readonly reward_range: RewardRange;
  readonly parameters: readonly ParameterDescription[];
  readonly training: readonly TrainingDescription[];
};

/** Every named recipe, in the order of `RECIPE_NAMES`. The build writes the asset behind `GET /v1/recipes` with it. */
export function describeRecipes(): Promise<readonly RecipeDescription[]> {
  return Promise.all(RECIPE_NAMES.map(describe));
}

/**
 * Returns what the documents say of the recipes of a family.
 * @throws TypeError if the list of documents lacks the family, which its type rules out.
 */
export function documentsOf(family: FamilyName): RecipeDocuments<Recipe> {
  const documents: RecipeDocuments<Recipe> | undefined = DOCUMENTS[FAMILY_NAMES.indexOf(family)];
  if (documents === undefined) throw new TypeError(`${family} has no documents`);
  return documents;
}

/**
 * Returns the origin of a named recipe: its model and the source of each parameter.
 * @throws TypeError if the family's origins lack the recipe, which their type rules out.
 */
export function originOf(name: RecipeName): RecipeOrigin<Recipe> {
  const origin = documentsOf(RECIPES[name].family).origins[name];
  if (origin === undefined) throw new TypeError(`${name} has no origin`);
  return origin;
}

async function describe(name: RecipeName): Promise<RecipeDescription> {
  const resolution = await resolveRecipe(name);
  if (!resolution.ok) throw new TypeError(`${name} does not resolve`);
  const { digest, reward_range } = resolution.value;
  const recipe: Recipe = RECIPES[name];
  const { model, summary, training, parameters } = originOf(name);
  return {
    name,
    family: recipe.family,
    digest,
    model,
    summary,
    formula: documentsOf(recipe.family).formula,
    reward_range,
    parameters: describeParameters(recipe, parameters),
    training: TRAINING_FIELDS.flatMap((field) => {
      const fact = training[field];
      return fact === undefined ? [] : [{ name: field, value: fact.value, ...marked(fact) }];
    }),
  };
}

/**
 * Lists the parameters of a named recipe with kind, value and origin.
 * @throws TypeError for a parameter without value or origin, which the types rule out.
 */
function describeParameters(recipe: Recipe, parameters: RecipeOrigin<Recipe>['parameters']): ParameterDescription[] {
  const values = new Map(leaves(recipe, isValue));
  const origins = new Map(leaves(parameters, isProvenance));
  const { fields, schema } = familyOf(recipe).recipe;
  return [...values].flatMap(([path, value]) => {
    const [field = '', member] = path.split('.');
    if (field === 'family') return [];
    const kind = fields[field];
    const origin = origins.get(path) ?? origins.get(field);
    if (kind === undefined || origin === undefined) throw new TypeError(`${path} has no kind or no origin`);
    const description = describedAs(schema, field, member);
    return [{ name: path, kind, value, ...marked(origin), description }];
  });
}

/** The leaves of nested objects, each with its path. */
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
  const given = family.shape[field];
  if (given === undefined) throw new TypeError(`${field} is no field`);
  const schema = given instanceof z.ZodExactOptional ? given.unwrap() : given;
  const part = member !== undefined && schema instanceof z.ZodObject ? schema.shape[member] : undefined;
  const own = part === undefined ? undefined : z.globalRegistry.get(part)?.description;
  return own ?? z.globalRegistry.get(schema)?.description ?? null;
}
