/** The recipe refiner-guarded and its fields. Prose: docs/concepts/rewards.md. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScorer, lexicalJudge } from '../../../lib/index.ts';
import { composeRefiner, neededJudgments } from '../../../src/families/refiner/compose.ts';
import { REFINER_RECIPES } from '../../../src/families/refiner/composer.ts';
import type { CriterionFact, RefinerFacts } from '../../../src/families/refiner/facts.ts';
import type { RefinerRecipe } from '../../../src/families/refiner/recipe.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { PADDING_POSITION, STATIC_V3 } from '../../../src/judgments/kinds/rubric/static-criteria.ts';

const GUARDED = REFINER_RECIPES['refiner-guarded'];
const { own_positives_required: _, padding_lowers_citation: __, ...WITHOUT } = GUARDED;

type Score = CriterionFact['score'];
const own = (score: Score, weight = 1): CriterionFact => ({ origin: 'instance', polarity: 'positive', weight, score });
const fault = (score: Score): CriterionFact => ({ origin: 'instance', polarity: 'negative', weight: 1, score });
const staticSet = (discipline: Score, padding: Score, confabulation: Score): CriterionFact[] => [
  { origin: 'static', polarity: 'positive', weight: 1, score: discipline },
  { origin: 'static', polarity: 'negative', weight: 1, score: padding },
  { origin: 'static', polarity: 'negative', weight: 1, score: confabulation },
];

function factsOf(criteria: readonly CriterionFact[], more: Partial<RefinerFacts> = {}): RefinerFacts {
  return {
    v: 1,
    family: 'refiner',
    has_answer: true,
    format: { answer_only: 1, full: 1 },
    finish_reason: 'stop',
    cites: true,
    findings: {},
    rubric: { status: 'scored', observed: [...criteria] },
    citation: { status: 'scored', observed: [{ cited: true, support: 1, relevant: [true] }] },
    ...more,
  };
}

describe('refiner-guarded', () => {
  it('pays an answer that meets its criteria like refiner-rl-balanced', () => {
    expect(composeRefiner(factsOf([own(2), fault(0), ...staticSet(2, 0, 0)]), GUARDED).reward).toBe(10);
  });

  it('pays nothing for a perfect citation of something that was not asked', () => {
    const facts = factsOf([own(0), fault(0), ...staticSet(2, 0, 0)]);
    expect(composeRefiner(facts, WITHOUT).reward).toBeGreaterThan(6);
    const { reward, details } = composeRefiner(facts, GUARDED);
    expect([reward, details.own_positives, details.vacuous_credit]).toEqual([0, 0, 0]);
  });

  it('scales citations, the static merit and the avoided faults by the own criteria, by weight', () => {
    const { components, details } = composeRefiner(
      factsOf([own(2, 3), own(0, 1), fault(0), ...staticSet(2, 0, 0)]),
      GUARDED,
    );
    expect(details.own_positives).toBe(0.75);
    expect(components.citation.value).toBe(0.75);
    // Own 3 of 4; of the other four criteria three quarters each.
    expect(components.rubric.value).toBeCloseTo((3 + 4 * 0.75) / 8, 12);
  });

  it('lowers the citation score by padding, unless the milder form leaves it out', () => {
    const facts = factsOf([own(2), ...staticSet(2, 1, 0)]);
    expect(composeRefiner(facts, GUARDED)).toMatchObject({
      components: { citation: { value: 0.5 } },
      details: { padding: 0.5 },
    });
    const mild = composeRefiner(facts, { ...GUARDED, padding_lowers_citation: false });
    expect(mild.components.citation.value).toBe(1);
    expect(mild.details).not.toHaveProperty('padding');
  });

  it('has the factor 1 for a row without own positive criteria, and says so', () => {
    for (const criteria of [[fault(0)], [own(0, 0), fault(0)]]) {
      const { components, details } = composeRefiner(factsOf([...criteria, ...staticSet(2, 0, 0)]), GUARDED);
      expect([components.citation.value, components.rubric.value, details.own_positives]).toEqual([1, 1, null]);
    }
  });

  it('needs the rubric where citations alone are paid, and is unscored without it', () => {
    const alone = { ...GUARDED, citation_weight: 1 };
    const facts = factsOf([], { rubric: { status: 'unscored', reason: 'judge_timeout' } });
    expect(neededJudgments(facts, alone)).toEqual(['rubric', 'citation']);
    expect(composeRefiner(facts, alone)).toMatchObject({ reward: null, reason: 'judge_timeout' });
    expect(composeRefiner(facts, { ...WITHOUT, citation_weight: 1 }).reward).toBe(10);
  });

  it('is unscored where padding was not judged, and refuses a recipe that never judges it', async () => {
    expect(composeRefiner(factsOf([own(2)]), GUARDED)).toMatchObject({ reward: null, reason: 'not_measured' });
    const refused = await resolveRecipe({ base: 'refiner-guarded', judge_static: false });
    expect(refused).toMatchObject({ ok: false, error: [{ path: ['recipe', 'padding_lowers_citation'] }] });
  });

  it('credits what needs no citation only as far as own criteria are met', () => {
    const facts = factsOf([own(1), ...staticSet(2, 0, 0)], { citation: { status: 'scored', observed: [] } });
    const credit = { ...GUARDED, citations: 'allowed', citation_not_applicable: 'credit' } as const;
    const { reward, components } = composeRefiner(facts, credit);
    expect(components.citation).toMatchObject({ status: 'not_applicable', contribution: 3 });
    expect(reward).toBeCloseTo(3 + (components.rubric.contribution ?? Number.NaN), 12);
  });

  it('pays an abstention that meets the own criteria like a right answer, and needs no judgment of its citations', () => {
    const abstention = (score: Score, recipe: RefinerRecipe = GUARDED) => {
      const criteria = [own(score), fault(0), ...staticSet(2, 0, 0)];
      const citation = { status: 'unscored', reason: 'not_measured' } as const;
      return composeRefiner(factsOf(criteria, { cites: false, abstains: true, citation }), recipe);
    };
    expect(neededJudgments(factsOf([], { cites: false, abstains: true }), GUARDED)).toEqual(['rubric']);
    expect([abstention(2).reward, abstention(1).reward, abstention(0).reward]).toEqual([10, 5, 0]);
    const broken = abstention(2, { ...GUARDED, abstentions_need_no_citation: false });
    expect(broken).toMatchObject({ reward: 0, decided_by: 'citation_policy' });
  });

  it('refuses to pay abstentions where no own criterion must ask for them', async () => {
    const refused = await resolveRecipe({ base: 'refiner-guarded', own_positives_required: false });
    expect(refused).toMatchObject({ ok: false, error: [{ path: ['recipe', 'abstentions_need_no_citation'] }] });
  });

  it('finds padding at its place in the static set', () => {
    expect(STATIC_V3[PADDING_POSITION]?.title).toBe('Off-Query Padding');
  });
});

describe('an answer that only abstains, under refiner-guarded', () => {
  const scorer = createScorer({ judge: lexicalJudge });
  const UNTOLD = 'States that the sources do not say this';
  const score = (text: string, criterion: string, more: Partial<RefinerRecipe> = {}) =>
    scorer.score(
      {
        question: 'How long is the Aare?',
        sources: [{ id: 'S1', text: 'The Aare ends near Koblenz, and its water is green.' }],
        response: `<answer>${text}</answer>`,
        ...(criterion === '' ? { negative_rubrics: [{ description: 'Dates the Aare to 1931' }] } : {}),
        ...(criterion === '' ? {} : { positive_rubrics: [{ description: criterion }] }),
      },
      { base: 'refiner-guarded', ...more },
    );

  it.each([
    ['in few words', 'The sources do not say.', UNTOLD, 10],
    ['in words of the question', 'The sources do not say how long the Aare is.', UNTOLD, 10],
    ['in two sentences', "I don't know. The sources do not give enough information.", UNTOLD, 10],
    ['where the row asks for a fact', 'The sources do not say.', 'States 288', 0],
    ['and states the fact', 'The sources do not say that it is 288 kilometres long.', 'States 288', 0],
    ['and states a fact in small letters', 'The sources do not say that it is green.', 'States green', 0],
    ['beside a sentence that tells something', 'The sources do not say. It ends near Koblenz.', UNTOLD, 0],
    ['without a verb', 'The sources do not.', UNTOLD, 0],
    ['in a row without own positive criteria', 'The sources do not say.', '', 0],
  ])('%s', async (_, text, criterion, reward) => {
    expect((await score(text, criterion)).reward).toBe(reward);
  });

  it('has no finding, no citation judgment, and earns nothing under a recipe that does not pay for it', async () => {
    const paid = await score('The sources do not say.', UNTOLD);
    expect(paid.judgments.map(({ kind }) => kind)).toEqual(['rubric']);
    expect(paid.finding_counts).toEqual({});
    const unpaid = await score('The sources do not say.', UNTOLD, { abstentions_need_no_citation: false });
    expect(unpaid).toMatchObject({ reward: 0, decided_by: 'citation_policy', finding_counts: { citation_missing: 1 } });
  });
});

/** All ways to choose `size` of `of` ids, as flags. */
function choices(of: number, size: number): boolean[][] {
  if (of === 0) return size === 0 ? [[]] : [];
  const without = choices(of - 1, size).map((flags) => [...flags, false]);
  return size === 0 ? without : [...without, ...choices(of - 1, size - 1).map((flags) => [...flags, true])];
}

type Metric = typeof GUARDED.citation_metric | 'answer_f1';

/** The mean citation score of a claim that cites `guessed` of `sources` ids at random, of which `right` support it. */
function expected(metric: Metric, sources: number, right: number, guessed: number, repeated = 0): number {
  const all = choices(sources, guessed);
  let sum = 0;
  for (const cited of all) {
    const relevant = cited.flatMap((isCited, id) => (isCited ? [id < right] : []));
    const facts = factsOf([own(2), ...staticSet(2, 0, 0)], {
      citation: { status: 'scored', observed: [{ cited: true, support: relevant.includes(true) ? 1 : 0, relevant }] },
      ...(repeated === 0 ? {} : { repeated_ids: repeated }),
    });
    sum += composeRefiner(facts, { ...GUARDED, citation_metric: metric }).components.citation.value ?? Number.NaN;
  }
  return sum / all.length;
}

describe('precision_squared', () => {
  const guess = fc
    .integer({ min: 2, max: 7 })
    .chain((sources) =>
      fc.tuple(fc.constant(sources), fc.integer({ min: 1, max: sources }), fc.integer({ min: 1, max: sources - 1 })),
    );

  it('never pays more, on average, for one more guessed id', () => {
    fc.assert(
      fc.property(guess, ([sources, right, guessed]) => {
        const one = expected('precision_squared', sources, right, guessed);
        const more = expected('precision_squared', sources, right, guessed + 1);
        expect(more).toBeLessThanOrEqual(one + 1e-12);
      }),
    );
  });

  it('never pays for repeating ids', () => {
    fc.assert(
      fc.property(guess, fc.integer({ min: 0, max: 5 }), ([sources, right, guessed], repeated) => {
        const one = expected('precision_squared', sources, right, guessed, repeated);
        expect(expected('precision_squared', sources, right, guessed, repeated + 1)).toBeLessThan(one);
      }),
    );
  });

  it('pays 1/3 for one of three ids and 1/9 for all three; F1 pays 1/3 and 1/2', () => {
    expect(expected('precision_squared', 3, 1, 1)).toBeCloseTo(1 / 3, 12);
    expect(expected('precision_squared', 3, 1, 3)).toBeCloseTo(1 / 9, 12);
    expect(expected('answer_f1', 3, 1, 1)).toBeCloseTo(1 / 3, 12);
    expect(expected('answer_f1', 3, 1, 3)).toBeCloseTo(1 / 2, 12);
  });
});
