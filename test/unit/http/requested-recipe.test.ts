import { expect, test } from 'vitest';
import { requestedRecipe } from '../../../service/requested-recipe.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';

const CHANGED = { base: 'refiner-rl-balanced', citation_weight: 0.5 };

test('an equal recipe of another request gives the same resolution', async () => {
  const first = await requestedRecipe(CHANGED);
  expect(first).toStrictEqual(await resolveRecipe(CHANGED));
  expect(await requestedRecipe({ ...CHANGED })).toBe(first);
});

test('every other recipe is resolved for itself', async () => {
  const other = { ...CHANGED, citation_weight: 0.25 };
  expect(await requestedRecipe(other)).toStrictEqual(await resolveRecipe(other));
  expect(await requestedRecipe('refiner-rl-balanced')).toStrictEqual(await resolveRecipe('refiner-rl-balanced'));
});

test.each([null, Number.POSITIVE_INFINITY])('a weight of %s is refused each time', async (citation_weight) => {
  const wrong = { ...CHANGED, citation_weight };
  const refused = await resolveRecipe(wrong);
  expect(refused.ok).toBe(false);
  for (const _attempt of [1, 2]) expect(await requestedRecipe(wrong)).toStrictEqual(refused);
});
