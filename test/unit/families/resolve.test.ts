import { describe, expect, it } from 'vitest';
import { RECIPE_NAMES, RECIPES } from '../../../src/families/composers.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';

async function digestOf(input: Parameters<typeof resolveRecipe>[0]): Promise<string> {
  const result = await resolveRecipe(input);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value.digest;
}

describe('resolveRecipe', () => {
  it('gives one digest to one recipe, however it is written', async () => {
    for (const name of RECIPE_NAMES) {
      const named = await digestOf(name);
      const whole = RECIPES[name];
      expect(await digestOf({ base: name })).toBe(named);
      expect(await digestOf({ ...whole })).toBe(named);
      expect(await digestOf(Object.fromEntries(Object.entries(whole).reverse()))).toBe(named);
    }
    expect(new Set(await Promise.all(RECIPE_NAMES.map(digestOf))).size).toBe(RECIPE_NAMES.length);
  });

  it('gives another digest to every change', async () => {
    const base = 'refiner-rl-balanced';
    const changes = [
      { citation_weight: 0.4 },
      { mix: 'additive' },
      { non_stop_penalty: { enabled: false, value: -1 } },
    ];
    const digests = await Promise.all([digestOf(base), ...changes.map((change) => digestOf({ base, ...change }))]);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('makes negatives require a positive where a whole recipe does not say it, and where a base is named, as the base', async () => {
    const { negatives_require_positive: _said, ...unsaid } = RECIPES['refiner-rl-balanced'];
    expect(await resolveRecipe(unsaid)).toMatchObject({ value: { recipe: { negatives_require_positive: true } } });
    expect(await resolveRecipe({ base: 'refiner-rl-balanced' })).toMatchObject({
      value: { recipe: { negatives_require_positive: false } },
    });
  });

  it('keeps the name of a named recipe only', async () => {
    expect(await resolveRecipe('refiner-rl-balanced')).toMatchObject({
      value: { name: 'refiner-rl-balanced', reward_range: [0, 10] },
    });
    expect(await resolveRecipe({ base: 'refiner-rl-balanced' })).toMatchObject({ value: { name: null } });
  });

  it('names every offending field below the given path', async () => {
    const result = await resolveRecipe(
      {
        base: 'refiner-rl-balanced',
        citation_weight: Number.NaN,
        mode: 'x',
        non_stop_penalty: { enabled: 1, extra: 2 },
      },
      ['recipes', 3],
    );
    expect(result.ok ? [] : result.error.map(({ path }) => path)).toEqual([
      ['recipes', 3, 'mode'],
      ['recipes', 3, 'citation_weight'],
      ['recipes', 3, 'non_stop_penalty', 'enabled'],
      ['recipes', 3, 'non_stop_penalty', 'value'],
      ['recipes', 3, 'non_stop_penalty', 'extra'],
    ]);
  });

  it.each([
    [{ base: 'carr', grammar: 'bracket' }, 'unknown field of a carr recipe; recipes of refiner have it'],
    [
      { base: 'longtrace-rl', citations: 'required' },
      'unknown field of a long-trace recipe; recipes of refiner have it',
    ],
    [{ base: 'refiner-rl-balanced', citation_wieght: 1 }, 'unknown field; did you mean citation_weight?'],
    [{ base: 'refiner-rl-balanced', colour: 1 }, 'unknown field'],
  ])('says of %j: %s', async (recipe, message) => {
    const resolved = await resolveRecipe(recipe);
    expect(resolved).toEqual({ ok: false, error: [{ path: ['recipe', Object.keys(recipe)[1]], message }] });
  });

  it('refuses a base or a family that is none', async () => {
    for (const input of [
      '',
      'toString',
      { base: 7 },
      { base: 'valueOf' },
      { base: undefined },
      {},
      { family: 'other' },
    ]) {
      expect((await resolveRecipe(input)).ok, JSON.stringify(input)).toBe(false);
    }
  });
});
