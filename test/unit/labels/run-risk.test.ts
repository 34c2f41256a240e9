/** What a judge's errors do to the advantages of a run. test/slow/run-risk.test.ts checks the intervals. */
import { describe, expect, test } from 'vitest';
import type { DrTuluFacts } from '../../../src/families/dr-tulu/facts.ts';
import { drTulu } from '../../../src/families/dr-tulu/family.ts';
import type { LongTraceFacts } from '../../../src/families/long-trace/facts.ts';
import { correctedRate, type MeasuredError } from '../../../src/labels/judge-error.ts';
import { runRisk } from '../../../src/labels/run-risk.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import { randomOf } from '../seeded-random.ts';
import { checkOf, RECIPES_OF_RUN, riskOf, simulated } from './judged-run.ts';

const MANY = 1e9;
const RIGHT = { interval: [1, 1] } as const;
const RIGHT_JUDGE = {
  criterion: { ...RIGHT, table: diagonal(3) },
  claim: { ...RIGHT, table: diagonal(3) },
  needs_citation: { ...RIGHT, table: diagonal(2) },
};

function diagonal(levels: number): number[][] {
  return Array.from({ length: levels }, (_, label) =>
    Array.from({ length: levels }, (_, verdict) => (label === verdict ? MANY : 0)),
  );
}

const { rows } = simulated(randomOf(7), 6, 4);

test('a judge without errors changes no sign', async () => {
  const risk = await riskOf(rows, RIGHT_JUDGE, 20);
  expect(risk).toMatchObject({ groups: 6, rollouts: 24, last_step: 3 });
  expect(risk.changed).toEqual({ share: 0, low: 0, high: 0 });
  expect(risk.kinds.map(({ kind }) => kind)).toEqual(['positive', 'negative', 'support', 'needs_citation']);
});

test('the kind whose verdicts are wrong carries the changes', async () => {
  const wrong = {
    interval: [0.6, 0.8],
    table: [
      [60, 20, 20],
      [20, 60, 20],
      [20, 20, 60],
    ],
  } as const;
  const { flipped, changed, kinds } = await riskOf(rows, { ...RIGHT_JUDGE, claim: wrong }, 20);
  const shares = Object.fromEntries(kinds.map((one) => [one.kind, one.changed?.share]));
  expect(shares).toMatchObject({ positive: 0, negative: 0, needs_citation: 0, support: changed?.share });
  expect(changed?.share).toBeGreaterThan(0.1);
  expect(flipped?.share).toBeLessThanOrEqual(changed?.share ?? 0);
});

test('verdicts of a judge that is not shown to tell yes from no stay as they are, and have no corrected rate', async () => {
  const guess: MeasuredError = { interval: [0.5, 0.7], table: diagonal(3) };
  const { kinds } = await riskOf(rows, { ...RIGHT_JUDGE, claim: guess }, 20);
  expect(kinds.find(({ kind }) => kind === 'support')).toMatchObject({ corrected: null, changed: null });
  const none = await riskOf(rows, { claim: guess, criterion: { ...guess, interval: null } }, 20);
  expect([none.flipped, none.changed]).toEqual([null, null]);
});

test('equal seeds give equal figures', async () => {
  const error = checkOf(40, randomOf(3));
  const [one, other] = [await riskOf(rows, error, 20), await riskOf(rows, error, 20)];
  expect(one).toEqual(other);
});

describe('runs without a risk', () => {
  const of = (change: (row: LedgerRow) => LedgerRow) =>
    runRisk(
      async function* () {
        for (const group of rows) yield group.map(change);
      },
      RECIPES_OF_RUN,
      RIGHT_JUDGE,
      { draws: 20, seed: 0 },
    );

  test('several judges', async () => {
    const change = (row: LedgerRow): LedgerRow =>
      row.facts.family === 'refiner' ? { ...row, facts: { ...row.facts, panel: [] } } : row;
    expect(await of(change)).toMatchObject({ reason: 'panel' });
  });

  test('a family whose verdicts no labelled row measures', async () => {
    const facts: LongTraceFacts = {
      ...{ v: 1, family: 'long-trace', well_formed: true, finish_reason: null, entities: null, chunks: null },
      outcome: { status: 'scored', observed: 1 },
    };
    expect(await of((row) => ({ ...row, facts }))).toMatchObject({ reason: 'family' });
  });
});

describe('the corrected rate', () => {
  // Sensitivity 0.9, specificity 0.8.
  const error: MeasuredError = {
    interval: [0.834, 0.866],
    table: [
      [800, 200],
      [100, 900],
    ],
  };
  const rateOf = (yes: number) => correctedRate(error, [1_000 - yes, yes], randomOf(1));

  test('(p + specificity - 1) / (sensitivity + specificity - 1)', () => {
    const rate = rateOf(380);
    expect(rate?.share).toBeCloseTo(0.18 / 0.7, 12);
    expect(rate?.low).toBeGreaterThan(0.15);
    expect(rate?.low).toBeLessThan(rate?.share ?? 0);
    expect(rate?.high).toBeGreaterThan(rate?.share ?? 1);
    expect(rate?.high).toBeLessThan(0.37);
  });

  test('is clipped to 0 and 1', () => {
    expect([rateOf(100)?.share, rateOf(950)?.share]).toEqual([0, 1]);
  });
});

test('dr-tulu: other verdicts take what the judge said with theirs along', () => {
  const facts: DrTuluFacts = {
    ...{ v: 1, family: 'dr-tulu', compat: 'exact', has_answer: true, finish_reason: 'stop', format: 1, queries: 0 },
    rubric: {
      status: 'scored',
      observed: [
        { weight: 1, score: 2, evidence: 'verified' },
        { weight: -1, score: 0 },
      ],
    },
    citation: {
      status: 'scored',
      observed: {
        statements: [
          { cited: true, support: 0, relevance: 0 },
          { cited: true, support: 1, relevance: 0.5, quote: 'verified' },
          { cited: false, needs_citation: true },
        ],
        valid_id_ratio: 1,
      },
    },
  };
  const seen: string[] = [];
  expect(
    drTulu.facts.revised(facts, (kind, level) => {
      seen.push(`${kind} ${level}`);
      return kind === 'needs_citation' ? 1 - level : 2 - level;
    }),
  ).toEqual({
    ...facts,
    rubric: {
      status: 'scored',
      observed: [
        { weight: 1, score: 0 },
        { weight: -1, score: 2 },
      ],
    },
    citation: {
      status: 'scored',
      observed: {
        statements: [
          { cited: true, support: 1, relevance: 1 },
          { cited: true, support: 0, relevance: 0 },
          { cited: false, needs_citation: false },
        ],
        valid_id_ratio: 1,
      },
    },
  });
  expect(seen).toEqual(['positive 2', 'negative 0', 'support 0', 'support 2', 'needs_citation 1']);
  expect(drTulu.facts.revised(facts, (_kind, level) => level)).toEqual(facts);
});
