/**
 * Intervals for statistics of rows that are not independent: a bootstrap that draws whole clusters (here all rows of
 * one question) with replacement. Davison and Hinkley, "Bootstrap Methods and their Application" (1997), section 3.8;
 * the 95 % interval is the percentile interval. Equal input and seed give equal numbers.
 */
import type { Estimate } from '../runs/judge-check-schema.ts';

/** Resamples of each interval. */
export const RESAMPLES = 2_000;

/** An interval is undefined if the statistic is undefined in more than this share of the resamples. */
const MAX_UNDEFINED_SHARE = 0.05;
/** Part of each tail outside a 95 % interval. */
export const TAIL = 0.025;

/** Lower and upper end. */
export type Interval = readonly [number, number];

export type Bootstrapped = {
  /** `null` = undefined: fewer than two clusters, or too many resamples without a value. */
  readonly interval: Interval | null;
  /** Standard error: the standard deviation over the resamples; `null` as for the interval. */
  readonly standard_error: number | null;
};

/**
 * Resamples clusters. Time: RESAMPLES x clusters x counts.
 * @param clusters counts of each cluster, all of one length; a statistic reads only their sums.
 * @param statistic of the summed counts; `null` = undefined.
 * @param seed an integer.
 */
export function clusterBootstrap(
  clusters: readonly (readonly number[])[],
  statistic: (sums: readonly number[]) => number | null,
  seed: number,
): Bootstrapped {
  const length = clusters[0]?.length ?? 0;
  if (clusters.length < 2) return UNDEFINED;
  const random = randomOf(seed);
  const values: number[] = [];
  for (let resample = 0; resample < RESAMPLES; resample++) {
    const sums = new Array<number>(length).fill(0);
    for (let draw = 0; draw < clusters.length; draw++) {
      const counts = clusters[Math.floor(random() * clusters.length)] ?? [];
      for (let at = 0; at < length; at++) sums[at] = (sums[at] ?? 0) + (counts[at] ?? 0);
    }
    const value = statistic(sums);
    if (value !== null) values.push(value);
  }
  if (values.length < RESAMPLES * (1 - MAX_UNDEFINED_SHARE)) return UNDEFINED;
  const { low, high } = percentiles(values);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { interval: [low, high], standard_error: Math.sqrt(squares / (values.length - 1)) };
}

const UNDEFINED: Bootstrapped = { interval: null, standard_error: null };

/** The median and the 95 % percentile interval of values, at least one. */
export function percentiles(values: readonly number[]): Estimate {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return { share: at(0.5), low: at(TAIL), high: at(1 - TAIL) };
}

/** Mulberry32 (public domain, T. Ettinger): numbers in [0, 1); equal seeds give equal numbers. */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
