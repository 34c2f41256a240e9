/**
 * Figures of one judge over labelled rows: accuracy by group with intervals, and what a judge makes of pairs that differ
 * by one edit. A row without a verdict is counted as failed and enters no other figure.
 */
import {
  type AgreementTable,
  balancedAccuracy,
  dichotomised,
  exactAgreement,
  gwetAc1,
  meanDifference,
  PairCounter,
  weightedKappa,
} from '../judgments/rater-agreement.ts';
import { clusterBootstrap, type Interval, TAIL } from './cluster-bootstrap.ts';
import { type LabelKind, LEVELS } from './labelled-row.ts';

/** What the figures read of a labelled row. */
export type RowLabel = {
  readonly kind: LabelKind;
  readonly set: string;
  readonly edits: readonly string[];
  readonly pair: string | null;
  readonly adversarial: boolean;
  /** Index of the cluster: rows of one question, or without a question of the same sources, share it. */
  readonly cluster: number;
  /** The right level, an index into `LEVELS`. */
  readonly level: number;
};

/** A labelled row with the level of the verdict; `null` = the judge gave none. */
export type JudgedRow = RowLabel & { readonly verdict: number | null };

/** Figures over rows of one kind. Shares are 0 to 1; `null` = undefined. */
export type LabelFigures = {
  readonly rows: number;
  readonly failed: number;
  /** Clusters with a verdict. */
  readonly questions: number;
  /** Share of verdicts equal to the label. */
  readonly accuracy: number | null;
  /** Mean of the two recalls: of the rows labelled yes (the highest level), and of the others. Guessing gives 0.5. */
  readonly balanced_accuracy: number | null;
  /** 95 %, over questions; `null` = undefined: fewer than two questions, or no question differs from the others. */
  readonly interval: Interval | null;
  /** Share of the rows labelled yes that the judge finds. */
  readonly finds_yes: number | null;
  /** Share of the other rows that the judge passes as yes. */
  readonly passes_no: number | null;
  /** Quadratic-weighted, over all levels. */
  readonly kappa: number | null;
  /** Gwet's AC1 over all levels. */
  readonly ac1: number | null;
  /** Share of yes verdicts minus share of yes labels; above 0 = the judge is lenient. */
  readonly bias: number | null;
  /** Counts of rows. Rows: labels from the lowest level; columns: verdicts. */
  readonly table: AgreementTable;
  /** Rows without a verdict, by level of the label. */
  readonly failed_by_level: readonly number[];
};

/** The figures of rows of one kind. @param seed of the intervals. */
export function labelFigures(kind: LabelKind, rows: readonly JudgedRow[], seed: number): LabelFigures {
  const levels = LEVELS[kind].length;
  const pairs = new PairCounter(levels);
  const failedByLevel = new Array<number>(levels).fill(0);
  for (const { level, verdict } of rows) {
    if (verdict === null) failedByLevel[level] = (failedByLevel[level] ?? 0) + 1;
    else pairs.add(level, verdict);
  }
  const { table } = pairs;
  const two = dichotomised(table, levels - 1);
  const [[no = 0, passed = 0] = [], [missed = 0, found = 0] = []] = two;
  const balanced = balancedAccuracy(two);
  const clusters = countsByCluster(
    rows.filter(({ verdict }) => verdict !== null),
    CELLS,
    (row, counts) => {
      addCell(counts, 0, row, row.verdict);
    },
  );
  return {
    rows: rows.length,
    failed: failedByLevel.reduce((sum, count) => sum + count, 0),
    questions: clusters.length,
    accuracy: exactAgreement(table),
    balanced_accuracy: balanced,
    interval: balanced === null ? null : intervalOfBalanced(clusters, seed),
    finds_yes: share(found, missed + found),
    passes_no: share(passed, no + passed),
    kappa: weightedKappa(table),
    ac1: gwetAc1(table),
    bias: meanDifference(two),
    table,
    failed_by_level: failedByLevel,
  };
}

/** Counts of a cluster for balanced accuracy: label no and verdict no, no and yes, yes and no, yes and yes. */
const CELLS = 4;

/**
 * The interval of a balanced accuracy, from the four counts of each cluster. If each recall is 0 or 1, all resamples are
 * equal; then the mean of the exact bounds of the two recalls, which divide the 5 % between them.
 */
function intervalOfBalanced(clusters: readonly (readonly number[])[], seed: number): Interval | null {
  const recalls = [0, 2].map((at) => {
    const wrong = at === 0 ? at + 1 : at;
    const withLabel = clusters.filter((counts) => (counts[at] ?? 0) + (counts[at + 1] ?? 0) > 0);
    const withError = withLabel.filter((counts) => (counts[wrong] ?? 0) > 0);
    const right = at === 0 ? at : at + 1;
    const withHit = withLabel.filter((counts) => (counts[right] ?? 0) > 0);
    return exactAtEnd(withHit.length, withError.length, TAIL / 2);
  });
  const [no, yes] = recalls;
  if (no === undefined || yes === undefined || no === null || yes === null) {
    const { interval } = clusterBootstrap(clusters, (sums) => balancedOf(sums, 0), seed);
    // Equal ends: every question looks the same, as if each of its pairs got one verdict. That is no certainty.
    return interval === null || interval[0] === interval[1] ? null : interval;
  }
  return [(no[0] + yes[0]) / 2, (no[1] + yes[1]) / 2];
}

/**
 * The exact binomial interval (Clopper and Pearson, Biometrika 26 (1934) 404-413) of a share that is 0 or 1, with
 * clusters as trials; `null` for another share. @param tail outside the interval at its open end.
 */
function exactAtEnd(clustersWithHit: number, clustersWithMiss: number, tail: number): Interval | null {
  if (clustersWithMiss === 0 && clustersWithHit > 0) return [tail ** (1 / clustersWithHit), 1];
  if (clustersWithHit === 0 && clustersWithMiss > 0) return [0, 1 - tail ** (1 / clustersWithMiss)];
  return null;
}

/** Balanced accuracy of four counts that begin at an index; `null` if a label does not occur. */
export function balancedOf(counts: readonly number[], at: number): number | null {
  const [no = 0, passed = 0, missed = 0, found = 0] = counts.slice(at, at + CELLS);
  if (no + passed === 0 || missed + found === 0) return null;
  return (no / (no + passed) + found / (missed + found)) / 2;
}

/** Adds a row to the four counts that begin at an index. */
export function addCell(counts: number[], at: number, row: RowLabel, verdict: number | null): void {
  if (verdict === null) return;
  const cell = at + (isYes(row.kind, row.level) ? 2 : 0) + (isYes(row.kind, verdict) ? 1 : 0);
  counts[cell] = (counts[cell] ?? 0) + 1;
}

export function isYes(kind: LabelKind, level: number): boolean {
  return level === LEVELS[kind].length - 1;
}

/** The counts of each cluster, in the order of its first row. */
export function countsByCluster<Row extends Pick<RowLabel, 'cluster'>>(
  rows: readonly Row[],
  length: number,
  add: (row: Row, counts: number[]) => void,
): number[][] {
  const clusters = new Map<number, number[]>();
  for (const row of rows) {
    const counts = clusters.get(row.cluster) ?? new Array<number>(length).fill(0);
    clusters.set(row.cluster, counts);
    add(row, counts);
  }
  return [...clusters.values()];
}

/** What the judge makes of pairs of rows that differ by one edit, which changes the label. */
export type PairFigures = {
  /** Pairs of which both rows have a verdict. */
  readonly pairs: number;
  /** Pairs of which a row has no verdict or is not in the file; they enter no other figure. */
  readonly incomplete: number;
  /** Pairs with both verdicts right, one right, none right. They add up to `pairs`. */
  readonly both_right: number;
  readonly one_right: number;
  readonly none_right: number;
  /** Pairs in which both rows got the same verdict: the judge did not see the edit. */
  readonly same_verdict: number;
  /** Pairs in which the row with the lower label got the higher verdict. */
  readonly reversed: number;
  /** Share of pairs with both verdicts right. A judge that ignores the edit has 0, guessing gives about 0.25. */
  readonly both_right_share: number | null;
  /** 95 %, over questions. */
  readonly interval: Interval | null;
};

/** The figures of all pairs among rows. @param seed of the interval. */
export function pairFigures(rows: readonly JudgedRow[], seed: number): PairFigures {
  const byPair = new Map<string, JudgedRow[]>();
  for (const row of rows) {
    if (row.pair === null) continue;
    const key = JSON.stringify([row.set, row.pair]);
    byPair.set(key, [...(byPair.get(key) ?? []), row]);
  }
  const tally = { pairs: 0, incomplete: 0, both_right: 0, one_right: 0, none_right: 0, same_verdict: 0, reversed: 0 };
  const complete: { readonly cluster: number; readonly bothRight: boolean }[] = [];
  for (const members of byPair.values()) {
    const [first, second, ...more] = members;
    if (
      first === undefined ||
      second === undefined ||
      more.length > 0 ||
      first.verdict === null ||
      second.verdict === null
    ) {
      tally.incomplete++;
      continue;
    }
    tally.pairs++;
    const right = [first, second].filter(({ level, verdict }) => level === verdict).length;
    if (right === 2) tally.both_right++;
    else if (right === 1) tally.one_right++;
    else tally.none_right++;
    if (first.verdict === second.verdict) tally.same_verdict++;
    if ((first.verdict - second.verdict) * (first.level - second.level) < 0) tally.reversed++;
    complete.push({ cluster: first.cluster, bothRight: right === 2 });
  }
  const clusters = countsByCluster(complete, 2, ({ bothRight }, counts) => {
    counts[bothRight ? 1 : 0] = (counts[bothRight ? 1 : 0] ?? 0) + 1;
  });
  return {
    ...tally,
    both_right_share: share(tally.both_right, tally.pairs),
    interval: intervalOfShare(clusters, seed),
  };
}

/**
 * The 95 % interval of the share of hits, over clusters; `null` = undefined: one cluster with both.
 * @param clusters misses and hits of each. @param seed of the resamples.
 */
export function intervalOfShare(clusters: readonly (readonly number[])[], seed: number): Interval | null {
  const sharing = ([misses = 0, hits = 0]: readonly number[]): number | null => share(hits, hits + misses);
  const withHit = clusters.filter(([, hits = 0]) => hits > 0).length;
  const withMiss = clusters.filter(([misses = 0]) => misses > 0).length;
  return exactAtEnd(withHit, withMiss, TAIL) ?? clusterBootstrap(clusters, sharing, seed).interval;
}

/** A part of the rows with its name: a set, a type of edit. */
export type NamedRows<Row> = { readonly name: string; readonly rows: readonly Row[] };

/** The rows by name, in the order of the first row of each name. A row may have several names. */
export function groupedRows<Row>(rows: readonly Row[], namesOf: (row: Row) => readonly string[]): NamedRows<Row>[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    for (const name of namesOf(row)) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [row]);
      else group.push(row);
    }
  }
  return [...groups].map(([name, members]) => ({ name, rows: members }));
}

export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
