/**
 * The recipe families of this build. A new family is a folder beside this file, with its import and its entry here;
 * every type, schema and function below derives from the list.
 */
import * as z from 'zod';
import type { Family, GroupVotes, Measured, PlanOptions, RewardRange } from '../family/family.ts';
import { weightProblems } from '../family/requirements.ts';
import type { Rollout } from '../family/rollout.ts';
import type { Component } from '../family/score.ts';
import type { Stage } from '../family/stages.ts';
import type { InputProblem } from '../input-problem.ts';
import type { Result } from '../result.ts';
import { drTulu } from './dr-tulu/family.ts';
import { longTrace } from './long-trace/family.ts';
import { refiner } from './refiner/family.ts';
import { toolCall } from './tool-call/family.ts';

const LIST = [refiner, longTrace, toolCall, drTulu] as const;

type Entry = (typeof LIST)[number];

export type FamilyName = Entry['name'];
export type Facts = Parameters<Entry['compose']>[0];
export type Recipe = Parameters<Entry['compose']>[1];
export type Score = ReturnType<Entry['compose']>;
/** What the families report of a rollout; `POST /v1/score` adds the judgments, the recipe and the receipt. */
export type FamilyReply = z.infer<Entry['reply']['schema']>;

/** Unions over all families: the types of a value whose family is known only at run time. */
type AnyTypes = {
  readonly recipe: Recipe;
  readonly facts: Facts;
  readonly score: Score;
  readonly reply: FamilyReply;
};
type AnyFamily = Family<AnyTypes>;
export type MeasuredRollout = Measured<AnyTypes>;

const [FIRST, ...OTHERS]: readonly [AnyFamily, ...AnyFamily[]] = LIST;

/** Every family, in the order of documents and schemas. */
export const FAMILIES: readonly AnyFamily[] = LIST;
export const FAMILY_NAMES: readonly FamilyName[] = LIST.map(({ name }) => name);

const byName: ReadonlyMap<string, AnyFamily> = new Map(FAMILIES.map((family) => [family.name, family]));

/** Returns the family of a recipe, of facts, of a score or of a reply. */
export function familyOf({ family: name }: { readonly family: FamilyName }): AnyFamily {
  const family = byName.get(name);
  if (family === undefined) throw new RangeError(`familyOf: no family is called ${name}`);
  return family;
}

export const recipeSchema: z.ZodType<Recipe> = z.discriminatedUnion('family', [
  FIRST.recipe.schema,
  ...OTHERS.map(({ recipe }) => recipe.schema),
]);

export const factsSchema: z.ZodType<Facts> = z.discriminatedUnion('family', [
  FIRST.facts.schema,
  ...OTHERS.map(({ facts }) => facts.schema),
]);

/** Returns the union of all families' reply schemas, each with the fields of `more` appended. */
export function replySchemaWith<S extends z.ZodRawShape>(more: S): z.ZodType<FamilyReply & z.infer<z.ZodObject<S>>>;
export function replySchemaWith(more: z.ZodRawShape): z.ZodType {
  return z.discriminatedUnion('family', [
    FIRST.reply.schema.extend(more),
    ...OTHERS.map(({ reply }) => reply.schema.extend(more)),
  ]);
}

type NamedOf<E> = E extends { readonly recipe: { readonly named: infer Named } } ? Named : never;
type NamesOf<Named> = Named extends unknown ? keyof Named & string : never;
type NamedRecipes = {
  readonly [Name in RecipeName]: Extract<NamedOf<Entry>, Readonly<Record<Name, unknown>>>[Name];
};

export type RecipeName = NamesOf<NamedOf<Entry>>;

/** Every named recipe. */
export const RECIPES = namedRecipes();
export const RECIPE_NAMES = Object.keys(RECIPES).filter(isRecipeName);

function namedRecipes(): NamedRecipes;
function namedRecipes(): Readonly<Record<string, Recipe>> {
  return Object.fromEntries(FAMILIES.flatMap(({ recipe }) => Object.entries(recipe.named)));
}

/** Whether a recipe has this name. False for the member names of Object.prototype. */
export function isRecipeName(name: string): name is RecipeName {
  return Object.hasOwn(RECIPES, name);
}

/** Smallest and largest reward that a recipe can give. */
export function rewardRange(recipe: Recipe): RewardRange {
  return familyOf(recipe).recipe.range(recipe);
}

/** Plans the judgments of one rollout under a recipe. Problems are input errors (HTTP 422). */
export function planRollout(
  rollout: Rollout,
  recipe: Recipe,
  options: PlanOptions = {},
): Result<Stage<MeasuredRollout>, readonly InputProblem[]> {
  const family = familyOf(recipe);
  if (options.explain === true && !family.canExplain) {
    const able = FAMILIES.filter(({ canExplain }) => canExplain).map(({ name }) => name);
    const message = `recipes of the ${able.join(' and the ')} family have compat modes`;
    return { ok: false, error: [{ path: ['explain'], message }] };
  }
  const problems = weightProblems(rollout);
  return problems.length > 0 ? { ok: false, error: problems } : family.plan(rollout, recipe, options);
}

/**
 * The reward of one rollout, from its facts. Pure; only + - * /, so every runtime gives the same bits.
 *
 * @param group votes of its group; `null` for a rollout that is scored alone. Its reward is not final if the recipe
 *   compares within the group.
 * @throws RangeError if the facts are of another family than the recipe, or a number of the score is not finite.
 */
export function compose(facts: Facts, recipe: Recipe, group: GroupVotes = null): Score {
  if (facts.family !== recipe.family) {
    throw new RangeError(`compose: facts of the family ${facts.family} under a recipe of ${recipe.family}`);
  }
  const score = familyOf(recipe).compose(facts, recipe, group);
  if (isFiniteScore(score)) return score;
  throw new RangeError(`compose: a number of the ${facts.family} score is not finite; check the facts and the recipe`);
}

function isFiniteScore({ reward, base, components }: Score): boolean {
  const isNumber = (value: number | null) => value === null || Number.isFinite(value);
  const parts: readonly Component[] = Object.values(components);
  return (
    isNumber(reward) && isNumber(base) && parts.every((part) => isNumber(part.value) && isNumber(part.contribution))
  );
}

/**
 * Computes the votes of a group; a recipe's group maximum is computed nowhere else.
 *
 * @param members All members, in order. `facts` are `null` for a member whose facts do not hold what the recipe reads.
 */
export function groupVotes(
  members: readonly { readonly facts: Facts | null; readonly recipe: Recipe }[],
): NonNullable<GroupVotes> {
  const votes = members.map(({ facts, recipe }) => familyOf(recipe).groupVote(facts, recipe));
  let max: number | null = null;
  let least = Number.NEGATIVE_INFINITY;
  for (const vote of votes) {
    if (typeof vote === 'number' && (max === null || vote > max)) max = vote;
    if (vote !== null) least = Math.max(least, typeof vote === 'number' ? vote : vote.least);
  }
  const raising = votes.flatMap((vote, position) =>
    vote !== null && typeof vote !== 'number' && vote.most > least ? [{ position, most: vote.most }] : [],
  );
  if (raising.length === 0) return { max: least === Number.NEGATIVE_INFINITY ? null : least };
  const most = Math.max(...raising.map((vote) => vote.most));
  return { max, unknown: { least, most, members: raising.map(({ position }) => position) } };
}

/** The final rewards of the samples of one prompt, in order. @throws RangeError like `compose`. */
export function composeGroup(group: readonly Facts[], recipe: Recipe): Score[] {
  const votes = groupVotes(group.map((facts) => ({ facts, recipe })));
  return group.map((facts) => compose(facts, recipe, votes));
}
