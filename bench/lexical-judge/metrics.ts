export type Scored = { readonly score: number; readonly supported: boolean };

/**
 * Area under the ROC curve: the share of (supported, unsupported) pairs in the right order, ties half. NaN without both
 * classes.
 */
export function auc(rows: readonly Scored[]): number {
  const sorted = [...rows].sort((a, b) => a.score - b.score);
  let rankSum = 0;
  let positives = 0;
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    do j++;
    while (j < sorted.length && sorted[j]?.score === sorted[i]?.score);
    const rank = (i + 1 + j) / 2;
    for (let k = i; k < j; k++) {
      if (sorted[k]?.supported === true) {
        rankSum += rank;
        positives++;
      }
    }
    i = j;
  }
  const negatives = rows.length - positives;
  return positives === 0 || negatives === 0
    ? Number.NaN
    : (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Mean of the recall of both classes when a score of at least `threshold` counts as supported. */
export function balancedAccuracy(rows: readonly Scored[], threshold: number): number {
  let truePositives = 0;
  let positives = 0;
  let trueNegatives = 0;
  for (const row of rows) {
    if (row.supported) {
      positives++;
      if (row.score >= threshold) truePositives++;
    } else if (row.score < threshold) trueNegatives++;
  }
  const negatives = rows.length - positives;
  return (truePositives / positives + trueNegatives / negatives) / 2;
}

/** The threshold with the best mean of balanced accuracies over several sets; ties go to the middle of the best run. */
export function bestThreshold(sets: readonly (readonly Scored[])[]): number {
  let best = -1;
  let first = 0;
  let last = 0;
  for (let step = 0; step <= 500; step++) {
    const threshold = step / 500;
    let sum = 0;
    for (const rows of sets) sum += balancedAccuracy(rows, threshold);
    if (sum > best + 1e-12) {
      best = sum;
      first = threshold;
      last = threshold;
    } else if (Math.abs(sum - best) <= 1e-12 && Math.abs(threshold - last) < 0.0021) last = threshold;
  }
  return (first + last) / 2;
}

export type CalibrationBin = {
  readonly from: number;
  readonly to: number;
  readonly n: number;
  readonly score: number;
  readonly supported: number;
};

/**
 * Equal-width bins; the expected calibration error is the mean distance of score and share supported, weighted by n.
 */
export function calibration(
  rows: readonly Scored[],
  bins: number,
): { readonly error: number; readonly bins: readonly CalibrationBin[] } {
  const out: CalibrationBin[] = [];
  let error = 0;
  for (let b = 0; b < bins; b++) {
    const inside = rows.filter((row) => Math.min(bins - 1, Math.floor(row.score * bins)) === b);
    if (inside.length === 0) continue;
    const score = inside.reduce((sum, row) => sum + row.score, 0) / inside.length;
    const supported = inside.filter((row) => row.supported).length / inside.length;
    error += (Math.abs(score - supported) * inside.length) / rows.length;
    out.push({ from: b / bins, to: (b + 1) / bins, n: inside.length, score, supported });
  }
  return { error, bins: out };
}
