/** What a family says about a reward so that it can be explained in steps (src/scoring/reward-steps.ts). */
import type { FamilyTypes } from './family.ts';

/** A rule of a recipe that changes a reward after its parts are summed, by the recipe field that sets it. */
export type Guard<Recipe> = {
  readonly field: string;
  /** The recipe with the rule switched off. */
  off(recipe: Recipe): Recipe;
};

/** What single criteria and statements add to a scored reward, in reward units, in the order of the facts. */
export type DividedComponents = {
  /** What the contribution of the component `rubric` is made of. */
  readonly rubric: readonly number[];
  /** What the contribution of the component `citation` is made of. */
  readonly citation: readonly { readonly isClaim: boolean; readonly amount: number }[];
};

/** A family without a division is explained by its components. Members that take arguments are methods, as in `Composer`. */
export interface RewardDivision<T extends FamilyTypes = FamilyTypes> {
  readonly family: T['recipe']['family'];
  /** In the order in which the formula applies them. */
  readonly guards: readonly Guard<T['recipe']>[];
  /** @param score of the facts under the recipe, with a reward. Empty lists: nothing is known below the components. */
  divide(facts: T['facts'], recipe: T['recipe'], score: T['score']): DividedComponents;
}
