/**
 * Measures ratios of run times: alternates the candidates in short rounds, so that noise affects all of them equally,
 * and reports medians with the spread of the rounds. Times are CPU times of the main thread, so other programs on the
 * machine hardly change them.
 */

import { printProfiles } from './profile.ts';

/** A promise of `run` is awaited. */
export type Candidate = { readonly name: string; readonly run: () => unknown };

export type Timing = {
  readonly name: string;
  /** Median over the rounds, in microseconds per call. */
  readonly median_us: number;
  /** Half the interquartile range divided by the median: the noise of this run. */
  readonly spread: number;
};

const ROUND_MS = 40;
const ROUNDS = 25;
const WARM_UP_MS = 400;

/** Uses a result, so that the optimiser cannot drop the call. */
function keep(value: unknown): void {
  if (value === undefined) throw new Error('a candidate returned nothing to keep');
}

function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

async function callsPerRound(candidate: Candidate): Promise<number> {
  const started = performance.now();
  let calls = 0;
  while (performance.now() - started < WARM_UP_MS) {
    const value = candidate.run();
    keep(value instanceof Promise ? await value : value);
    calls++;
  }
  return Math.max(1, Math.round((calls / WARM_UP_MS) * ROUND_MS));
}

/** Measures all candidates in alternating rounds. With `--profile`, also prints where each spends its time. */
export async function timeTogether(candidates: readonly Candidate[]): Promise<Timing[]> {
  const calls: number[] = [];
  for (const candidate of candidates) calls.push(await callsPerRound(candidate));
  const rounds: number[][] = candidates.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [position, candidate] of candidates.entries()) {
      const count = calls[position] ?? 1;
      const started = threadMicroseconds();
      for (let call = 0; call < count; call++) {
        // Only promises are awaited: awaiting a value would cost more than the fastest candidates.
        const value = candidate.run();
        keep(value instanceof Promise ? await value : value);
      }
      rounds[position]?.push((threadMicroseconds() - started) / count);
    }
  }
  if (process.argv.includes('--profile')) await printProfiles(candidates);
  return candidates.map(({ name }, position) => {
    const times = (rounds[position] ?? []).sort((a, b) => a - b);
    const median = quantile(times, 0.5);
    return { name, median_us: median, spread: (quantile(times, 0.75) - quantile(times, 0.25)) / 2 / median };
  });
}

function quantile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.round(share * (sorted.length - 1))];
  if (value === undefined) throw new RangeError('quantile of nothing');
  return value;
}
