/** Resolving the recipe of a replay, and listing its changes. */
import { describe, expect, it } from 'vitest';
import { RECIPES, type Recipe } from '../../../src/families/composers.ts';
import { type RecipeInput, resolveRecipe } from '../../../src/families/resolve.ts';
import { recipeChange } from '../../../src/runs/gaps.ts';
import { changesOf, recipesAfter, requestedRecipes } from '../../../src/runs/plan-replay.ts';

const BASE = RECIPES['refiner-gpt54-instance-rubric'];
const [FIRST, SECOND] = ['1'.repeat(64), '2'.repeat(64)];
const RECORDED = new Map<string, Recipe>([
  [FIRST, BASE],
  [SECOND, { ...BASE, verification_reward: 1 }],
]);

type Point = { readonly field: string; readonly value: number };

const requested = (recorded: ReadonlyMap<string, Recipe>, asked: RecipeInput | undefined, point: Point | null = null) =>
  requestedRecipes(recorded, asked, resolveRecipe, point);

async function recipesFor(...asked: Parameters<typeof requested>): Promise<Recipe[]> {
  const result = await requested(...asked);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return [...recipesAfter(result.value).values()];
}

describe('requestedRecipes', () => {
  it('replaces every recorded recipe by a named or whole recipe', async () => {
    const named = RECIPES['refiner-rl-balanced'];
    expect(await recipesFor(RECORDED, 'refiner-rl-balanced')).toEqual([named, named]);
    expect(await recipesFor(RECORDED, { base: 'refiner-rl-balanced' })).toEqual([named, named]);
  });

  it('sets fields of each recorded recipe, nested fields too', async () => {
    const set = { citation_weight: 0.5, non_stop_penalty: { enabled: true } };
    expect(await recipesFor(RECORDED, { set })).toEqual(
      [...RECORDED.values()].map((recipe) => ({
        ...recipe,
        citation_weight: 0.5,
        non_stop_penalty: { enabled: true, value: 0 },
      })),
    );
  });

  it('sets the value of a sweep on top', async () => {
    const point = { field: 'non_stop_penalty.value', value: -1 };
    const [first] = await recipesFor(RECORDED, { set: { citation_weight: 1 } }, point);
    expect(first).toEqual({ ...BASE, citation_weight: 1, non_stop_penalty: { enabled: false, value: -1 } });
    expect(await recipesFor(RECORDED, undefined)).toEqual([...RECORDED.values()]);
  });

  it('lists the changes by digest', async () => {
    const result = await requested(RECORDED, 'refiner-rl-balanced');
    const resolved = await resolveRecipe('refiner-rl-balanced');
    if (!result.ok || !resolved.ok) throw new Error('refused');
    const fields = [
      { name: 'mode', kind: 'compose', before: 'full', after: 'answer_only' },
      { name: 'citation_weight', kind: 'compose', before: 0.2, after: 0.5 },
    ];
    const scale = { name: 'verification_reward', kind: 'compose', before: 1, after: 10 };
    expect(changesOf(result.value)).toEqual([
      { before: FIRST, after: resolved.value.digest, changed: fields },
      { before: SECOND, after: resolved.value.digest, changed: [...fields, scale] },
    ]);
  });

  it.each([
    ['an unknown name', 'nothing', 'recipe'],
    ['an unknown field', { set: { citation_wieght: 1 } }, 'recipe.set.citation_wieght'],
    ['a value out of range', { set: { citation_weight: 2 } }, 'recipe.set.citation_weight'],
    ['set beside other fields', { base: 'dr-tulu', set: {} }, 'recipe'],
    ['set that is no object', { set: 1 }, 'recipe.set'],
    ['another family', 'dr-tulu', 'recipe'],
    ['another family by a field', { set: { family: 'dr-tulu' } }, 'recipe.set.'],
  ])('refuses %s', async (_name, asked, path) => {
    const result = await requested(RECORDED, asked);
    expect(result.ok || result.error[0]?.path.join('.')).toContain(path);
  });

  it('refuses a value that the recipe does not accept', async () => {
    const result = await requested(RECORDED, undefined, { field: 'citation_weight', value: 1.5 });
    expect(result.ok || result.error.map(({ path }) => path.join('.'))).toEqual(['sweep.values.citation_weight']);
  });
});

it('compares recipes by value, whatever the order of their members', () => {
  const penalty = { value: 0, enabled: false };
  expect(recipeChange(BASE, { ...BASE, non_stop_penalty: penalty })).toEqual({ ok: true, fields: [] });
  expect(recipeChange(BASE, RECIPES['grpo-tcr'])).toEqual({
    ok: false,
    reason: 'other_family',
    before: 'refiner',
    after: 'tool-call',
  });
});
