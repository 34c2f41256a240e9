/** Credit: the reward as shares of claims or turns. That the shares add up is also checked by scoring-line.ts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryHost } from '../../../hosts/memory/memory-host.ts';
import { createScorer, lexicalJudge, type Rollout } from '../../../lib/index.ts';
import { compose, type Facts, type Recipe, type Score } from '../../../src/families/composers.ts';
import { drTuluClaimShares } from '../../../src/families/dr-tulu/claim-shares.ts';
import { refinerClaimShares } from '../../../src/families/refiner/claim-shares.ts';
import { composeRefiner } from '../../../src/families/refiner/compose.ts';
import { REFINER_RECIPES } from '../../../src/families/refiner/composer.ts';
import type { RefinerFacts, StatementFact } from '../../../src/families/refiner/facts.ts';
import { type RefinerRecipe, refinerRecipeSchema } from '../../../src/families/refiner/recipe.ts';
import type { CreditedPlace } from '../../../src/family/credit.ts';
import { creditOf, settledShares } from '../../../src/scoring/credit.ts';
import { steady } from '../../cases/cases.ts';
import { goldenRows } from '../golden.ts';
import { FAMILIES_OF_FACTS } from '../runs/synthetic-rows.ts';
import { replyOf, scoreAlone } from './scoring-line.ts';

const sumOf = (shares: readonly number[]): number => shares.reduce((sum, share) => sum + share, 0);

function sharesOf(facts: Facts, recipe: Recipe, score: Score): readonly number[] {
  if (facts.family === 'refiner' && recipe.family === 'refiner' && score.family === 'refiner') {
    return refinerClaimShares(facts, recipe, score);
  }
  if (facts.family === 'dr-tulu' && recipe.family === 'dr-tulu' && score.family === 'dr-tulu') {
    return drTuluClaimShares(facts, recipe, score);
  }
  return [];
}

/** The shares of a reward by claims, from its facts. */
function dividedFacts(facts: Facts, recipe: Recipe) {
  const score = compose(facts, recipe);
  const shares = sharesOf(facts, recipe, score);
  const places = shares.map((_, index): CreditedPlace => ({ of: 'claim', index, spans: [], cites: [] }));
  const credit = creditOf('claims', { response: '' }, { reward: score.reward, shares, places });
  return { score, shares, entries: credit?.entries ?? null };
}

function refinerFactsOf(statements: readonly StatementFact[], more: Partial<RefinerFacts> = {}): RefinerFacts {
  return {
    v: 1,
    family: 'refiner',
    has_answer: true,
    format: { answer_only: 1, full: 1 },
    finish_reason: 'stop',
    cites: true,
    findings: {},
    rubric: {
      status: 'scored',
      observed: [
        { origin: 'instance', polarity: 'positive', weight: 1, score: 1 },
        { origin: 'static', polarity: 'positive', weight: 1, score: 2 },
        { origin: 'static', polarity: 'negative', weight: 1, score: 1 },
        { origin: 'static', polarity: 'negative', weight: 1, score: 0 },
      ],
    },
    citation: { status: 'scored', observed: [...statements] },
    ...more,
  };
}

const GOOD: StatementFact = { cited: true, support: 1, relevant: [true] };
const HALF: StatementFact = { cited: true, support: 0.5, relevant: [true, false] };
const BAD: StatementFact = { cited: true, support: 0, relevant: [false] };
const UNCITED: StatementFact = { cited: false, needs_citation: true };
const ONLY_CITATION = {
  ...REFINER_RECIPES['refiner-rl-balanced'],
  citation_weight: 1,
  verification_reward: 1,
} as const;

describe('the shares of a reward', () => {
  const LENGTH = { count: 'estimated', max_response_tokens: 100, buffer_tokens: 50, factor: 3.3 };
  const PENALTY = { non_stop_penalty: { enabled: true, value: -0.1 } };

  it.each(FAMILIES_OF_FACTS)('add up to it exactly: $recipe.family', ({ recipe, facts }) => {
    const changes: readonly object[] = [{}, { length: LENGTH }, 'non_stop_penalty' in recipe ? PENALTY : {}];
    const counts: fc.Arbitrary<object> = fc.record({ estimated_tokens: fc.nat(120) });
    fc.assert(
      fc.property(facts, fc.constantFrom(...changes), counts, (observed: Facts, change, counted) => {
        const { score, entries } = dividedFacts({ ...observed, ...counted }, { ...recipe, ...change });
        expect(entries === null).toBe(score.reward === null);
        if (entries !== null) expect(sumOf(entries.map(({ share }) => share))).toBe(score.reward);
      }),
      { numRuns: 300 },
    );
  });

  it.each(Object.entries(REFINER_RECIPES))('add up to it under every metric and rule: %s', (_name, recipe) => {
    const refiner = FAMILIES_OF_FACTS.find(({ recipe: { family } }) => family === 'refiner');
    if (refiner === undefined) throw new Error('no refiner facts');
    fc.assert(
      fc.property(
        refiner.facts,
        fc.record({
          citation_metric: fc.constantFrom('answer_f1', 'claim_f1', 'precision_squared'),
          uncited_ok: fc.constantFrom('exclude', 'credit'),
          mix: fc.constantFrom('convex', 'additive'),
        }),
        (facts, change) => {
          const { score, entries } = dividedFacts(facts, { ...recipe, ...change } as RefinerRecipe);
          if (entries !== null) expect(sumOf(entries.map(({ share }) => share))).toBe(score.reward);
        },
      ),
    );
  });

  it('add up to it on every golden row of the refiner family', () => {
    let paid = 0;
    for (const { input } of goldenRows('refiner.jsonl')) {
      const { facts: given, recipe: change } = input as {
        facts: {
          has_answer: boolean;
          format: 0 | 1;
          finish_reason: string;
          criteria?: [];
          statements?: StatementFact[];
        };
        recipe: object;
      };
      const { has_answer, finish_reason, format, criteria = [], statements = [] } = given;
      const recipe = refinerRecipeSchema.parse({ ...REFINER_RECIPES['refiner-gpt54-instance-rubric'], ...change });
      const facts = refinerFactsOf(statements, {
        ...{ has_answer, finish_reason, format: { answer_only: format, full: format } },
        rubric: { status: 'scored', observed: criteria },
      });
      const { score, shares, entries } = dividedFacts(facts, recipe);
      expect(entries === null ? null : sumOf(entries.map(({ share }) => share))).toBe(score.reward);
      if (shares.some((share) => share > 0)) paid++;
    }
    expect(paid).toBeGreaterThan(5);
  });

  it('are those of Euler for the F1 of the answer', () => {
    const statements = [GOOD, HALF, BAD, UNCITED];
    // R = 1.5 / 4, P = 2 / 4.
    const [R, P] = [0.375, 0.5];
    const [byR, byP] = [(2 * P * P) / (R + P) ** 2, (2 * R * R) / (R + P) ** 2];
    const { score, shares } = dividedFacts(refinerFactsOf(statements), ONLY_CITATION);
    expect(score.reward).toBeCloseTo((2 * R * P) / (R + P), 14);
    expect(shares).toEqual([byR / 4 + byP / 4, byR / 8 + byP / 4, 0, 0].map((share) => expect.closeTo(share, 14)));
  });

  it('are the F1 of each claim under claim_f1, and those of Euler for recall * precision^2 under precision_squared', () => {
    const facts = refinerFactsOf([GOOD, HALF]);
    expect(dividedFacts(facts, { ...ONLY_CITATION, citation_metric: 'claim_f1' }).shares).toEqual([0.5, 0.25]);
    // R = 3 / 4, P = 2 / 3: (r P^2 + 2 p R P) / 3 with p = 1 / 3 each.
    const { shares, score } = dividedFacts(facts, { ...ONLY_CITATION, citation_metric: 'precision_squared' });
    expect(shares[0]).toBeCloseTo((0.5 * (4 / 9) + 2 * (1 / 3) * 0.75 * (2 / 3)) / 3, 14);
    expect(sumOf(shares)).toBeCloseTo(score.reward ?? Number.NaN, 14);
  });

  it('scale with the factors of refiner-guarded, and leave rubric and penalties to the answer', () => {
    const facts = refinerFactsOf([GOOD, BAD]);
    const recipe = REFINER_RECIPES['refiner-guarded'];
    const { citation, rubric } = composeRefiner(facts, recipe).components;
    const { shares, entries } = dividedFacts(facts, recipe);
    expect(citation.contribution).toBeGreaterThan(0);
    expect(sumOf(shares)).toBeCloseTo(citation.contribution ?? 0, 12);
    expect(entries?.at(-1)).toEqual({ of: 'answer', share: expect.closeTo(rubric.contribution ?? 0, 12) });
  });

  it.each([
    ['a penalty replaces the sum', { finish_reason: 'length' }, { non_stop_penalty: { enabled: true, value: -2 } }],
    ['there is no answer', { has_answer: false }, {}],
    ['R + P is 0', { citation: { status: 'scored', observed: [BAD] } }, {}],
  ] as const)('are all the answer where %s', (_name, more, change) => {
    const { score, entries } = dividedFacts(refinerFactsOf([GOOD], more), { ...ONLY_CITATION, ...change });
    expect(entries?.filter(({ share }) => share !== 0)).toEqual(
      score.reward === 0 ? [] : [{ of: 'answer', share: score.reward }],
    );
  });

  it('are none where the reward is unscored', () => {
    const lost = refinerFactsOf([], { citation: { status: 'unscored', reason: 'judge_timeout' } });
    expect(dividedFacts(lost, ONLY_CITATION).entries).toBeNull();
  });
});

describe('settled shares', () => {
  const number = fc.oneof(
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1e-300, max: 1e-300, noNaN: true }),
  );

  it('give the reward to the last bit, and are the given ones to within its last digit', () => {
    fc.assert(
      fc.property(fc.array(number, { maxLength: 40 }), number, (shares, given) => {
        const reward = given + 0;
        const settled = settledShares(shares, reward);
        expect(sumOf([...settled.shares, ...settled.rest])).toBe(reward);
        expect(settled.rest.length).toBeLessThanOrEqual(2);
        const largest = shares.reduce((sum, one) => sum + Math.abs(one), Math.abs(reward));
        settled.shares.forEach((share, n) => {
          expect(Math.abs(share - (shares[n] ?? 0))).toBeLessThanOrEqual(largest * 2 ** -50 + 2 ** -950);
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('need a second number only where shares exceed the reward', () => {
    // No two doubles near 1 have the sum 0.1.
    expect(1 + (0.1 - 1)).not.toBe(0.1);
    const { shares, rest } = settledShares([1], 0.1);
    expect([shares, rest.length]).toEqual([[1], 2]);
    expect(Math.abs(rest[1] ?? 1)).toBeLessThan(2 ** -52);
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }),
        fc.double({ min: 2 ** -900, max: 9, noNaN: true }),
        (shares, more) => {
          expect(settledShares(shares, sumOf(shares) + more).rest).toHaveLength(1);
        },
      ),
    );
  });
});

const ROW = {
  question: 'How long is the Aare, and where does it end?',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
};
const SEARCH = (id: string, query: string) => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ id, type: 'function', function: { name: 'search', arguments: JSON.stringify({ query }) } }],
});
const RESULT = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
const ANSWER =
  '<answer>Zürich 🏔 is not on it. <snippet id=S1>The Aare is 288 km long.</snippet> ' +
  '<snippet id=S3>The Aare flows into the Rhine near Koblenz.</snippet></answer>';
const MESSAGES = [
  { role: 'user', content: ROW.question },
  SEARCH('c1', 'Aare length'),
  RESULT('c1', '<snippet id=S1>The Aare is 288 km long.</snippet>'),
  SEARCH('c2', 'Aare weather'),
  RESULT('c2', '<snippet id=S2>It rained on Monday.</snippet>'),
  SEARCH('c3', 'Aare mouth'),
  RESULT('c3', '<snippet id=S3>The Aare flows into the Rhine near Koblenz.</snippet>'),
  { role: 'assistant', content: ANSWER },
];
const RECIPE = { base: 'refiner-rl-balanced', citation_weight: 0.5 } as const;
const scorer = createScorer({ judge: lexicalJudge });

describe('credit by turns', () => {
  it('goes to the turns whose results the claims cite; a search that led to nothing gets 0', async () => {
    const { reward, credit, components } = await scorer.score({ ...ROW, messages: MESSAGES }, RECIPE, {
      credit: 'turns',
    });
    const entries = credit?.entries ?? [];
    const half = (components.citation.contribution ?? 0) / 2;
    expect(half).toBeGreaterThan(0);
    expect(entries).toEqual([
      { of: 'turn', turn: 0, message: 1, share: expect.closeTo(half, 12) },
      { of: 'turn', turn: 1, message: 3, share: 0 },
      { of: 'turn', turn: 2, message: 5, share: expect.closeTo(half, 12) },
      { of: 'answer', turn: 3, message: 7, share: expect.closeTo(components.rubric.contribution ?? 0, 12) },
    ]);
    expect(sumOf(entries.map(({ share }) => share))).toBe(reward);
  });

  it("is the answer's where the sources come with the request", async () => {
    const sources = [{ id: 'S1', text: 'The Aare is 288 km long.' }];
    const { reward, credit } = await scorer.score({ ...ROW, messages: MESSAGES, sources }, RECIPE, { credit: 'turns' });
    expect(credit?.entries.filter(({ share }) => share !== 0)).toEqual([
      { of: 'answer', turn: 3, message: 7, share: reward },
    ]);
  });

  it('goes to the call that returned a page, or whose id is cited', async () => {
    const cited = (ids: 'call' | 'url', id: string): Rollout => ({
      ...ROW,
      trajectory: { source_ids: ids },
      messages: [
        ...MESSAGES.slice(0, 4),
        RESULT('c2', '[{"url": "https://aare.example/", "text": "The Aare is 288 km long."}]'),
        { role: 'assistant', content: `<answer><snippet id="${id}">The Aare is 288 km long.</snippet></answer>` },
      ],
    });
    const paidTurns = async (rollout: Rollout) => {
      const { credit } = await scorer.score(rollout, { ...RECIPE, citation_weight: 1 }, { credit: 'turns' });
      return credit?.entries.flatMap((entry) => (entry.of === 'turn' && entry.share > 0 ? [entry.turn] : []));
    };
    expect(await paidTurns(cited('call', 'c2'))).toEqual([1]);
    expect(await paidTurns(cited('url', 'https://aare.example/'))).toEqual([1]);
  });

  it('refuses a response that is one text', async () => {
    const row = { ...ROW, response: ANSWER, sources: [] };
    await expect(scorer.score(row, RECIPE, { credit: 'turns' })).rejects.toThrow(/credit: turns needs messages/);
  });
});

describe('credit by claims', () => {
  it('has the spans of the claims, and nothing else of the reply changes', async () => {
    const { credit, ...others } = await scorer.score({ ...ROW, messages: MESSAGES }, RECIPE, { credit: 'claims' });
    expect(steady(others)).toEqual(steady(await scorer.score({ ...ROW, messages: MESSAGES }, RECIPE)));
    const texts = credit?.entries.map((entry) =>
      'spans' in entry ? entry.spans.map(({ start, end }) => ANSWER.slice(start, end)) : entry.of,
    );
    expect(texts).toEqual([['The Aare is 288 km long.'], ['The Aare flows into the Rhine near Koblenz.'], 'answer']);
  });

  it('finds the claims of a dr-tulu transcript that came as messages', async () => {
    const { question } = ROW;
    const row: Rollout = {
      question,
      rubrics: [{ description: 'States the length', weight: 1 }],
      messages: [
        ...MESSAGES.slice(0, 3),
        { role: 'assistant', content: 'Ü <answer>A river. <cite id="S1">The Aare is 288 km long.</cite></answer>' },
      ],
    };
    for (const compat of ['corrected', 'exact'] as const) {
      const recipe = { base: 'dr-tulu', compat } as const;
      const { credit, reward, components } = await scorer.score(row, recipe, { credit: 'claims' });
      const entries = credit?.entries ?? [];
      expect(sumOf(entries.map(({ share }) => share))).toBe(reward);
      const claims = entries.filter(({ of }) => of !== 'answer');
      expect(sumOf(claims.map(({ share }) => share))).toBeLessThan(components.citation.contribution ?? 0);
      const claim = claims.find(({ of }) => of === 'claim');
      expect(claim?.share).toBeGreaterThan(0);
      const spans = compat === 'exact' ? [] : [{ start: 33, end: 57 }];
      expect(claim).toMatchObject({ index: 0, spans });
    }
  });

  it('is the answer alone for a family whose verdicts belong to no claim', async () => {
    const scored = await scoreAlone(
      { response: 'It is \\boxed{42}.', reference: '42', num_turns: 4, response_tokens: 9 },
      'grpo-tcr',
      {
        plan: { credit: 'claims' },
      },
    );
    expect(scored.credit).toEqual({
      by: 'claims',
      entries: [{ of: 'answer', share: replyOf('tool-call', scored).reward }],
    });
  });

  it("has the spans of a vendor's answer in its own text, in the unit of the request", async () => {
    const text = 'Zürich 🏔. The bridge opened in 1937.';
    const claim = 'The bridge opened in 1937.';
    const citation = { type: 'char_location', cited_text: 'It opened in 1937.', document_index: 0 };
    const reply = await createMemoryHost().answer(
      '/v1/score',
      {
        question: 'When did the bridge open?',
        positive_rubrics: ['States 1937'],
        recipe: 'refiner-rl-balanced',
        sources: [{ id: 'bridge', text: 'It opened in 1937.' }],
        cited_answer: [
          { type: 'text', text: text.slice(0, -claim.length) },
          { type: 'text', text: claim, citations: [{ ...citation, start_char_index: 0, end_char_index: 18 }] },
        ],
        ...{ credit: 'claims', offsets: 'codepoints', detail: 'reward' },
      },
      {},
    );
    const [entry] = reply.ok ? (reply.value.credit?.entries ?? []) : [];
    const points = [...text];
    const at = points.length - claim.length;
    expect(entry).toMatchObject({ of: 'claim', spans: [{ start: at, end: points.length }] });
    expect(entry?.share).toBeGreaterThan(0);
  });

  it('refuses another word', async () => {
    const how: object = { credit: 'tokens' };
    await expect(scorer.score({ ...ROW, response: ANSWER, sources: [] }, RECIPE, how)).rejects.toThrow(
      /credit: expected one of claims, turns/,
    );
  });
});
