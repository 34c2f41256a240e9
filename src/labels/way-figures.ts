/** Figures of a judge that is asked the same labelled questions in another way, or again with another seed. */
import { type AgreementTable, exactAgreement, meanDifference, PairCounter } from '../judgments/rater-agreement.ts';
import { Moments } from '../runs/moments.ts';
import type { Interval } from './cluster-bootstrap.ts';
import { type JudgeDifference, judgeDifference, type TwiceJudgedRow } from './judge-difference.ts';
import { countsByCluster, intervalOfShare, labelFigures, type RowLabel, share } from './label-figures.ts';
import { type LabelKind, LEVELS } from './labelled-row.ts';

/** Another way of asking compared with the measured one, over rows of one kind with both verdicts. */
export type WayFigures = {
  readonly rows: number;
  /** Share of equal verdicts. */
  readonly same: number | null;
  /** Shares of rows whose verdict is higher, and lower, than in the measured way. */
  readonly raised: number | null;
  readonly lowered: number | null;
  /** Of the share of rows whose verdict is another: 95 %, over questions; `null` = undefined. */
  readonly changed_interval: Interval | null;
  /** Mean level of this way minus that of the measured one. */
  readonly mean_difference: number | null;
  /** Rows: levels in the measured way; columns: levels in this one. */
  readonly table: AgreementTable;
  /** Balanced accuracy in this way minus that in the measured one. */
  readonly accuracy: JudgeDifference;
};

/** @param rows `first`: the verdict in the measured way, `second`: in the other way. */
export function wayFigures(kind: LabelKind, rows: readonly TwiceJudgedRow[], seed: number): WayFigures {
  const pairs = new PairCounter(LEVELS[kind].length);
  const moved = { up: 0, down: 0, rows: 0 };
  for (const { first, second } of rows) {
    if (first === null || second === null) continue;
    pairs.add(first, second);
    moved.rows++;
    if (second > first) moved.up++;
    if (second < first) moved.down++;
  }
  const { table } = pairs;
  const both = rows.filter(({ first, second }) => first !== null && second !== null);
  const clusters = countsByCluster(both, 2, ({ first, second }, counts) => {
    const at = first === second ? 0 : 1;
    counts[at] = (counts[at] ?? 0) + 1;
  });
  return {
    rows: moved.rows,
    same: exactAgreement(table),
    raised: share(moved.up, moved.rows),
    lowered: share(moved.down, moved.rows),
    changed_interval: intervalOfShare(clusters, seed),
    mean_difference: meanDifference(table),
    table,
    accuracy: judgeDifference(rows, seed),
  };
}

/** How much the verdicts of one row vary when a sampling judge is asked again. */
export type ReplicateFigures = {
  /** Judgments of each row, the first included. */
  readonly judgments: number;
  /** Rows with a verdict in every judgment. */
  readonly rows: number;
  /** Share of these rows whose verdicts are not all equal. */
  readonly changed: number | null;
  /** Mean over these rows of the variance of the level (divisor: judgments - 1). */
  readonly variance: number | null;
  /** Balanced accuracy of each judgment. */
  readonly balanced_accuracies: readonly (number | null)[];
};

/** @param rows with the levels of all judgments of the row, as many for each row. */
export function replicateFigures(
  kind: LabelKind,
  rows: readonly (RowLabel & { readonly verdicts: readonly (number | null)[] })[],
  judgments: number,
  seed: number,
): ReplicateFigures {
  const variances = new Moments();
  let changed = 0;
  for (const { verdicts } of rows) {
    const levels = new Moments();
    for (const verdict of verdicts) if (verdict !== null) levels.add(verdict);
    if (levels.count < judgments || levels.std === null) continue;
    variances.add(levels.std ** 2);
    if (levels.std > 0) changed++;
  }
  return {
    judgments,
    rows: variances.count,
    changed: share(changed, variances.count),
    variance: variances.mean,
    balanced_accuracies: Array.from({ length: judgments }, (_, replicate) => {
      const judged = rows.map((row) => ({ ...row, verdict: row.verdicts[replicate] ?? null }));
      return labelFigures(kind, judged, seed).balanced_accuracy;
    }),
  };
}
