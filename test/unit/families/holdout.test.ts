/** Criteria that are judged and left out of the reward: held out, or dropped at random. Prose: docs/concepts/rewards.md. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScorer, lexicalJudge } from '../../../lib/index.ts';
import { composeRefiner } from '../../../src/families/refiner/compose.ts';
import { REFINER_RECIPES, refinerComposer } from '../../../src/families/refiner/composer.ts';
import { criterionHash } from '../../../src/families/refiner/criterion-hash.ts';
import type { CriterionFact, RefinerFacts } from '../../../src/families/refiner/facts.ts';
import { dividedCriteria } from '../../../src/families/refiner/holdout.ts';
import type { RefinerRecipe } from '../../../src/families/refiner/recipe.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';

const BASE: RefinerRecipe = { ...REFINER_RECIPES['refiner-guarded'], holdout: { share: 0.5, seed: 7 } };
const { holdout: _, ...ALL_PAY } = BASE;

const DROPOUT: RefinerRecipe = { ...ALL_PAY, dropout: { share: 0.5, seed: 7 } };

const positive = (hash: number, score: 0 | 1 | 2): CriterionFact => ({
  ...{ origin: 'instance', polarity: 'positive', weight: 1, score, hash },
});
/** The hash of the row's own negative criterion. */
const FAULT = 65_000;
const OTHERS: readonly CriterionFact[] = [
  { origin: 'instance', polarity: 'negative', weight: 1, score: 0, hash: FAULT },
  { origin: 'static', polarity: 'positive', weight: 1, score: 2 },
  { origin: 'static', polarity: 'negative', weight: 1, score: 0 },
  { origin: 'static', polarity: 'negative', weight: 1, score: 0 },
];

function factsOf(own: readonly CriterionFact[]): RefinerFacts {
  return {
    ...{
      v: 1,
      family: 'refiner',
      has_answer: true,
      format: { answer_only: 1, full: 1 },
      finish_reason: 'stop',
      cites: true,
      findings: {},
    },
    rubric: { status: 'scored', observed: [...own, ...OTHERS] },
    citation: { status: 'scored', observed: [{ cited: true, support: 1, relevant: [true] }] },
  };
}

const own = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom<0 | 1 | 2>(0, 1, 2))
    .map(([hash, score]) => positive(hash, score)),
  { minLength: 1, maxLength: 8 },
);
const holdout = fc.record({
  share: fc.double({ min: 0, max: 0.9, noNaN: true }),
  seed: fc.integer({ min: 0, max: 1e9 }),
});

describe('a holdout', () => {
  it('pays as if the held-out criteria were not there, and at least one own positive criterion pays', () => {
    fc.assert(
      fc.property(own, holdout, (criteria, given) => {
        const recipe = { ...BASE, holdout: given };
        const facts = factsOf(criteria);
        const { rubric } = dividedCriteria(facts, recipe);
        if (rubric.status !== 'scored') throw new Error('scored facts');
        const paid = rubric.observed.filter(({ origin, polarity }) => origin === 'instance' && polarity === 'positive');
        expect(paid.length).toBeGreaterThanOrEqual(1);
        expect(rubric.observed.slice(paid.length)).toEqual(OTHERS);
        expect(composeRefiner(facts, recipe).reward).toBe(composeRefiner({ ...facts, rubric }, ALL_PAY).reward);
      }),
    );
  });

  it('holds nothing out of a row with one own positive criterion', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), holdout, (hash, given) => {
        const { components, reward } = composeRefiner(factsOf([positive(hash, 2)]), { ...BASE, holdout: given });
        expect([reward, components.paid_criteria, components.held_out_criteria]).toEqual([
          10,
          { status: 'not_applicable', value: null, weight: 0, contribution: 0 },
          { status: 'not_applicable', value: null, weight: 0, contribution: 0 },
        ]);
      }),
    );
  });

  it('holds out about its share of many criteria, the same in every row, and others with another seed', () => {
    const hashes = Array.from({ length: 4000 }, (_, n) => criterionHash({ description: `States the fact ${n}` }));
    const heldOut = (seed: number): Set<number> => {
      const divided = dividedCriteria(
        { rubric: { status: 'scored', observed: hashes.map((hash) => positive(hash, 0)) } },
        { ...BASE, holdout: { share: 0.3, seed } },
      );
      const paid = new Set(divided.rubric.status === 'scored' ? divided.rubric.observed.map(({ hash }) => hash) : []);
      return new Set(hashes.filter((hash) => !paid.has(hash)));
    };
    const [one, other] = [heldOut(1), heldOut(2)];
    expect(one.size / new Set(hashes).size).toBeGreaterThan(0.27);
    expect(one.size / new Set(hashes).size).toBeLessThan(0.33);
    expect([...one].filter((hash) => other.has(hash)).length / one.size).toBeLessThan(0.4);
    const [held = 0] = one;
    const [pays = 0] = hashes.filter((hash) => !one.has(hash));
    const pair = dividedCriteria(
      { rubric: { status: 'scored', observed: [positive(pays, 2), positive(held, 0)] } },
      { ...BASE, holdout: { share: 0.3, seed: 1 } },
    );
    expect(pair.means).toEqual({ paid: 1, heldOut: 0 });
  });

  it('is a gap of facts without hashes, and their reward is null, not a guess', () => {
    const facts = factsOf([positive(1, 2), positive(2, 2)].map(({ hash: _hash, ...criterion }) => criterion));
    const gaps = refinerComposer.gaps(ALL_PAY, BASE, []);
    expect(gaps.filter(({ isOpen }) => isOpen(facts)).map(({ name }) => name)).toEqual(['recipe.holdout']);
    expect(composeRefiner(facts, BASE)).toMatchObject({ reward: null, reason: 'not_measured' });
    expect(refinerComposer.gaps(BASE, ALL_PAY, []).filter(({ isOpen }) => isOpen(facts))).toEqual([]);
  });

  it('is unscored where the rubric is', () => {
    const facts = { ...factsOf([]), rubric: { status: 'unscored', reason: 'judge_timeout' } } as const;
    const { reward, components } = composeRefiner(facts, BASE);
    expect([reward, components.held_out_criteria?.value, components.held_out_criteria?.status]).toEqual([
      null,
      null,
      'unscored',
    ]);
  });

  it('has the seed 0 unless the recipe says another, and takes no share of 1', async () => {
    const given = await resolveRecipe({ base: 'refiner-guarded', holdout: { share: 0.3 } });
    expect(given).toMatchObject({ ok: true, value: { recipe: { holdout: { share: 0.3, seed: 0 } } } });
    expect(await resolveRecipe({ base: 'refiner-guarded', holdout: { share: 1 } })).toMatchObject({ ok: false });
  });
});

describe('a dropout', () => {
  const negative = (hash: number, score: 0 | 2): CriterionFact => ({ ...positive(hash, score), polarity: 'negative' });
  const paidHashes = (facts: RefinerFacts, recipe: RefinerRecipe) => {
    const { rubric } = dividedCriteria(facts, recipe);
    if (rubric.status !== 'scored') throw new Error('scored facts');
    return rubric.observed.flatMap(({ origin, hash = -1 }) => (origin === 'instance' ? [hash] : []));
  };
  const many = factsOf(Array.from({ length: 40 }, (_, n) => positive(n * 977, 2)));

  it('pays as if the dropped criteria were not there, and leaves at least one own criterion, a positive one if any', () => {
    const facts = fc.tuple(own, fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 4 }));
    fc.assert(
      fc.property(facts, holdout, fc.integer({ min: 0, max: 0xffff }), ([criteria, faults], dropout, visit) => {
        const recipe = { ...ALL_PAY, dropout };
        const all = { ...factsOf([...criteria, ...faults.map((hash) => negative(hash, 0))]), visit };
        const { rubric, means } = dividedCriteria(all, recipe);
        if (rubric.status !== 'scored') throw new Error('scored facts');
        expect(rubric.observed.some(({ hash, polarity }) => hash !== undefined && polarity === 'positive')).toBe(true);
        expect(means).toBeNull();
        expect(composeRefiner(all, recipe).reward).toBe(composeRefiner({ ...all, rubric }, ALL_PAY).reward);
        const faultsOnly = { ...factsOf(faults.map((hash) => negative(hash, 0))), visit };
        expect(paidHashes(faultsOnly, recipe).length).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  it('draws anew for each visit and seed, about its share, and the same for all samples of a group', () => {
    const drawsOf = (recipe: RefinerRecipe) =>
      Array.from({ length: 200 }, (_, visit) => paidHashes({ ...many, visit }, recipe));
    const draws = drawsOf(DROPOUT);
    expect(draws).toEqual(drawsOf(DROPOUT));
    expect(new Set(draws.map((paid) => paid.join())).size).toBe(200);
    const share = draws.reduce((sum, paid) => sum + paid.length, 0) / (200 * 41);
    expect(share).toBeGreaterThan(0.47);
    expect(share).toBeLessThan(0.53);
    // Each criterion pays in some steps, also the fault.
    expect(new Set(draws.flat()).size).toBe(41);
    expect(draws.filter((paid) => paid.includes(FAULT)).length).toBeLessThan(130);
    expect(drawsOf({ ...DROPOUT, dropout: { share: 0.5, seed: 8 } })).not.toEqual(draws);
    // Another answer of the group, with other verdicts, has the same criteria.
    const other = factsOf(Array.from({ length: 40 }, (_, n) => positive(n * 977, 0)));
    expect(paidHashes({ ...other, visit: 3 }, DROPOUT)).toEqual(draws[3]);
  });

  it('draws among the criteria that are not held out', () => {
    const both = { ...DROPOUT, holdout: { share: 0.3, seed: 1 } };
    const held = { ...ALL_PAY, holdout: { share: 0.3, seed: 1 } };
    const paid = paidHashes({ ...many, visit: 3 }, both);
    const notHeld = new Set(paidHashes(many, held));
    expect(paid.length).toBeLessThan(notHeld.size);
    expect(paid.every((hash) => notHeld.has(hash))).toBe(true);
    expect(dividedCriteria({ ...many, visit: 3 }, both).means).toEqual(dividedCriteria(many, held).means);
  });

  it('is a gap of facts that do not say which visit they are of', () => {
    const gaps = refinerComposer.gaps(ALL_PAY, DROPOUT, []);
    expect(gaps.filter(({ isOpen }) => isOpen(many)).map(({ name }) => name)).toEqual(['recipe.dropout']);
    expect(composeRefiner(many, DROPOUT)).toMatchObject({ reward: null, reason: 'not_measured' });
    expect(gaps.some(({ isOpen }) => isOpen({ ...many, visit: 0 }))).toBe(false);
    // Another share and seed are replayed from the same facts.
    const other = { ...DROPOUT, dropout: { share: 0.2, seed: 1 } };
    expect(composeRefiner({ ...many, visit: 0 }, other).reward).not.toBeNull();
  });
});

describe('a scored answer', () => {
  const row = {
    question: 'How long is the Aare, and where does it end?',
    sources: [{ id: 'S1', text: 'The Aare is 288 kilometres long. It ends near Koblenz.' }],
    response: '<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>',
    positive_rubrics: ['States that the Aare is 288 kilometres long', 'Names Koblenz', 'Says where it begins'].map(
      (description) => ({ description }),
    ),
  };
  const scorer = createScorer({ judge: lexicalJudge });

  it('asks the judge the same, keeps a hash of each own positive criterion, and shows both means', async () => {
    const all = await scorer.score(row, 'refiner-guarded');
    const held = await scorer.score(row, { base: 'refiner-guarded', holdout: { share: 0.5, seed: 3 } });
    expect(held.judgments.map(({ key }) => key)).toEqual(all.judgments.map(({ key }) => key));
    expect(held.criteria.map(({ score }) => score)).toEqual(all.criteria.map(({ score }) => score));
    const facts =
      held.facts.family === 'refiner' && held.facts.rubric.status === 'scored' ? held.facts.rubric.observed : [];
    expect(facts.map(({ hash }) => hash)).toEqual([
      ...row.positive_rubrics.map((criterion) => criterionHash(criterion)),
      ...[undefined, undefined, undefined],
    ]);
    const { paid_criteria: paid, held_out_criteria: heldOut } = held.components;
    expect([paid?.weight, heldOut?.weight]).toEqual([0, 0]);
    expect(JSON.stringify(all.facts)).not.toContain('hash');
    expect(all.components).not.toHaveProperty('paid_criteria');
  });

  it('names the criteria that a dropout leaves out, the same ones for each sample of a visit', async () => {
    const recipe = { base: 'refiner-guarded', dropout: { share: 0.5, seed: 3 } } as const;
    const other = { ...row, response: '<answer><snippet id=S1>It ends near Koblenz.</snippet></answer>' };
    const leftOut = async (visit?: string) => {
      const { members } = await scorer.group([row, other], recipe, visit === undefined ? {} : { visit });
      const [one, two] = members.map(({ criteria }) =>
        criteria.filter(({ left_out }) => left_out).map(({ key }) => key),
      );
      expect(one).toEqual(two);
      return one?.join();
    };
    const steps = await Promise.all(Array.from({ length: 12 }, (_, step) => leftOut(`${step} aare`)));
    expect(new Set(steps).size).toBeGreaterThan(2);
    expect(await leftOut('3 aare')).toBe(steps[3]);
    // Without a name of the visit the question is one.
    expect(await leftOut()).toBe(await leftOut(row.question));
    const all = await scorer.score(row, 'refiner-guarded');
    const dropped = await scorer.score(row, recipe);
    expect(dropped.judgments.map(({ key }) => key)).toEqual(all.judgments.map(({ key }) => key));
  });
});
