/**
 * Kendall's tau-b: how far two numberings of the same things put them in the same order. It reads the order alone, as
 * group advantages nearly do, so that a recipe that only rescales rewards comes out as no change.
 */

/**
 * With P pairs in all, C of them in the same order in both, D in opposite order, and Tx and Ty tied in one or the other:
 *
 *     tau_b = (C - D) / sqrt((P - Tx) * (P - Ty))
 *
 * Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945) 239-251. Computed as in Knight, "A computer
 * method for calculating Kendall's tau with ungrouped data", JASA 61 (1966) 436-439: sorted by the first, D is the number
 * of exchanges that sorting by the second takes. O(n log n); groups of a usual size are compared pair by pair, which
 * counts the same and allocates nothing.
 *
 * @returns [-1, 1]; `null` where one side has no order: fewer than two things, or all of them tied.
 * @throws RangeError for lists of different lengths or a number that is NaN.
 */
export function kendallTauB(first: readonly number[], second: readonly number[]): number | null {
  const count = first.length;
  if (second.length !== count) throw new RangeError('kendallTauB: lists of different lengths');
  return count <= MAX_COMPARED_DIRECTLY ? tauOfPairs(first, second) : tauBySorting(first, second);
}

/** Below this the square of the size is less work than sorting. */
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

/** Comparisons instead of differences: infinities have none. */
function byBoth(a: Pair, b: Pair): number {
  if (a.x !== b.x) return a.x < b.x ? -1 : 1;
  return a.y === b.y ? 0 : a.y < b.y ? -1 : 1;
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}

/** Pairs of equal neighbours' runs in a sorted list. */
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

/** Sorts in place, bottom up, and returns how many pairs stood in the wrong order. */
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
