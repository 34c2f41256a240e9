/** Mean and standard deviation of numbers, in double precision with compensated sums: the same bits in every runtime. */

/** The mean and the standard deviations of some numbers. */
export type Spread = {
  readonly mean: number;
  readonly population: number;
  /** Standard deviation over n - 1; undefined for one number. */
  readonly unbiased: number | null;
  /** The largest distance of a number from the mean. */
  readonly furthest: number;
};

/** @param sorted in ascending order, so that every order of the samples gives the same bits. */
export function spreadOf(sorted: readonly number[]): Spread | null {
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (lowest === undefined || highest === undefined) return null;
  const count = sorted.length;
  // The mean of equal numbers can differ from them by rounding, and their spread must be exactly 0.
  const mean = lowest === highest ? lowest : sum(sorted) / count;
  const furthest = Math.max(highest - mean, mean - lowest);
  if (furthest === 0) return { mean, population: 0, unbiased: count > 1 ? 0 : null, furthest };
  // In units of the largest deviation, so no square underflows.
  const squares = sum(sorted.map((value) => ((value - mean) / furthest) * ((value - mean) / furthest)));
  return {
    mean,
    population: furthest * Math.sqrt(squares / count),
    unbiased: furthest * Math.sqrt(squares / (count - 1)),
    furthest,
  };
}

/** Neumaier's compensated sum. */
export function sum(values: readonly number[]): number {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

/** The mean of the other numbers and their standard deviation over n - 1; undefined for one other. */
export type OthersSpread = Pick<Spread, 'mean' | 'unbiased'>;

/**
 * For each of at least two numbers, the mean and the spread of the others, in linear time: the moments of the smaller
 * numbers are merged with those of the larger ones (Chan, Golub and LeVeque 1979).
 */
export function othersSpreads(values: readonly number[]): OthersSpread[] {
  const order = [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const sorted = order.map((position) => values[position] ?? 0);
  const below = runningMoments(sorted);
  const above = runningMoments([...sorted].reverse());
  const spreads: OthersSpread[] = values.map(() => ({ mean: 0, unbiased: null }));
  let rank = 0;
  for (const [place, position] of order.entries()) {
    // Equal numbers have equal others: the first of them decides, or rounding would tell them apart.
    if (sorted[place] !== sorted[rank]) rank = place;
    const merged = merge(below[rank] ?? NOTHING, above[sorted.length - 1 - rank] ?? NOTHING);
    spreads[position] = {
      mean: merged.mean,
      unbiased: merged.count > 1 ? Math.sqrt(merged.squares / (merged.count - 1)) : null,
    };
  }
  return spreads;
}

type Moments = { readonly count: number; readonly mean: number; readonly squares: number };

const NOTHING: Moments = { count: 0, mean: 0, squares: 0 };

/** The moments of the first 0, 1, 2, … numbers. */
function runningMoments(values: readonly number[]): Moments[] {
  const all: Moments[] = [NOTHING];
  for (const value of values) all.push(merge(all.at(-1) ?? NOTHING, { count: 1, mean: value, squares: 0 }));
  return all;
}

function merge(one: Moments, other: Moments): Moments {
  if (one.count === 0) return other;
  if (other.count === 0) return one;
  const count = one.count + other.count;
  const distance = other.mean - one.mean;
  return {
    count,
    mean: one.mean + (distance * other.count) / count,
    squares: one.squares + other.squares + (distance * distance * one.count * other.count) / count,
  };
}
