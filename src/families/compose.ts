/**
 * Composition over all families: facts and a recipe in, a reward with its parts out. Pure, and only + - * / so that every
 * runtime gives the same bits (ARCHITECTURE.md rule 3). Replay calls it on stored facts, the Worker on fresh ones.
 */

import type { Facts } from '../family/facts.ts';
import type { Score } from '../family/score.ts';
import { composeDrTulu } from './dr-tulu/compose.ts';
import { composeLongTrace, groupVote } from './long-trace/compose.ts';
import type { GroupVotes } from './plan-rollout.ts';
import type { Recipe } from './recipes.ts';
import { composeRefiner } from './refiner/compose.ts';
import { composeToolCall } from './tool-call/compose.ts';

/**
 * The reward of one rollout.
 * @param group what its group voted; `null` for a rollout alone, whose reward is then not final where the recipe
 *   normalises within the group.
 * @throws RangeError if the facts are of another family than the recipe.
 */
export function compose(facts: Facts, recipe: Recipe, group: GroupVotes = null): Score {
  if (facts.family === 'refiner' && recipe.family === 'refiner') return composeRefiner(facts, recipe);
  if (facts.family === 'long-trace' && recipe.family === 'long-trace') return composeLongTrace(facts, recipe, group);
  if (facts.family === 'tool-call' && recipe.family === 'tool-call') return composeToolCall(facts, recipe);
  if (facts.family === 'dr-tulu' && recipe.family === 'dr-tulu') return composeDrTulu(facts, recipe);
  throw new RangeError(`compose: facts of the family ${facts.family} under a recipe of ${recipe.family}`);
}

/** The final rewards of the samples of one prompt, in their order. */
export function composeGroup(group: readonly Facts[], recipe: Recipe): Score[] {
  let max: number | null = null;
  for (const facts of group) {
    const vote = voteOf(facts, recipe);
    if (vote !== null && (max === null || vote > max)) max = vote;
  }
  return group.map((facts) => compose(facts, recipe, { max }));
}

/** What a rollout tells its group; `null` where it does not vote. */
export function voteOf(facts: Facts, recipe: Recipe): number | null {
  if (facts.family === 'long-trace' && recipe.family === 'long-trace') return groupVote(facts, recipe);
  return null;
}
