/**
 * Explains the recorded reward of a rollout in steps. The page of a rollout loads this module on its own, because it
 * needs every recipe schema.
 */
import './zod-without-eval.ts';
import * as z from 'zod';
import { groupVotes, type Recipe } from '../../../src/families/composers.ts';
import { recipeSchema, recipeSchemaOf } from '../../../src/families/schemas.ts';
import { type RewardStep, rewardSteps } from '../../../src/scoring/reward-steps.ts';
import type { RunDetail, RunRollout } from '../../../src/wire/runs.ts';

export type StepsOfReward = {
  readonly steps: readonly RewardStep[];
  /** What a rule does, by the field of the recipe that sets it. */
  readonly helpOf: (field: string) => string | null;
};

/**
 * @param group the latest attempts of the rollout's group, itself included.
 * @returns `null` = the recorded reward is not what the recorded facts give, such as of an earlier formula, or there is
 *   none.
 */
export function stepsOfReward(
  rollout: Pick<RunRollout, 'facts' | 'recipe' | 'reward'>,
  group: readonly Pick<RunRollout, 'facts' | 'recipe'>[],
  recipes: RunDetail['recipes'],
): StepsOfReward | null {
  const byDigest = new Map(recipes.map(({ digest, recipe }) => [digest, recipe]));
  const recipeOf = (digest: string): Recipe | null => recipeSchema.safeParse(byDigest.get(digest)).data ?? null;
  const recipe = recipeOf(rollout.recipe);
  if (recipe === null) return null;
  const members = group.flatMap(({ facts, recipe: digest }) => {
    const of = recipeOf(digest);
    return of === null || facts.family !== of.family ? [] : [{ facts, recipe: of }];
  });
  const steps = rewardSteps(rollout.facts, recipe, groupVotes(members));
  if (steps === null || steps.reduce((sum, { amount }) => sum + amount, 0) !== rollout.reward) return null;
  const { shape } = recipeSchemaOf(recipe);
  return { steps, helpOf: (field) => descriptionOf(shape[field]) };
}

function descriptionOf(schema: z.core.$ZodType | undefined): string | null {
  return schema === undefined ? null : (z.globalRegistry.get(schema)?.description ?? null);
}
