/** Agreement statistics against tables computed by hand, and what they say where they are not defined. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AgreementTable,
  balancedAccuracy,
  dichotomised,
  exactAgreement,
  gwetAc1,
  meanDifference,
  PairCounter,
  pairsIn,
  weightedKappa,
} from '../../../src/judgments/rater-agreement.ts';

const NOTHING: AgreementTable = [
  [0, 0, 0],
  [0, 0, 0],
  [0, 0, 0],
];

describe('a table by hand', () => {
  // Row totals 5, 6, 9; column totals 5, 7, 8; 20 pairs.
  const table = [
    [4, 1, 0],
    [1, 4, 1],
    [0, 2, 7],
  ];

  test('exact agreement: 15 of 20', () => expect(exactAgreement(table)).toBe(0.75));

  test('kappa: 5 misses by one; by chance (5*7 + 4*5*8 + 6*5 + 6*8 + 4*9*5 + 9*7) / 20', () => {
    const byChance = (5 * 7 + 4 * 5 * 8 + 6 * 5 + 6 * 8 + 4 * 9 * 5 + 9 * 7) / 20;
    expect(byChance).toBe(25.8);
    expect(weightedKappa(table)).toBeCloseTo(1 - 5 / 25.8, 12);
  });

  test('AC1: categories have shares 5/20, 6.5/20 and 8.5/20', () => {
    const byChance = (0.25 * 0.75 + 0.325 * 0.675 + 0.425 * 0.575) / 2;
    expect(gwetAc1(table)).toBeCloseTo((0.75 - byChance) / (1 - byChance), 12);
  });

  test('AC1 stays high where nearly all pairs are in one category, and kappa does not', () => {
    const skewed = [
      [0, 1],
      [1, 98],
    ];
    expect(weightedKappa(skewed)).toBeLessThan(0);
    expect(gwetAc1(skewed)).toBeCloseTo((0.98 - 0.0198) / (1 - 0.0198), 12);
    expect(gwetAc1(NOTHING)).toBeNull();
  });

  test('mean difference: two go up by one, three down by one', () => expect(meanDifference(table)).toBe(-1 / 20));

  test('balanced accuracy: 4/5, 4/6 and 7/9', () =>
    expect(balancedAccuracy(table)).toBeCloseTo((4 / 5 + 4 / 6 + 7 / 9) / 3, 12));

  test('two categories: kappa is the unweighted one', () => {
    const two = dichotomised(table, 2);
    expect(two).toEqual([
      [10, 1],
      [2, 7],
    ]);
    const observed = 17 / 20;
    const expected = (11 * 12 + 9 * 8) / 400;
    expect(weightedKappa(two)).toBeCloseTo((observed - expected) / (1 - expected), 12);
    expect(balancedAccuracy(two)).toBeCloseTo((10 / 11 + 7 / 9) / 2, 12);
  });
});

describe('kappa at its ends', () => {
  test('full agreement is 1, the other way round is -1', () => {
    expect(
      weightedKappa([
        [3, 0],
        [0, 2],
      ]),
    ).toBe(1);
    expect(
      weightedKappa([
        [0, 2],
        [2, 0],
      ]),
    ).toBe(-1);
  });

  test('independent raters are at 0', () => {
    expect(
      weightedKappa([
        [4, 2],
        [2, 1],
      ]),
    ).toBe(0);
  });

  test('a miss by two weighs four times a miss by one', () => {
    const near = [
      [9, 1, 0],
      [0, 0, 0],
      [0, 0, 10],
    ];
    const far = [
      [9, 0, 1],
      [0, 0, 0],
      [0, 0, 10],
    ];
    // Row totals 10, 0, 10 for both; column totals 9, 1, 10 for the near one and 9, 0, 11 for the far one.
    expect(weightedKappa(near)).toBeCloseTo(1 - 1 / ((10 * 1 + 4 * 10 * 10 + 4 * 10 * 9 + 10 * 1) / 20), 12);
    expect(weightedKappa(far)).toBeCloseTo(1 - 4 / ((4 * 10 * 11 + 4 * 10 * 9) / 20), 12);
  });
});

describe('degenerate tables', () => {
  test('no pair: nothing is defined', () => {
    for (const measure of [exactAgreement, weightedKappa, meanDifference, balancedAccuracy]) {
      expect(measure(NOTHING)).toBeNull();
    }
    expect(pairsIn(NOTHING)).toBe(0);
  });

  test('both always say the same one thing: all agree, and kappa is undefined', () => {
    const table = [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 7],
    ];
    expect(exactAgreement(table)).toBe(1);
    expect(weightedKappa(table)).toBeNull();
    expect(balancedAccuracy(table)).toBeNull();
  });

  test('one never varies and the other does: no better than chance', () => {
    const table = [
      [0, 0, 0],
      [0, 0, 0],
      [2, 1, 3],
    ];
    expect(weightedKappa(table)).toBe(0);
    expect(meanDifference(table)).toBe(-5 / 6);
  });

  test('each has one thing to say, and not the same: 0', () => {
    expect(
      weightedKappa([
        [0, 5],
        [0, 0],
      ]),
    ).toBe(0);
  });
});

test('counting, and a category that is none', () => {
  const counter = new PairCounter(2);
  counter.add(0, 1);
  counter.add(0, 1);
  counter.add(1, 1);
  expect(counter.table).toEqual([
    [0, 2],
    [0, 1],
  ]);
  expect(() => counter.add(0, 2)).toThrow(RangeError);
  expect(() => counter.add(0.5, 0)).toThrow(RangeError);
});

test('whatever the table: in range or null, never NaN', () => {
  const cell = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50 }));
  const row = fc.array(cell, { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(row, { minLength: 3, maxLength: 3 }), (table) => {
      const kappa = weightedKappa(table);
      const exact = exactAgreement(table);
      const bias = meanDifference(table);
      const balanced = balancedAccuracy(table);
      if (kappa !== null) {
        expect(kappa).toBeGreaterThanOrEqual(-1 - 1e-12);
        expect(kappa).toBeLessThanOrEqual(1);
      }
      for (const share of [exact, balanced]) {
        if (share !== null) expect(share >= 0 && share <= 1 + 1e-12).toBe(true);
      }
      if (bias !== null) expect(Math.abs(bias)).toBeLessThanOrEqual(2);
      expect(exact === null).toBe(pairsIn(table) === 0);
    }),
  );
});
