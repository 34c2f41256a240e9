/**
 * Rank correlation of two numbers of the rollouts inside their groups: whether the advantages of a step point where a
 * second number, such as an outcome, points. Sums of groups can be merged.
 */

/** Groups in which both numbers vary, below which a correlation says nothing. */
const MIN_GROUPS = 16;

/** Sums over groups: products of the differences from the mean rank, and the groups in which both numbers vary. */
export type RankSums = { groups: number; products: number; first: number; second: number };

export const NO_RANKS: Readonly<RankSums> = { groups: 0, products: 0, first: 0, second: 0 };

/**
 * The sums of one group. With the midranks r and s of the two numbers (tied numbers share the mean of their ranks) and
 * m = (n + 1) / 2:
 *
 *     products = sum((r - m) * (s - m)), first = sum((r - m)^2), second = sum((s - m)^2)
 *
 * A group whose first number does not vary has no advantages, and counts nowhere.
 */
export function rankSums(pairs: readonly (readonly [first: number, second: number])[]): RankSums {
  const [one, other] = [midranks(pairs.map(([first]) => first)), midranks(pairs.map(([, second]) => second))];
  const mean = (pairs.length + 1) / 2;
  const sums = { ...NO_RANKS };
  for (const [n, rank] of one.entries()) {
    const [first, second] = [rank - mean, (other[n] ?? mean) - mean];
    sums.products += first * second;
    sums.first += first * first;
    sums.second += second * second;
  }
  if (sums.first === 0) return { ...NO_RANKS };
  sums.groups = sums.second === 0 ? 0 : 1;
  return sums;
}

export function addRanks(to: RankSums, sums: RankSums): void {
  to.groups += sums.groups;
  to.products += sums.products;
  to.first += sums.first;
  to.second += sums.second;
}

/** From -1 to 1: Spearman's coefficient, pooled over the groups. `null` below 16 groups in which both numbers vary. */
export function rankCorrelation({ groups, products, first, second }: RankSums): number | null {
  return groups < MIN_GROUPS ? null : products / Math.sqrt(first * second);
}

/** The rank of each number from 1; tied numbers share the mean of their ranks. */
function midranks(numbers: readonly number[]): number[] {
  const order = numbers
    .map((number, position) => ({ number, position }))
    .sort((one, other) => one.number - other.number);
  const ranks = numbers.map(() => 0);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end < order.length && order[end]?.number === order[start]?.number) end++;
    for (const { position } of order.slice(start, end)) ranks[position] = (start + 1 + end) / 2;
    start = end;
  }
  return ranks;
}
