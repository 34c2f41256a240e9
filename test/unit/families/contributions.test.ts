/** The contributions of a reward: a sum with constant names, for every family and every rule that can replace the sum. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BUILT_IN,
  compose,
  composeGroup,
  contributions,
  createComposers,
  type Facts,
  RECIPES,
  type Recipe,
} from '../../../src/families/composers.ts';
import { settledContributions } from '../../../src/family/contributions.ts';
import { FAMILIES_OF_FACTS } from '../runs/synthetic-rows.ts';

function sumOf(numbers: Readonly<Record<string, number>>): number {
  return Object.values(numbers).reduce((sum, number) => sum + number, 0);
}

const LONG_TRACE = RECIPES['longtrace-rl'];

/** Recipes that can replace the sum, or that combine components other than by adding. */
const RECIPE_CHANGES: Readonly<Record<string, readonly object[]>> = {
  refiner: [{ non_stop_penalty: { enabled: true, value: -10 } }, { citation_weight: 0 }, { citation_weight: 1 }],
  'dr-tulu': [{ non_stop_penalty: { enabled: true, value: -10 } }, { citation_weight: 0 }],
  'tool-call': [{ tool_call_credit: { enabled: false, ceiling: 0, per_round: 0 } }],
  'long-trace': [{ variant: 'plain' }, { variant: 'chunks' }, { variant: 'negative_only' }],
};

describe.each(FAMILIES_OF_FACTS)('$recipe.family', ({ recipe, facts }) => {
  it('adds up to the reward under one set of names for each recipe', () => {
    for (const change of [{}, ...(RECIPE_CHANGES[recipe.family] ?? [])]) {
      const changed: Recipe = { ...recipe, ...change };
      const names = new Set<string>();
      let scored = 0;
      fc.assert(
        fc.property(fc.array(facts, { minLength: 1, maxLength: 3 }), (group: readonly Facts[]) => {
          for (const score of [...composeGroup(group, changed), ...group.map((one) => compose(one, changed))]) {
            const parts = contributions(score, changed);
            expect(parts === null).toBe(score.reward === null);
            if (parts === null || score.reward === null) continue;
            scored++;
            names.add(Object.keys(parts).join());
            // A last digit of the largest number; a reward of 0 is met exactly.
            const largest = Math.max(...Object.values(parts).map(Math.abs), Math.abs(score.reward));
            const allowed = score.reward === 0 ? 0 : 2 ** -51 * largest;
            expect(Math.abs(sumOf(parts) - score.reward)).toBeLessThanOrEqual(allowed);
          }
        }),
      );
      expect(scored).toBeGreaterThan(0);
      expect([...names]).toHaveLength(1);
    }
  });
});

const ANSWERED: Facts = {
  v: 1,
  family: 'long-trace',
  finish_reason: 'stop',
  well_formed: true,
  outcome: { status: 'scored', observed: 1 },
  entities: { total: 4, content: 2, reasoning: 2, both: 2 },
  chunks: 0.5,
};

describe('a reward that is no sum', () => {
  const partsUnder = (change: object) => {
    const recipe: Recipe = { ...LONG_TRACE, ...change };
    return contributions(compose(ANSWERED, recipe), recipe);
  };

  it('is one contribution where a variant combines its parts otherwise', () => {
    expect(partsUnder({ variant: 'plain' })).toEqual({ outcome: 0.7, rubric: 0.15 });
    expect(partsUnder({})).toEqual({ combined: 0.85 });
    expect(partsUnder({ variant: 'negative_only' })).toEqual({ combined: 1 });
    const chunks = partsUnder({ variant: 'chunks' });
    expect(chunks).toEqual({ outcome: 1, rubric: 0.15, outcome_and_rubric: expect.closeTo(0.35, 12) });
  });

  it('is the contribution of the rule that replaced the sum', () => {
    const recipe: Recipe = {
      ...RECIPES['dr-tulu'],
      non_stop_penalty: { enabled: true, value: -3 },
    };
    const cut: Facts = {
      v: 1,
      family: 'dr-tulu',
      compat: 'corrected',
      has_answer: true,
      finish_reason: 'length',
      format: 1,
      queries: 2,
      rubric: { status: 'scored', observed: [{ weight: 1, score: 2 }] },
      citation: { status: 'scored', observed: { statements: [], valid_id_ratio: 0 } },
    };
    expect(contributions(compose(cut, recipe), recipe)).toEqual({
      rubric: 0,
      citation: 0,
      format: 0,
      search_turns: 0,
      non_stop_penalty: -3,
    });
    const stopped = contributions(compose({ ...cut, finish_reason: 'stop' }, recipe), recipe);
    expect(stopped).toMatchObject({ rubric: expect.any(Number), non_stop_penalty: 0 });
  });

  it('is one contribution where the family names none', () => {
    const { contributions: _, ...bare } = BUILT_IN.of(LONG_TRACE);
    const composers = createComposers([bare]);
    const recipe = { ...LONG_TRACE, variant: 'plain' } as const;
    expect(composers.contributions(composers.compose(ANSWERED, recipe), recipe)).toEqual({ combined: 0.85 });
  });
});

describe('the sum', () => {
  it('is the reward itself, although the components were rounded one by one', () => {
    expect(0.1 + 0.2 - 0.3).not.toBe(0);
    expect(sumOf(settledContributions({ a: 0.1, b: 0.2, c: -0.3 }, 0))).toBe(0);
  });

  it('is never bent: contributions that do not add up are an error of the family', () => {
    expect(() => settledContributions({ a: 0.5, b: 0.25 }, 1)).toThrow(RangeError);
    expect(() => settledContributions({}, 0)).toThrow(RangeError);
  });

  it('does not exist for an unscored reward', () => {
    const lost: Facts = { ...ANSWERED, outcome: { status: 'unscored', reason: 'judge_timeout' } };
    expect(contributions(compose(lost, LONG_TRACE), LONG_TRACE)).toBeNull();
  });
});
