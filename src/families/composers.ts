/**
 * Composes rewards from facts, and the named recipes: what replay needs of the families. Imports no schema and no plan,
 * so a bundle that only composes stays small.
 */
import { type Contributions, settledContributions, WHOLE_REWARD } from '../family/contributions.ts';
import type { Composer, FamilyTypes, GroupVotes, RewardRange } from '../family/family.ts';
import type { BaseScore } from '../family/score.ts';
import { COMPOSERS } from './list.ts';

type Entry = (typeof COMPOSERS)[number];

export type FamilyName = Entry['name'];
/** What was observed about one rollout, by family. `compose` reads nothing else, so stored facts can be replayed. */
export type Facts = Parameters<Entry['compose']>[0];
/** All parameters of a reward, by family. */
export type Recipe = Parameters<Entry['compose']>[1];
export type Score = ReturnType<Entry['compose']>;

/** Unions over the built-in families: the types of a value whose family is known only at run time. */
type AnyTypes = { readonly recipe: Recipe; readonly facts: Facts; readonly score: Score; readonly reply: Score };

/** The composers of a list of families, by the family of facts and recipes. */
export interface Composers<T extends FamilyTypes = FamilyTypes> {
  /** The composer of a recipe or of facts. @throws RangeError for a family that is not in the list. */
  of(named: { readonly family: T['recipe']['family'] }): Composer<T>;
  /**
   * The reward of one rollout, from its facts. Pure; only + - * /, so every runtime gives the same bits.
   *
   * @param group votes of its group. Default `null`: a rollout that is scored alone. Its reward is not final if the
   *   recipe compares within the group.
   * @throws RangeError if the facts are of another family than the recipe, or a number of the score is not finite.
   */
  compose(facts: T['facts'], recipe: T['recipe'], group?: GroupVotes): T['score'];
  /**
   * The contributions of a score, which add up to its reward; `null` = unscored.
   *
   * @throws RangeError if the family's contributions do not add up to the reward.
   */
  contributions(score: T['score'], recipe: T['recipe']): Contributions | null;
  /**
   * Computes the votes of a group; a recipe's group maximum is computed nowhere else.
   *
   * @param members All members, in order. `facts` are `null` for a member whose facts do not hold what the recipe
   * reads.
   */
  groupVotes(
    members: readonly { readonly facts: T['facts'] | null; readonly recipe: T['recipe'] }[],
  ): NonNullable<GroupVotes>;
  /** The final rewards of the samples of one prompt, in order. @throws RangeError like `compose`. */
  composeGroup(group: readonly T['facts'][], recipe: T['recipe']): T['score'][];
}

/** Creates the composers of a list of families whose names are distinct. */
export function createComposers<T extends FamilyTypes>(list: readonly Composer<T>[]): Composers<T> {
  const byName: ReadonlyMap<string, Composer<T>> = new Map(list.map((composer) => [composer.name, composer]));
  const composers: Composers<T> = {
    of({ family }) {
      const composer = byName.get(family);
      if (composer === undefined) throw new RangeError(`compose: no family is called ${family}`);
      return composer;
    },
    compose(facts, recipe, group = null) {
      if (facts.family !== recipe.family) {
        throw new RangeError(`compose: facts of the family ${facts.family} under a recipe of ${recipe.family}`);
      }
      const score = composers.of(recipe).compose(facts, recipe, group);
      if (isFiniteScore(score)) return score;
      const message = `a number of the ${facts.family} score is not finite; check the facts and the recipe`;
      throw new RangeError(`compose: ${message}`);
    },
    contributions(score, recipe) {
      const { reward } = score;
      if (reward === null) return null;
      const of = composers.of(recipe).contributions?.({ ...score, reward }, recipe) ?? { [WHOLE_REWARD]: reward };
      return settledContributions(of, reward);
    },
    groupVotes(members) {
      const votes = members.map(({ facts, recipe }) => composers.of(recipe).groupVote(facts, recipe));
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
    },
    composeGroup(group, recipe) {
      const votes = composers.groupVotes(group.map((facts) => ({ facts, recipe })));
      return group.map((facts) => composers.compose(facts, recipe, votes));
    },
  };
  return composers;
}

function isFiniteScore({ reward, base, components }: BaseScore): boolean {
  const isNumber = (value: number | null) => value === null || Number.isFinite(value);
  const parts = Object.values(components);
  return (
    isNumber(reward) && isNumber(base) && parts.every((part) => isNumber(part.value) && isNumber(part.contribution))
  );
}

/** The composers of the built-in families. */
export const BUILT_IN: Composers<AnyTypes> = createComposers<AnyTypes>(COMPOSERS);

/** The functions of `BUILT_IN`, described at `Composers`. */
export const { compose, composeGroup, contributions, groupVotes } = BUILT_IN;

/** The names of the built-in families, in the order of documents and schemas. */
export const FAMILY_NAMES: readonly FamilyName[] = COMPOSERS.map(({ name }) => name);

type NamedOf<E> = E extends { readonly recipe: { readonly named: infer Named } } ? Named : never;
type NamesOf<Named> = Named extends unknown ? keyof Named & string : never;
type NamedRecipes = {
  readonly [Name in RecipeName]: Extract<NamedOf<Entry>, Readonly<Record<Name, unknown>>>[Name];
};

/** The name of a built-in recipe. */
export type RecipeName = NamesOf<NamedOf<Entry>>;

/** Every named recipe. */
export const RECIPES = namedRecipes();
export const RECIPE_NAMES = Object.keys(RECIPES).filter(isRecipeName);

function namedRecipes(): NamedRecipes;
function namedRecipes(): Readonly<Record<string, Recipe>> {
  return Object.fromEntries(COMPOSERS.flatMap(({ recipe }) => Object.entries<Recipe>(recipe.named)));
}

/** Whether a recipe has this name. False for the member names of Object.prototype. */
export function isRecipeName(name: string): name is RecipeName {
  return Object.hasOwn(RECIPES, name);
}

/** Smallest and largest reward that a recipe can give. */
export function rewardRange(recipe: Recipe): RewardRange {
  return BUILT_IN.of(recipe).recipe.range(recipe);
}
