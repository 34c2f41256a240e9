/**
 * Measures how often a judge gives which verdict for which label, and infers from it the labels behind a run's
 * verdicts.
 */
import { type AgreementTable, dichotomised } from '../judgments/rater-agreement.ts';
import type { Estimate } from '../runs/judge-check-schema.ts';
import { type Interval, percentiles } from './cluster-bootstrap.ts';

/** What `judge check` found about one kind of rows. */
export type MeasuredError = {
  /** Counts of rows. Rows: labels from the lowest level; columns: verdicts. */
  readonly table: AgreementTable;
  /** 95 % interval of the balanced accuracy, over questions; `null` = undefined. */
  readonly interval: Interval | null;
};

/** Numbers in [0, 1). */
export type Random = () => number;

/**
 * Whether the rows show that the judge tells yes from no: the lower bound of sensitivity + specificity - 1, which is
 * twice the balanced accuracy minus 1, is above 0.
 */
export function isShown({ interval }: Pick<MeasuredError, 'interval'>): boolean {
  return interval !== null && 2 * interval[0] - 1 > 0;
}

const DRAWS_OF_RATE = 2_000;

/**
 * The share of yes labels behind a share p of yes verdicts (Rogan and Gladen, American Journal of Epidemiology 107
 * (1978) 71-76), from sensitivity and specificity with the highest level as yes:
 *
 *     (p + specificity - 1) / (sensitivity + specificity - 1),   clipped to 0 … 1
 *
 * The interval is that of the same formula over draws of all three shares.
 *
 * @param verdicts counts of a run's verdicts, by level.
 * @returns `null` if the rows do not show that the judge tells yes from no.
 */
export function correctedRate(error: MeasuredError, verdicts: readonly number[], random: Random): Estimate | null {
  if (!isShown(error)) return null;
  const total = sum(verdicts);
  const top = verdicts.length - 1;
  const yes = (verdicts[top] ?? 0) / total;
  const two = dichotomised(error.table, top);
  const [[no = 0, passed = 0] = [], [missed = 0, found = 0] = []] = two;
  const rate = (p: number, passes: number, finds: number): number => {
    // A draw in which the judge does not tell yes from no says nothing; both ends are the widest answer.
    if (finds <= passes) return p < passes ? 0 : 1;
    return Math.min(1, Math.max(0, (p - passes) / (finds - passes)));
  };
  const effective = effectiveTable({ ...error, table: two });
  const draws = Array.from({ length: DRAWS_OF_RATE }, () => {
    const [[, passes = 0] = [], [, finds = 0] = []] = drawnConfusion(effective, random);
    const [, p = 0] = drawnShares([total - (verdicts[top] ?? 0), verdicts[top] ?? 0], random);
    return rate(p, passes, finds);
  });
  return { ...percentiles(draws), share: rate(yes, passed / (no + passed), found / (missed + found)) };
}

/**
 * A table with the counts of as many independent rows as tell as much: rows of one question are alike, so the counts
 * are divided by the design effect (Kish, "Survey Sampling", 1965), the variance of the balanced accuracy over questions
 * divided by that over independent rows.
 */
export function effectiveTable({ table, interval }: MeasuredError): AgreementTable {
  const two = dichotomised(table, table.length - 1);
  // Without an error, or without a hit, the interval is an exact one over questions.
  if (two.every((row) => row.includes(0))) return table;
  const independent = sum(
    two.map((row) => {
      // A half more in each cell, so that a share of 0 or 1 has a variance too.
      const [one, other] = row.map((count) => count + JEFFREYS);
      const rows = (one ?? 0) + (other ?? 0);
      return ((one ?? 0) * (other ?? 0)) / rows ** 3 / 4;
    }),
  );
  const error = interval === null ? 0 : (interval[1] - interval[0]) / (2 * Z_INTERVAL);
  const effect = Math.max(1, error ** 2 / independent);
  return table.map((row) => row.map((count) => count / effect));
}

const Z_INTERVAL = 1.96;

/** Jeffreys' prior of a multinomial: a half for each cell. */
const JEFFREYS = 0.5;

/** For each label the probability of each verdict, drawn from what the counts allow. */
export function drawnConfusion(table: AgreementTable, random: Random): readonly (readonly number[])[] {
  return table.map((row) => drawnShares(row, random));
}

/** The shares of the cells, drawn from their Dirichlet distribution given the counts and Jeffreys' prior. */
export function drawnShares(counts: readonly number[], random: Random): number[] {
  const gammas = counts.map((count) => gamma(count + JEFFREYS, random));
  const total = sum(gammas);
  return gammas.map((one) => one / total);
}

/** Rounds of the expectation-maximisation below; its steps shrink fast with three levels. */
const MAX_ROUNDS = 500;
const SETTLED = 1e-7;

/**
 * For each verdict the probability of each label. The shares of the labels are those under which the shares of the
 * verdicts are likeliest (expectation-maximisation, from equal shares), so they are never outside 0 … 1:
 *
 *     P(label | verdict) = share(label) P(verdict | label) / sum over labels
 *
 * @param confusion P(verdict | label). @param verdicts shares of the verdicts.
 */
export function labelsBehind(
  confusion: readonly (readonly number[])[],
  verdicts: readonly number[],
): readonly (readonly number[])[] {
  let shares: readonly number[] = confusion.map(() => 1 / confusion.length);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const behind = behindVerdicts(confusion, shares);
    const next = shares.map((_, label) =>
      sum(verdicts.map((share, verdict) => share * (behind[verdict]?.[label] ?? 0))),
    );
    const moved = Math.max(...next.map((share, label) => Math.abs(share - (shares[label] ?? 0))));
    shares = next;
    if (moved < SETTLED) break;
  }
  return behindVerdicts(confusion, shares);
}

function behindVerdicts(confusion: readonly (readonly number[])[], shares: readonly number[]): number[][] {
  return shares.map((_, verdict) => {
    const weights = shares.map((share, label) => share * (confusion[label]?.[verdict] ?? 0));
    const total = sum(weights);
    return weights.map((weight) => (total === 0 ? 1 / weights.length : weight / total));
  });
}

/** An index drawn by its probability. */
export function drawnIndex(probabilities: readonly number[], random: Random): number {
  let rest = random();
  for (const [index, probability] of probabilities.entries()) {
    rest -= probability;
    if (rest < 0) return index;
  }
  return probabilities.length - 1;
}

/** A gamma variate of scale 1 (Marsaglia and Tsang, ACM TOMS 26 (2000) 363-372). @param shape above 0. */
function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
