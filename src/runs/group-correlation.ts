/**
 * Spearman's rank correlation inside groups: whether the samples of a prompt that earn more also have more of something
 * else, such as words. Differences between prompts do not count, as they do not in group advantages.
 */

/** One sample: its reward, and the figure that is compared with it. `null` = not known; the sample is left out. */
export type RankedSample = { readonly reward: number | null; readonly figure: number | null };

export type GroupCorrelation = {
  /** From -1 to 1; `null` = fewer than `MIN_VARYING_GROUPS` groups in which both vary. */
  readonly correlation: number | null;
  /** Groups in which both vary. */
  readonly groups: number;
};

/** With fewer groups the correlation says nothing. */
export const MIN_VARYING_GROUPS = 16;

/**
 * Correlates the midranks of rewards and figures inside groups, with sums that are pooled over the groups whose reward
 * varies:
 *
 *     rho = sum(r * f) / sqrt(sum(r^2) * sum(f^2)),   r and f = rank - mean rank of the group
 *
 * A group in which only the reward varies lowers the correlation: its advantages pay for something else. Equal values
 * share the mean of their ranks (Spearman 1904; ties as in Kendall, "Rank Correlation Methods", 1948, chapter 3).
 */
export function groupCorrelation(groups: readonly (readonly RankedSample[])[]): GroupCorrelation {
  let [products, rewardSquares, figureSquares, varying] = [0, 0, 0, 0];
  for (const group of groups) {
    const known = group.flatMap(({ reward, figure }) =>
      reward === null || figure === null ? [] : [{ reward, figure }],
    );
    const rewards = centredRanks(known.map(({ reward }) => reward));
    const figures = centredRanks(known.map(({ figure }) => figure));
    const spread = sumOf(rewards, rewards);
    if (spread === 0) continue;
    const own = sumOf(figures, figures);
    if (own > 0) varying++;
    products += sumOf(rewards, figures);
    rewardSquares += spread;
    figureSquares += own;
  }
  const correlation = varying < MIN_VARYING_GROUPS ? null : products / Math.sqrt(rewardSquares * figureSquares);
  return { correlation, groups: varying };
}

/** The midrank of each value, less the mean rank. */
function centredRanks(values: readonly number[]): number[] {
  const order = values.map((_, position) => position).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranks = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && values[order[to] ?? 0] === values[order[from] ?? 0]) to++;
    for (let n = from; n < to; n++) ranks[order[n] ?? 0] = (from + to - 1) / 2 - (order.length - 1) / 2;
    from = to;
  }
  return ranks;
}

function sumOf(ones: readonly number[], others: readonly number[]): number {
  return ones.reduce((sum, one, n) => sum + one * (others[n] ?? 0), 0);
}
