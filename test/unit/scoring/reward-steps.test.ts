/** A reward in steps: they add up to it, for every family, recipe and rule. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composeGroup, type Facts, groupVotes, RECIPES, type Recipe } from '../../../src/families/composers.ts';
import type { RefinerFacts } from '../../../src/families/refiner/facts.ts';
import { type RewardStep, rewardSteps } from '../../../src/scoring/reward-steps.ts';
import { FAMILIES_OF_FACTS } from '../runs/synthetic-rows.ts';

const TERMS = {
  length: { count: 'estimated', max_response_tokens: 100, buffer_tokens: 50, factor: 1 },
  turns: { free_turns: 0, cost_per_turn: 0.3 },
} as const;
const CUT = { non_stop_penalty: { enabled: true, value: -10 } } as const;

/** Recipes with each guard, price and penalty of the family. */
const CHANGES: Readonly<Partial<Record<Recipe['family'], readonly object[]>>> = {
  refiner: [{}, RECIPES['refiner-guarded'], CUT, { gate_judge_score_with_format_bonus: true, mix: 'additive' }],
  'dr-tulu': [{}, CUT],
  'tool-call': [{}, { tool_call_credit: { enabled: false, ceiling: 0, per_round: 0 } }],
  'long-trace': [{}, { variant: 'plain' }, { variant: 'chunks' }, { variant: 'negative_only' }],
  carr: [{}, { variant: 'plain', normalisation: 'published' }, { variant: 'negative_only' }],
};

function sumOf(steps: readonly RewardStep[]): number {
  return steps.reduce((sum, { amount }) => sum + amount, 0);
}

describe.each(FAMILIES_OF_FACTS)('$recipe.family', ({ recipe, facts }) => {
  it.each(CHANGES[recipe.family] ?? [{}])('adds up to the reward exactly: %j', (change) => {
    for (const terms of [{}, ...(recipe.family === 'tool-call' ? [] : [TERMS])]) {
      const changed: Recipe = { ...recipe, ...change, ...terms };
      let scored = 0;
      fc.assert(
        fc.property(fc.array(facts, { minLength: 1, maxLength: 3 }), fc.nat(400), (group: readonly Facts[], tokens) => {
          const counted = group.map((one) => ({ ...one, response_tokens: tokens, num_turns: 4 }) as Facts);
          const votes = groupVotes(counted.map((one) => ({ facts: one, recipe: changed })));
          for (const [n, score] of composeGroup(counted, changed).entries()) {
            const own = counted[n];
            const steps = own === undefined ? null : rewardSteps(own, changed, votes);
            expect(steps === null).toBe(score.reward === null);
            if (steps === null) continue;
            scored++;
            expect(sumOf(steps)).toBe(score.reward);
            for (const step of steps) if (step.of === 'rounding') expect(Math.abs(step.amount)).toBeLessThan(1e-12);
          }
        }),
      );
      expect(scored).toBeGreaterThan(0);
    }
  });
});

/** One own criterion that is half met, two static ones, and two claims of which one is not supported. */
const ANSWERED: RefinerFacts = {
  v: 1,
  family: 'refiner',
  has_answer: true,
  format: { answer_only: 1, full: 1 },
  finish_reason: 'stop',
  cites: true,
  findings: { id_in_prose: 1 },
  rubric: {
    status: 'scored',
    observed: [
      { origin: 'instance', polarity: 'positive', weight: 1, score: 1 },
      { origin: 'static', polarity: 'positive', weight: 1, score: 2 },
      { origin: 'static', polarity: 'negative', weight: 2, score: 0 },
    ],
  },
  citation: {
    status: 'scored',
    observed: [
      { cited: true, support: 1, relevant: [true] },
      { cited: true, support: 0, relevant: [false] },
    ],
  },
};

const steps = (change: object, facts: object = {}) => {
  const recipe: Recipe = { ...RECIPES['refiner-gpt54-instance-rubric'], ...change };
  return rewardSteps({ ...ANSWERED, ...facts }, recipe, null)?.map(({ amount, ...step }) => ({
    ...step,
    amount: Math.round(amount * 1e6) / 1e6,
  }));
};

describe('a refiner reward', () => {
  it('is what each criterion and each claim earns', () => {
    expect(steps({ citation_weight: 0.5 })).toEqual([
      { of: 'criterion', index: 0, amount: 0.625 },
      { of: 'criterion', index: 1, amount: 1.25 },
      { of: 'criterion', index: 2, amount: 2.5 },
      { of: 'claim', index: 0, amount: 2.5 },
      { of: 'claim', index: 1, amount: 0 },
    ]);
  });

  it('then what each guard, price and penalty takes away, in the order of the formula', () => {
    const guarded = {
      citation_weight: 0.5,
      own_positives_required: true,
      finding_penalty: { id_in_prose: 0.5 },
      length: { count: 'estimated', max_response_tokens: 100, buffer_tokens: 50, factor: 1 },
    };
    expect(steps(guarded, { response_tokens: 75 })?.slice(5)).toEqual([
      { of: 'rule', name: 'own_positives_required', amount: -3.125 },
      { of: 'rule', name: 'finding_penalty', amount: -0.5 },
      { of: 'rule', name: 'length', amount: -0.5 },
    ]);
    expect(steps({ citation_weight: 0.5, citations: 'forbidden' })?.slice(5)).toEqual([
      { of: 'rule', name: 'citations', amount: -6.875 },
    ]);
    expect(steps({ citation_weight: 0.5, ...CUT }, { finish_reason: 'length' })?.slice(5)).toEqual([
      { of: 'rule', name: 'non_stop_penalty', amount: -16.875 },
    ]);
  });

  it('is one rule where the rest was not judged, or there is no answer', () => {
    const lost = { status: 'unscored', reason: 'not_measured' };
    const cut = { finish_reason: 'length', rubric: lost, citation: lost };
    expect(steps(CUT, cut)).toEqual([{ of: 'rule', name: 'non_stop_penalty', amount: -10 }]);
    expect(steps({}, { has_answer: false })).toEqual([{ of: 'rule', name: 'no_answer', amount: 0 }]);
  });

  it('has no steps where it is unscored', () => {
    expect(steps({}, { rubric: { status: 'unscored', reason: 'judge_timeout' } })).toBeUndefined();
  });
});
