/** The threshold that labelled rows choose: fitted on half of the questions, tried on the others. */
import { describe, expect, test } from 'vitest';
import { type ScoredRow, thresholdFigures } from '../../../src/labels/threshold-figures.ts';

function row(cluster: number, level: number, score: number | null, verdict = 0): ScoredRow {
  return { kind: 'claim', set: 'made', edits: [], pair: null, adversarial: false, cluster, level, score, verdict };
}

/** Rows of questions with an even and an odd number alike. */
const twice = (rows: readonly (readonly [level: number, score: number])[]): ScoredRow[] =>
  rows.flatMap(([level, score], n) => [row(2 * n, level, score), row(2 * n + 1, level, score)]);

describe('the chosen threshold', () => {
  test('parts the labels, in the middle of what parts them as well', () => {
    const figures = thresholdFigures(
      twice([
        [2, 0.3],
        [2, 0.35],
        [0, 0.1],
        [1, 0.2],
      ]),
      0.5,
      0,
    );
    expect(figures).toMatchObject({
      used: 0.5,
      chosen: 0.251,
      fitted_on: { rows: 4, questions: 4, balanced_accuracy: 1 },
      tried_on: { rows: 4, questions: 4, balanced_accuracy: 1 },
      balanced_accuracy_used: 0.5,
    });
  });

  test('is what the even questions say, and the odd ones tell how good it is', () => {
    const rows = [row(0, 2, 0.8), row(2, 0, 0.6), row(1, 2, 0.65), row(3, 0, 0.1), row(5, 2, 0.9)];
    expect(thresholdFigures(rows, 0.5, 0)).toMatchObject({
      chosen: 0.701,
      fitted_on: { balanced_accuracy: 1 },
      tried_on: { rows: 3, balanced_accuracy: 0.75 },
      balanced_accuracy_used: 1,
    });
  });

  test('a score at the threshold is support, at the ends of the scale too', () => {
    expect(
      thresholdFigures(
        twice([
          [2, 1],
          [0, 0.999],
        ]),
        0.5,
        0,
      ),
    ).toMatchObject({ chosen: 1, tried_on: { balanced_accuracy: 1 } });
    expect(
      thresholdFigures(
        twice([
          [2, 0.29],
          [0, 0.289],
        ]),
        0.5,
        0,
      ),
    ).toMatchObject({ chosen: 0.29, tried_on: { balanced_accuracy: 1 } });
  });

  test('stands beside the calibration error of all rows: ten bins, by the rows in each', () => {
    const rows = [
      ...twice([
        [2, 0.82],
        [0, 0.88],
        [0, 0.1],
      ]),
      // The top of the scale is in the last bin.
      ...twice([[2, 1]]),
    ];
    // Of eight rows: |4 · 0.85 - 2| + |2 · 0.1 - 0| + |2 · 1 - 2|.
    expect(thresholdFigures(rows, 0.5, 0)?.calibration_error).toBeCloseTo((1.4 + 0.2) / 8);
  });

  test('rows without a probability count nowhere', () => {
    const rows = [
      ...twice([
        [2, 0.9],
        [0, 0.1],
      ]),
      row(8, 2, null),
      row(9, 0, null),
    ];
    expect(thresholdFigures(rows, 0.5, 0)).toMatchObject({ fitted_on: { rows: 2 }, tried_on: { rows: 2 } });
  });

  test('a judge that says its verdict in words is compared by them', () => {
    const rows = [row(0, 2, 0.8), row(2, 0, 0.6), row(1, 2, 0.65, 2), row(3, 0, 0.1, 2), row(5, 2, 0.9, 0)];
    expect(thresholdFigures(rows, null, 0)).toMatchObject({
      used: null,
      chosen: 0.701,
      tried_on: { rows: 3, balanced_accuracy: 0.75 },
      balanced_accuracy_used: 0.25,
    });
  });
});

test.each([
  [
    'one label only',
    twice([
      [2, 0.9],
      [2, 0.8],
    ]),
  ],
  ['no question to try', [row(0, 2, 0.9), row(2, 0, 0.1)]],
  ['no row', []],
])('%s: no threshold is chosen', (_what, rows) => {
  expect(thresholdFigures(rows, 0.5, 0)).toBeNull();
});
