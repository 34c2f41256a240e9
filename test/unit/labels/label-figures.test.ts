/** Figures over labelled rows against cases computed by hand. */
import { describe, expect, test } from 'vitest';
import { clusterBootstrap } from '../../../src/labels/cluster-bootstrap.ts';
import { judgeDifference, mcnemarExact } from '../../../src/labels/judge-difference.ts';
import { type JudgedRow, labelFigures, pairFigures } from '../../../src/labels/label-figures.ts';
import { replicateFigures, wayFigures } from '../../../src/labels/way-figures.ts';
import { SeededChoices } from '../seeded-random.ts';

function row(level: number, verdict: number | null, cluster: number, pair: string | null = null): JudgedRow {
  return { kind: 'claim', set: 's', edits: [], adversarial: false, pair, cluster, level, verdict };
}

/** 10 supported claims of which 8 are found, 10 others of which 3 pass; two rows failed. */
const ROWS: readonly JudgedRow[] = [
  ...Array.from({ length: 10 }, (_, n) => row(2, n < 8 ? 2 : 1, n)),
  ...Array.from({ length: 10 }, (_, n) => row(n % 2, n < 3 ? 2 : n % 2, n)),
  row(2, null, 0),
  row(0, null, 99),
];

describe('figures', () => {
  test('equal those by hand; rows without a verdict count only as failed', () => {
    const figures = labelFigures('claim', ROWS, 0);
    expect(figures).toMatchObject({
      rows: 22,
      failed: 2,
      questions: 10,
      accuracy: 15 / 20,
      balanced_accuracy: (8 / 10 + 7 / 10) / 2,
      finds_yes: 0.8,
      passes_no: 0.3,
      failed_by_level: [1, 0, 1],
    });
    expect(figures.bias).toBeCloseTo(11 / 20 - 10 / 20, 12);
  });

  test('without a verdict every figure is null, never a number', () => {
    expect(labelFigures('criterion', [{ ...row(2, null, 0), kind: 'criterion' }], 0)).toMatchObject({
      failed: 1,
      accuracy: null,
      balanced_accuracy: null,
      interval: null,
      finds_yes: null,
      passes_no: null,
      kappa: null,
      ac1: null,
      bias: null,
    });
  });

  test('the interval depends on the seed alone, and has the balanced accuracy inside', () => {
    const [first, second] = [1, 1].map((seed) => labelFigures('claim', ROWS, seed).interval);
    expect(second).toEqual(first);
    expect(first?.[0]).toBeLessThan(0.75);
    expect(first?.[1]).toBeGreaterThan(0.75);
  });

  test('rows of one question are one observation: four copies of each row do not narrow the interval', () => {
    const copies = Array.from({ length: 4 }, () => ROWS).flat();
    expect(labelFigures('claim', copies, 3).interval).toEqual(labelFigures('claim', ROWS, 3).interval);
  });

  test('no error in 20 questions: the exact bound, not 100 %', () => {
    const perfect = Array.from({ length: 20 }, (_, n) => [row(2, 2, n), row(0, 0, n)]).flat();
    const [low, high] = labelFigures('claim', perfect, 0).interval ?? [0, 0];
    expect(high).toBe(1);
    expect(low).toBeCloseTo(0.0125 ** (1 / 20), 12);
    // A judge that always says yes: both recalls are certain to be at their ends, not the mean to be at a half.
    const [least, most] = labelFigures(
      'claim',
      perfect.map((one) => ({ ...one, verdict: 2 })),
      0,
    ).interval ?? [0, 0];
    expect([least, most]).toEqual([0.0125 ** (1 / 20) / 2, (1 + 1 - 0.0125 ** (1 / 20)) / 2]);
  });

  test('the interval covers the truth in about 95 of 100 samples of dependent rows', () => {
    // Each question is easy or hard: the judge has all its four rows right, or each by chance.
    const random = new SeededChoices(7);
    const samples = 60;
    let covered = 0;
    for (let sample = 0; sample < samples; sample++) {
      const rows = Array.from({ length: 50 }, (_, question) => {
        const easy = random.chance(50);
        return [2, 2, 0, 0].map((level) => row(level, easy || random.chance(50) ? level : 2 - level, question));
      }).flat();
      const [low, high] = labelFigures('claim', rows, sample).interval ?? [0, 0];
      if (low <= 0.75 && 0.75 <= high) covered++;
    }
    expect(covered / samples).toBeGreaterThan(0.85);
  });
});

describe('pairs', () => {
  test('both right, one right, none right, the same verdict, reversed; incomplete pairs are left out', () => {
    const rows = [
      ...[row(2, 2, 0, 'a'), row(0, 0, 0, 'a')],
      ...[row(2, 2, 1, 'b'), row(0, 2, 1, 'b')],
      ...[row(2, 0, 2, 'c'), row(0, 2, 2, 'c')],
      ...[row(2, 1, 3, 'd'), row(0, 1, 3, 'd')],
      ...[row(2, 2, 4, 'e'), row(0, null, 4, 'e')],
      row(2, 2, 5, 'f'),
    ];
    expect(pairFigures(rows, 0)).toMatchObject({
      pairs: 4,
      incomplete: 2,
      both_right: 1,
      one_right: 1,
      none_right: 2,
      same_verdict: 2,
      reversed: 1,
      both_right_share: 0.25,
    });
  });

  test('pairs of two sets with one name are two pairs', () => {
    const rows = [row(2, 2, 0, 'a'), row(0, 0, 0, 'a')];
    expect(pairFigures([...rows, ...rows.map((one) => ({ ...one, set: 't' }))], 0).pairs).toBe(2);
  });
});

describe('differences', () => {
  const both = (level: number, first: number | null, second: number | null, cluster: number) => ({
    ...row(level, null, cluster),
    first,
    second,
  });

  test('McNemar, exact, by hand', () => {
    expect(mcnemarExact(0, 0)).toBe(1);
    expect(mcnemarExact(0, 5)).toBeCloseTo(2 / 32, 12);
    expect(mcnemarExact(2, 8)).toBeCloseTo((2 * (1 + 10 + 45)) / 1024, 12);
    expect(mcnemarExact(5, 5)).toBe(1);
    expect(mcnemarExact(900, 1_100)).toBeGreaterThan(0);
  });

  test('a clear difference is shown; rows without one of the verdicts do not count', () => {
    const rows = Array.from({ length: 60 }, (_, n) => [both(2, n % 2 === 0 ? 2 : 0, 2, n), both(0, 0, 0, n)]).flat();
    const found = judgeDifference([...rows, both(0, null, 0, 1), both(0, 2, null, 1)], 0);
    expect(found).toMatchObject({
      rows: 120,
      difference: 0.25,
      shown: true,
      only_first_right: 0,
      only_second_right: 30,
    });
    expect(found.rows_needed).toBeLessThan(120);
  });

  test('a difference of chance is not shown, and more rows are asked for', () => {
    const rows = Array.from({ length: 20 }, (_, n) => [
      both(2, n === 0 ? 0 : 2, n === 1 || n === 2 ? 0 : 2, n),
      both(0, 0, 0, n),
    ]).flat();
    const found = judgeDifference(rows, 0);
    expect(found).toMatchObject({ shown: false, only_first_right: 2, only_second_right: 1 });
    expect(found.rows_needed).toBeGreaterThan(rows.length);
    expect(found.smallest_shown).toBeGreaterThan(Math.abs(found.difference ?? 1));
  });

  test('judges that never differ have no interval', () => {
    const rows = [0, 1, 2].flatMap((n) => [both(2, 2, 2, n), both(0, 0, 0, n)]);
    expect(judgeDifference(rows, 0)).toMatchObject({ difference: 0, interval: null, shown: false, rows_needed: null });
  });
});

test('another way of asking: raised, lowered and the change of accuracy', () => {
  const levels: readonly (readonly [number, number, number])[] = [
    [2, 2, 2],
    [2, 1, 2],
    [0, 0, 2],
    [0, 0, 0],
    [0, 1, 0],
  ];
  const rows = levels.map(([level, first, second], n) => ({ ...row(level, null, n), first, second }));
  expect(wayFigures('claim', rows, 0)).toMatchObject({
    rows: 5,
    same: 2 / 5,
    raised: 2 / 5,
    lowered: 1 / 5,
    mean_difference: 2 / 5,
    accuracy: { only_first_right: 1, only_second_right: 1 },
  });
});

test('replicates: the variance within rows; a row that failed once is left out', () => {
  const rows = [
    { ...row(2, 2, 0), verdicts: [2, 2, 2] },
    { ...row(0, 0, 1), verdicts: [0, 2, 1] },
    { ...row(0, 0, 2), verdicts: [0, null, 0] },
  ];
  expect(replicateFigures('claim', rows, 3, 0)).toEqual({
    judgments: 3,
    rows: 2,
    changed: 1 / 2,
    variance: 1 / 2,
    balanced_accuracies: [1, 0.5, 1],
  });
});

test('a bootstrap without two clusters, or of an undefined statistic, has no interval', () => {
  expect(clusterBootstrap([[1, 2]], () => 1, 0)).toEqual({ interval: null, standard_error: null });
  expect(clusterBootstrap([[1], [2]], () => null, 0)).toEqual({ interval: null, standard_error: null });
  expect(clusterBootstrap([[1], [1]], ([sum = 0]) => sum, 0)).toEqual({ interval: [2, 2], standard_error: 0 });
});
