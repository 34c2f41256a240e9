/** Kendall's tau-b against its definition, pair by pair. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { kendallTauB } from '../../../src/runs/kendall.ts';

/** Tau-b by its definition, over every pair. */
function pairByPair(first: readonly number[], second: readonly number[]): number | null {
  let agreeing = 0;
  let comparedFirst = 0;
  let comparedSecond = 0;
  for (let i = 0; i < first.length; i++) {
    for (let j = 0; j < i; j++) {
      const one = Math.sign((first[i] ?? 0) - (first[j] ?? 0));
      const other = Math.sign((second[i] ?? 0) - (second[j] ?? 0));
      agreeing += one * other;
      comparedFirst += Math.abs(one);
      comparedSecond += Math.abs(other);
    }
  }
  return comparedFirst * comparedSecond === 0 ? null : agreeing / Math.sqrt(comparedFirst * comparedSecond);
}

it('equals the definition, with ties', () => {
  const tied = fc.integer({ min: -3, max: 3 });
  const apart = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  const pairs = fc.array(fc.tuple(fc.oneof(tied, apart), fc.oneof(tied, apart)), { maxLength: 80 });
  fc.assert(
    fc.property(pairs, (drawn) => {
      const [first, second] = [drawn.map(([x]) => x), drawn.map(([, y]) => y)];
      expect(kendallTauB(first, second)).toBe(pairByPair(first, second));
    }),
  );
});

it.each([
  ['the same order', [1, 2, 3, 4], [10, 20, 30, 40], 1],
  ['the opposite order', [1, 2, 3, 4], [4, 3, 2, 1], -1],
  // C = 3, D = 2, one pair tied in the second: 1 / sqrt(6 * 5).
  ['a tie', [1, 2, 3, 4], [1, 3, 3, 2], 1 / Math.sqrt(30)],
])('%s', (_name, first, second, tau) => {
  expect(kendallTauB(first, second)).toBe(tau);
});

it('is undefined if either list has no order', () => {
  expect([kendallTauB([], []), kendallTauB([1], [2]), kendallTauB([1, 1], [1, 2])]).toEqual([null, null, null]);
});

it('is fast for groups of any size', () => {
  const many = Array.from({ length: 50_000 }, (_, n) => (n * 7_919) % 100_003);
  expect(kendallTauB(many, many)).toBe(1);
  expect(
    kendallTauB(
      many,
      many.map((value) => -value),
    ),
  ).toBe(-1);
});

it('refuses lists of different lengths and NaN', () => {
  expect(() => kendallTauB([1], [])).toThrow(RangeError);
  expect(() => kendallTauB([1, Number.NaN], [1, 2])).toThrow(RangeError);
});
