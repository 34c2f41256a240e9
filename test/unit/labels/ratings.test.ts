/** What two raters said, how far they agree, and what is exported. */
import { describe, expect, test } from 'vitest';
import {
  agreementOf,
  disagreements,
  exportedLines,
  finalLevel,
  levelOfRater,
  mergedRatings,
  noRatings,
  orderFor,
  type Ratings,
  rated,
  ratingsText,
  readRatings,
  resolvedAs,
} from '../../../dashboard/src/label/ratings.ts';
import { CLAIM_FIELDS, CRITERION_FIELDS, labelled } from './label-rows.ts';

const ROWS = [labelled(CLAIM_FIELDS), labelled(CRITERION_FIELDS), labelled({ ...CLAIM_FIELDS, id: 'r-4' })];

/** Ada: 2, 0, 1; Ben: 2, 1, not the third. */
function both(): Ratings {
  const given: readonly (readonly [string, number, number])[] = [
    ['Ada', 0, 2],
    ['Ada', 1, 0],
    ['Ada', 2, 1],
    ['Ben', 0, 2],
    ['Ben', 1, 1],
  ];
  return given.reduce((all, [rater, row, level]) => rated(all, rater, row, level), noRatings());
}

const of = (rater: string) => (row: number) => levelOfRater(both(), rater, row);

describe('agreement', () => {
  test('by kind, over the rows that both labelled', () => {
    expect(agreementOf(ROWS, of('Ada'), of('Ben'))).toMatchObject([
      { kind: 'criterion', rows: 1, same: 0 },
      { kind: 'claim', rows: 1, same: 1, kappa: null },
    ]);
    expect(agreementOf(ROWS, of('Ada'), of('Cleo'))).toEqual([]);
    expect(disagreements(ROWS.length, of('Ada'), of('Ben'))).toEqual([1]);
  });

  test('a disagreement has no final label until it is resolved; one rater is enough for a row', () => {
    const ratings = both();
    expect([0, 1, 2].map((row) => finalLevel(ratings, row))).toEqual([2, null, 1]);
    expect(finalLevel(resolvedAs(ratings, 1, 0), 1)).toBe(0);
    expect(finalLevel(noRatings(), 0)).toBeNull();
  });

  test('the export keeps the final label and both first ones', () => {
    const lines = exportedLines(ROWS, resolvedAs(both(), 1, 2)).map((line): unknown => JSON.parse(line));
    expect(lines).toHaveLength(3);
    expect(lines[1]).toEqual({
      ...CRITERION_FIELDS,
      label: 2,
      ratings: [
        { rater: 'Ada', label: 0 },
        { rater: 'Ben', label: 1 },
      ],
    });
    expect(exportedLines(ROWS, both())).toHaveLength(2);
  });
});

test('progress survives the browser storage, and other text gives none', () => {
  const ratings = rated(resolvedAs(both(), 1, 0), '__proto__', 0, 1);
  expect(readRatings(ratingsText(ratings))).toEqual(ratings);
  for (const text of ['', '{', '[]', '{"raters":[["a",[[0,9]]]],"resolved":[]}']) {
    expect(readRatings(text)).toEqual(noRatings());
  }
});

test('ratings of a file and of the browser are joined; the browser wins', () => {
  const joined = mergedRatings(rated(both(), 'Cleo', 0, 1), rated(noRatings(), 'Ada', 0, 0));
  expect(joined.byRater.get('Ada')).toEqual(
    new Map([
      [0, 0],
      [1, 0],
      [2, 1],
    ]),
  );
  expect([...joined.byRater.keys()]).toEqual(['Ada', 'Ben', 'Cleo']);
});

test('each rater has an order of their own, the same each time, with every row once', () => {
  const order = orderFor('Ada', 'digest', 50);
  expect(orderFor('Ada', 'digest', 50)).toEqual(order);
  expect(orderFor('Ben', 'digest', 50)).not.toEqual(order);
  expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, row) => row));
});
