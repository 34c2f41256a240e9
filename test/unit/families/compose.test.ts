import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composeRefiner, neededJudgments } from '../../../src/families/refiner/compose.ts';
import { REFINER_RECIPES, refinerRewardRange } from '../../../src/families/refiner/composer.ts';
import type { CriterionFact, RefinerFacts, StatementFact } from '../../../src/families/refiner/facts.ts';
import { type RefinerRecipe, refinerRecipeSchema } from '../../../src/families/refiner/recipe.ts';

const BASE = REFINER_RECIPES['refiner-gpt54-instance-rubric'];

const criterion: fc.Arbitrary<CriterionFact> = fc.record({
  origin: fc.constantFrom('instance', 'static'),
  polarity: fc.constantFrom('positive', 'negative'),
  weight: fc.double({ min: 0, max: 10, noNaN: true }),
  score: fc.constantFrom(0, 1, 2),
});

const statement: fc.Arbitrary<StatementFact> = fc.oneof(
  fc.record({
    cited: fc.constant(true as const),
    support: fc.constantFrom(0, 0.5, 1),
    relevant: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ cited: fc.constant(false as const), needs_citation: fc.boolean() }),
);

const facts: fc.Arbitrary<RefinerFacts> = fc
  .record({
    has_answer: fc.boolean(),
    well_formed: fc.constantFrom(0, 1),
    finish_reason: fc.constantFrom('stop', 'length', null),
    criteria: fc.array(criterion, { minLength: 1, maxLength: 8 }),
    statements: fc.array(statement, { maxLength: 8 }),
    abstains: fc.boolean(),
  })
  .map(({ has_answer, well_formed, finish_reason, criteria, statements, abstains }): RefinerFacts => {
    const format = well_formed === 1 ? 1 : 0;
    return {
      v: 1,
      family: 'refiner',
      has_answer,
      format: { answer_only: format, full: format },
      finish_reason,
      ...(abstains ? { abstains } : {}),
      rubric: { status: 'scored', observed: criteria },
      citation: { status: 'scored', observed: statements },
    };
  });

const recipe: fc.Arbitrary<RefinerRecipe> = fc
  .record({
    citation_weight: fc.double({ min: 0, max: 1, noNaN: true }),
    mix: fc.constantFrom('convex', 'additive'),
    gate_judge_score_with_format_bonus: fc.boolean(),
    instance_rubrics_only: fc.boolean(),
    static_weight: fc.double({ min: 0, max: 5, noNaN: true }),
    negatives_require_positive: fc.boolean(),
    verification_reward: fc.double({ min: 0.1, max: 100, noNaN: true }),
    non_stop_penalty: fc.record({ enabled: fc.boolean(), value: fc.double({ min: -20, max: 20, noNaN: true }) }),
    own_positives_required: fc.boolean(),
    padding_lowers_citation: fc.boolean(),
    abstentions_need_no_citation: fc.boolean(),
    citation_metric: fc.constantFrom('answer_f1', 'claim_f1', 'precision_squared'),
    uncited_ok: fc.constantFrom('exclude', 'credit'),
    citation_not_applicable: fc.constantFrom('zero', 'credit', 'drop'),
    mode: fc.constantFrom('answer_only', 'full'),
  })
  .map(({ abstentions_need_no_citation, ...fields }) =>
    refinerRecipeSchema.parse({
      ...{ ...BASE, ...fields },
      abstentions_need_no_citation: abstentions_need_no_citation && fields.own_positives_required,
    }),
  );

const SLACK = 1e-9;

describe('compose on any facts and recipe', () => {
  it('gives a reward within the published range, or null with a reason', () => {
    fc.assert(
      fc.property(facts, recipe, (observed, chosen) => {
        const score = composeRefiner(observed, chosen);
        const [least, most] = refinerRewardRange(chosen);
        if (score.reward === null) {
          expect(score.status).toBe('unscored');
          expect(score.reason).not.toBeNull();
        } else {
          expect(score.status).toBe('scored');
          expect(score.reward).toBeGreaterThanOrEqual(least - SLACK);
          expect(score.reward).toBeLessThanOrEqual(most + SLACK);
        }
      }),
    );
  });

  it('calls vacuous what an answer earns that meets no criterion', () => {
    fc.assert(
      fc.property(facts, recipe, (observed, chosen) => {
        const { rubric } = observed;
        if (rubric.status === 'unscored') return;
        const none = rubric.observed.map((one): CriterionFact => ({ ...one, score: 0 }));
        const { details } = composeRefiner(observed, chosen);
        const unmet = composeRefiner({ ...observed, rubric: { status: 'scored', observed: none } }, chosen);
        if (details.vacuous_credit === null || unmet.components.rubric.value === null) return;
        const gatedOut = chosen.gate_judge_score_with_format_bonus && observed.format[chosen.mode] === 0;
        if (!gatedOut) expect(details.vacuous_credit).toBeCloseTo(unmet.components.rubric.value, 9);
      }),
    );
  });

  it('gives contributions that add up to the reward', () => {
    fc.assert(
      fc.property(facts, recipe, (observed, chosen) => {
        const { reward, decided_by, components } = composeRefiner(observed, chosen);
        if (reward === null || decided_by !== 'components') return;
        const parts = [components.rubric, components.citation, components.format].map((part) => part.contribution);
        const sum = parts.reduce<number>((total, part) => total + (part ?? 0), 0);
        expect(sum).toBeCloseTo(reward, 9);
      }),
    );
  });

  it('never turns a failed judgment that is needed into a number, and needs none that is not', () => {
    fc.assert(
      fc.property(facts, recipe, fc.constantFrom('rubric', 'citation'), (observed, chosen, part) => {
        const failed: RefinerFacts = { ...observed, [part]: { status: 'unscored', reason: 'judge_unconfigured' } };
        const whole = composeRefiner(observed, chosen);
        const score = composeRefiner(failed, chosen);
        if (neededJudgments(observed, chosen).includes(part)) {
          expect(score.reward).toBeNull();
          expect(['judge_unconfigured', 'nothing_to_score']).toContain(score.reason);
        } else {
          expect(score.reward).toBe(whole.reward);
        }
      }),
    );
  });

  it('is bit for bit the same for the same facts', () => {
    fc.assert(
      fc.property(facts, recipe, (observed, chosen) => {
        const again: RefinerFacts = JSON.parse(JSON.stringify(observed));
        expect(JSON.stringify(composeRefiner(again, chosen))).toBe(JSON.stringify(composeRefiner(observed, chosen)));
      }),
    );
  });
});

const SCORED: RefinerFacts = {
  v: 1,
  family: 'refiner',
  has_answer: true,
  format: { answer_only: 0, full: 1 },
  finish_reason: 'stop',
  rubric: {
    status: 'scored',
    observed: [
      { origin: 'instance', polarity: 'positive', weight: 1, score: 2 },
      { origin: 'static', polarity: 'negative', weight: 1, score: 2 },
    ],
  },
  citation: { status: 'scored', observed: [{ cited: true, support: 1, relevant: [true], quote: 'unverified' }] },
};

describe('compose fields', () => {
  it('mode decides which format counts, under the gate only', () => {
    const gated: RefinerRecipe = { ...BASE, gate_judge_score_with_format_bonus: true };
    expect(composeRefiner(SCORED, { ...gated, mode: 'full' }).components.rubric.value).toBe(0.5);
    expect(composeRefiner(SCORED, { ...gated, mode: 'answer_only' }).components.rubric.value).toBe(0);
    expect(composeRefiner(SCORED, { ...BASE, mode: 'answer_only' }).components.rubric.value).toBe(0.5);
  });

  it('instance_rubrics_only equals facts that hold no static criteria', () => {
    const own =
      SCORED.rubric.status === 'scored' ? SCORED.rubric.observed.filter((one) => one.origin === 'instance') : [];
    const without: RefinerFacts = { ...SCORED, rubric: { status: 'scored', observed: own } };
    expect(composeRefiner(SCORED, { ...BASE, instance_rubrics_only: true })).toEqual(composeRefiner(without, BASE));
  });

  it('unverified_quote zeroes the support of a claim whose quote was made up', () => {
    expect(composeRefiner(SCORED, BASE).details.citation_recall).toBe(1);
    expect(composeRefiner(SCORED, { ...BASE, unverified_quote: 'zero' }).details.citation_recall).toBe(0);
  });

  it('drop with nothing else of weight leaves nothing to score', () => {
    const nothingCited: RefinerFacts = { ...SCORED, citation: { status: 'scored', observed: [] } };
    const score = composeRefiner(nothingCited, { ...BASE, citation_weight: 1, citation_not_applicable: 'drop' });
    expect(score).toMatchObject({ reward: null, status: 'unscored', reason: 'nothing_to_score' });
  });
});
