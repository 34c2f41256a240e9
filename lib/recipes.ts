/** Exports to users of the library: the named recipes, and composing rewards from facts under a recipe. */
import {
  composeGroup as composeFamilyGroup,
  compose as composeRollout,
  type Facts,
  RECIPES,
  type Recipe,
  type Score,
} from '../src/families/composers.ts';
import type { GroupVotes } from '../src/family/family.ts';

/**
 * The named recipes, each with all of its parameters.
 *
 * @example
 * ```ts
 * import { recipes } from 'citeward';
 *
 * const recipe = { ...recipes['refiner-guarded'], citation_weight: 0.3 };
 * ```
 */
export const recipes = RECIPES;

type OfFamily<Union, Family> = Extract<Union, { readonly family: Family }>;

/**
 * Composes the reward that facts have under a recipe. Pure and exact: the same bits in every runtime, no judge, no
 * text.
 *
 * @example
 * ```ts
 * import { compose, createScorer, lexicalJudge, recipes } from 'citeward';
 *
 * const scorer = createScorer({ judge: lexicalJudge });
 * const { facts } = await scorer.score(
 *   {
 *     question: 'How long is the Aare?',
 *     tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>',
 *     response: '<answer><snippet id=S1>It is 288 km long.</snippet></answer>',
 *     positive_rubrics: [{ description: 'States the length' }],
 *   },
 *   'refiner-guarded',
 *   { measureAll: true },
 * );
 * const { reward } = compose(facts, { ...recipes['refiner-guarded'], citation_weight: 0.2 });
 * ```
 * @param group The group's largest vote; `null` for a rollout alone. `composeGroup` computes it.
 * @throws RangeError if facts and recipe are of different families, or the reward is not finite.
 */
export function compose<F extends Facts>(
  facts: F,
  recipe: OfFamily<Recipe, F['family']>,
  group?: GroupVotes,
): OfFamily<Score, F['family']>;
export function compose(facts: Facts, recipe: Recipe, group: GroupVotes = null): Score {
  return composeRollout(facts, recipe, group);
}

/**
 * Composes the rewards of the samples of one prompt, in their order. Recipes may compare within the group.
 *
 * @example
 * ```ts
 * import { composeGroup, createScorer, lexicalJudge, recipes } from 'citeward';
 *
 * const recipe = recipes['longtrace-rl'];
 * const row = { question: 'Which river flows through Bern?', reference: 'the Aare', entities: ['Aare'] };
 * const rollouts = ['The Aare.', 'The Rhine.'].map((text) => ({
 *   ...row,
 *   response: `<think>Bern.</think>${text}`,
 *   finish_reason: 'stop',
 * }));
 * const { samples } = await createScorer({ judge: lexicalJudge }).group(rollouts, recipe);
 * const scores = composeGroup(samples.map(({ facts }) => facts), { ...recipe, eta: 0.5 });
 * console.log(scores.map(({ reward }) => reward));
 * ```
 * @throws RangeError as `compose`.
 */
export function composeGroup<F extends Facts>(
  facts: readonly F[],
  recipe: OfFamily<Recipe, F['family']>,
): readonly OfFamily<Score, F['family']>[];
export function composeGroup(facts: readonly Facts[], recipe: Recipe): readonly Score[] {
  return composeFamilyGroup(facts, recipe);
}
