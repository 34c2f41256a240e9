/** Checks that work is linear in its input, by comparing processor times, which a busy machine hardly changes. */
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
 * Expects that `GROWTH` times the input takes less than `GROWTH * SLACK` times the processor time. Compares the
 * cheapest runs, and measures again while the bound is missed: other work only ever adds time (cold caches), so the
 * cheapest runs converge to the truth.
 */
export function expectLinear<Input>(work: (input: Input) => unknown, small: Input, large: Input): void {
  let cheapestSmall = Number.POSITIVE_INFINITY;
  let cheapestLarge = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    cheapestSmall = Math.min(
      cheapestSmall,
      threadMilliseconds(() => work(small)),
    );
    cheapestLarge = Math.min(
      cheapestLarge,
      threadMilliseconds(() => work(large)),
    );
    if (cheapestLarge / Math.max(MIN_SMALL_MS, cheapestSmall) < BOUND) return;
  }
  expect(cheapestLarge / Math.max(MIN_SMALL_MS, cheapestSmall)).toBeLessThan(BOUND);
}

/** Processor time of this thread, in milliseconds: on a busy machine the clock also counts the work of others. */
function threadMilliseconds(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
