/** Numbers at and beyond their limits: refused where they enter, and never composed into a reward. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compose, type Facts, RECIPES, type Recipe, rewardRange } from '../../../src/families/composers.ts';
import { factsSchema } from '../../../src/families/schemas.ts';
import type { BaseScore } from '../../../src/family/score.ts';
import { MAX_CRITERION_WEIGHT } from '../../../src/limits.ts';
import { advantages, REWARD_LIMIT } from '../../../src/scoring/advantages.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { FAMILIES_OF_FACTS } from '../runs/synthetic-rows.ts';
import { refusedPaths } from '../scoring/scoring-line.ts';

const ROW = { question: 'q', tool_output: '<snippet id=S1>s</snippet>', response: '<answer>a</answer>' };
const BEYOND = [MAX_CRITERION_WEIGHT * 1.000_001, 1e308, Number.POSITIVE_INFINITY, Number.NaN];

describe('the weight of a criterion', () => {
  const pathsOf = (row: object) => {
    const read = scoreRequestSchema.safeParse({ ...ROW, recipe: 'refiner-rl-balanced', ...row });
    return read.success ? [] : read.error.issues.map(({ path }) => path.join('.'));
  };

  it.each(['positive_rubrics', 'negative_rubrics', 'rubrics'] as const)('has a limit in %s', (field) => {
    const recipe = field === 'rubrics' ? 'dr-tulu' : 'refiner-rl-balanced';
    const weighing = (weight: number) => ({ recipe, [field]: [{ description: 'd', weight }] });
    expect(pathsOf(weighing(MAX_CRITERION_WEIGHT))).toEqual([]);
    for (const weight of BEYOND.slice(0, 2)) expect(pathsOf(weighing(weight)).join()).toContain(field);
  });

  it.each(BEYOND)('%s is refused at the door of the library, with its path', async (weight) => {
    const criteria = [{ description: 'd', weight }];
    expect(await refusedPaths({ ...ROW, positive_rubrics: criteria }, 'refiner-rl-balanced')).toEqual([
      'positive_rubrics.0.weight',
    ]);
    const negative = [{ description: 'd', weight: -weight }];
    expect(await refusedPaths({ ...ROW, rubrics: negative }, 'dr-tulu')).toEqual(['rubrics.0.weight']);
  });

  it('is refused in facts too, and a sum of weights that is not finite has no share', () => {
    const facts = (weight: number): Facts => ({
      v: 1,
      family: 'refiner',
      has_answer: true,
      format: { answer_only: 1, full: 1 },
      finish_reason: null,
      rubric: {
        status: 'scored',
        observed: [
          { origin: 'instance', polarity: 'positive', weight, score: 2 },
          { origin: 'instance', polarity: 'negative', weight, score: 0 },
        ],
      },
      citation: { status: 'scored', observed: [] },
    });
    const recipe = RECIPES['refiner-rl-balanced'];
    expect(factsSchema.safeParse(facts(MAX_CRITERION_WEIGHT)).success).toBe(true);
    expect(compose(facts(MAX_CRITERION_WEIGHT), recipe).components).toMatchObject({ rubric: { value: 1 } });
    expect(factsSchema.safeParse(facts(1e308)).success).toBe(false);
    expect(() => compose(facts(1e308), recipe)).toThrow(RangeError);
    const signed: Facts = {
      v: 1,
      family: 'dr-tulu',
      compat: 'corrected',
      has_answer: true,
      finish_reason: null,
      format: 1,
      queries: 0,
      rubric: {
        status: 'scored',
        observed: [
          { weight: 1e308, score: 1 },
          { weight: 1e308, score: 0 },
        ],
      },
      citation: { status: 'scored', observed: { statements: [], valid_id_ratio: 0 } },
    };
    expect(factsSchema.safeParse(signed).success).toBe(false);
    expect(() => compose(signed, RECIPES['dr-tulu'])).toThrow(RangeError);
  });
});

/** The facts or the recipe with each number replaced, where `replace` gives another one. */
function withNumbers(value: unknown, replace: (number: number) => number): unknown {
  if (typeof value === 'number') return replace(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => withNumbers(part, replace));
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, name === 'v' ? part : withNumbers(part, replace)]),
  );
}

describe.each(FAMILIES_OF_FACTS)('$recipe.family', ({ recipe, facts }) => {
  const extreme = fc.constantFrom(0, 1, 1e-320, 1e6, 1e100, 1e308, -1e308, Number.POSITIVE_INFINITY, Number.NaN);
  const replacements = fc.array(fc.option(extreme, { freq: 2 }), { minLength: 1, maxLength: 20 });

  it('gives finite numbers or a RangeError, whatever the numbers in facts and recipe', () => {
    const isKnown = (value: number | null) => value === null || Number.isFinite(value);
    fc.assert(
      fc.property(facts, replacements, replacements, (observed, ofFacts, ofRecipe) => {
        let at = 0;
        const taking = (from: readonly (number | null)[]) => (old: number) => from[at++ % from.length] ?? old;
        let score: BaseScore;
        try {
          // Not validated, as a library caller may pass them.
          score = compose(
            withNumbers(observed, taking(ofFacts)) as Facts,
            withNumbers(recipe, taking(ofRecipe)) as Recipe,
          );
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        const parts = Object.values(score.components).flatMap(({ value, contribution }) => [value, contribution]);
        expect([score.reward, score.base, ...parts].every(isKnown)).toBe(true);
        expect(score.reward === null).toBe(score.status === 'unscored');
      }),
      { numRuns: 500 },
    );
  });

  it('stays within the range of the recipe for all facts that the schema takes', () => {
    const [least, most] = rewardRange(recipe);
    fc.assert(
      fc.property(facts, (observed) => {
        const { reward }: BaseScore = compose(factsSchema.parse(observed), recipe);
        if (reward === null) return;
        expect(reward).toBeGreaterThanOrEqual((least ?? Number.NEGATIVE_INFINITY) - 1e-9);
        expect(reward).toBeLessThanOrEqual((most ?? Number.POSITIVE_INFINITY) + 1e-9);
      }),
    );
  });
});

it('gives finite advantages under every rule that it takes', () => {
  const rule = {
    baseline: { bias: 1, verification_reward: REWARD_LIMIT },
    scale: 'population_std',
    min_valid: 1,
    singleton: 'no_signal',
    filter: null,
  } as const;
  expect(advantages([0, 1e-300], { ...rule, epsilon: 1e-320 })).toMatchObject({
    ok: false,
    error: [{ path: ['options', 'epsilon'] }],
  });
  const least = advantages([0, 1e-300], { ...rule, epsilon: 1 / REWARD_LIMIT });
  expect(least.ok && least.value.advantages.every(({ advantage }) => Number.isFinite(advantage))).toBe(true);
});
