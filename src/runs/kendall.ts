/**
 * Kendall's tau-b: how far two rankings of the same items agree. It depends on the order alone, as group advantages
 * nearly do, so a recipe that only rescales rewards gives 1.
 */

/**
 * Computes Kendall's tau-b. With P pairs in all, C concordant and D discordant pairs, and Tx and Ty pairs tied in the
 * first and in the second list:
 *
 *     tau_b = (C - D) / sqrt((P - Tx) * (P - Ty))
 *
 * Source: Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945) 239-251. Long lists use the O(n
 * log n) algorithm of Knight, "A computer method for calculating Kendall's tau with ungrouped data", JASA 61 (1966)
 * 436-439: after sorting by the first list, D is the number of exchanges that sorting by the second takes. Lists of up
 * to 32 items are compared pair by pair, which gives the same counts without allocation.
 *
 * @returns a number in [-1, 1]; `null` if either list has no order: fewer than two items, or all items tied.
 * @throws RangeError for lists of different lengths or a NaN.
 */
export function kendallTauB(first: readonly number[], second: readonly number[]): number | null {
  const count = first.length;
  if (second.length !== count) throw new RangeError('kendallTauB: lists of different lengths');
  return count <= MAX_COMPARED_DIRECTLY ? tauOfPairs(first, second) : tauBySorting(first, second);
}

/** Up to this size, comparing all pairs costs less than sorting. */
const MAX_COMPARED_DIRECTLY = 32;

function tauOfPairs(first: readonly number[], second: readonly number[]): number | null {
  const count = first.length;
  let [surplus, untiedFirst, untiedSecond] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const [x, y] = [first[i] ?? Number.NaN, second[i] ?? Number.NaN];
    if (Number.isNaN(x) || Number.isNaN(y)) throw new RangeError('kendallTauB: NaN');
    for (let j = 0; j < i; j++) {
      const [a, b] = [first[j] ?? Number.NaN, second[j] ?? Number.NaN];
      if (x !== a) untiedFirst++;
      if (y !== b) untiedSecond++;
      if (x === a || y === b) continue;
      surplus += x > a === y > b ? 1 : -1;
    }
  }
  const spread = untiedFirst * untiedSecond;
  return spread === 0 ? null : surplus / Math.sqrt(spread);
}

function tauBySorting(first: readonly number[], second: readonly number[]): number | null {
  const count = first.length;
  const pairs: Pair[] = first.map((x, position) => ({ x, y: second[position] ?? Number.NaN }));
  if (pairs.some(({ x, y }) => Number.isNaN(x) || Number.isNaN(y))) throw new RangeError('kendallTauB: NaN');
  pairs.sort(byBoth);
  const tiedFirst = tiedPairs(pairs, ({ x }, other) => x === other.x);
  const tiedBoth = tiedPairs(pairs, ({ x, y }, other) => x === other.x && y === other.y);
  const ranked = pairs.map(({ y }) => y);
  const opposite = sortCounting(ranked);
  const tiedSecond = tiedPairs(ranked, (y, other) => y === other);

  const all = pairsOf(count);
  const spread = (all - tiedFirst) * (all - tiedSecond);
  if (spread === 0) return null;
  return (all - tiedFirst - tiedSecond + tiedBoth - 2 * opposite) / Math.sqrt(spread);
}

type Pair = { readonly x: number; readonly y: number };

/** Compares instead of subtracting, because differences of infinities are NaN. */
function byBoth(a: Pair, b: Pair): number {
  if (a.x !== b.x) return a.x < b.x ? -1 : 1;
  return a.y === b.y ? 0 : a.y < b.y ? -1 : 1;
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}

/** Counts the pairs of equal items in a sorted list. */
function tiedPairs<T>(sorted: readonly T[], isTied: (one: T, other: T) => boolean): number {
  let pairs = 0;
  let run = 0;
  let last: T | undefined;
  for (const one of sorted) {
    run = last !== undefined && isTied(one, last) ? run + 1 : 0;
    pairs += run;
    last = one;
  }
  return pairs;
}

/** Merge sort, bottom up, in place. Returns the number of inversions. */
function sortCounting(values: number[]): number {
  let exchanges = 0;
  const merged = new Array<number>(values.length);
  for (let width = 1; width < values.length; width *= 2) {
    for (let start = 0; start < values.length; start += 2 * width) {
      const middle = Math.min(start + width, values.length);
      const end = Math.min(start + 2 * width, values.length);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const one = left < middle ? values[left] : undefined;
        const other = right < end ? values[right] : undefined;
        if (other === undefined || (one !== undefined && one <= other)) {
          merged[at] = one ?? Number.NaN;
          left++;
        } else {
          merged[at] = other;
          right++;
          exchanges += middle - left;
        }
      }
    }
    for (const [at, value] of merged.entries()) values[at] = value;
  }
  return exchanges;
}
