/** Checks that work is linear in its input, by comparing run times in a way that a busy machine cannot make fail. */
import { expect } from 'vitest';

/** Length of the larger input / length of the smaller one. */
export const GROWTH = 8;
/** Allowed factor above linear growth: half of what one quadratic step would take. */
const SLACK = 4;
const BOUND = GROWTH * SLACK;
/** Without this floor the ratio of two very fast runs would be noise. */
const MIN_SMALL_MS = 2;
const MAX_ROUNDS = 6;

/**
 * Expects that `GROWTH` times the input takes less than `GROWTH * SLACK` times as long. Compares the fastest runs, and
 * measures again while the bound is missed: interruptions only ever add time, so the fastest runs converge to the
 * truth.
 */
export function expectLinear(work: (text: string) => unknown, small: string, large: string): void {
  let fastestSmall = Number.POSITIVE_INFINITY;
  let fastestLarge = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    fastestSmall = Math.min(
      fastestSmall,
      fastestMilliseconds(() => work(small)),
    );
    fastestLarge = Math.min(
      fastestLarge,
      fastestMilliseconds(() => work(large)),
    );
    if (fastestLarge / Math.max(MIN_SMALL_MS, fastestSmall) < BOUND) return;
  }
  expect(fastestLarge / Math.max(MIN_SMALL_MS, fastestSmall)).toBeLessThan(BOUND);
}

/** Time of the fastest of three runs. */
function fastestMilliseconds(work: () => void): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const started = performance.now();
    work();
    fastest = Math.min(fastest, performance.now() - started);
  }
  return fastest;
}
