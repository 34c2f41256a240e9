/**
 * Baseline for the recompute time: a loop that only reads the facts of each rollout, on the same machine and the same
 * rows.
 */

import type { LedgerRow } from '../../../src/runs/row.ts';

/** Untimed passes: cold code is slow and would make the recomputation look better. */
const WARM_PASSES = 20;
const PASSES = 9;

/** Milliseconds for one loop over all groups: the median of several passes after warm-up. */
export function plainReadMilliseconds(groups: readonly (readonly LedgerRow[])[]): number {
  const times: number[] = [];
  let sum = 0;
  for (let pass = 0; pass < WARM_PASSES + PASSES; pass++) {
    const began = performance.now();
    for (const rows of groups) for (const { facts } of rows) sum += read(facts);
    if (pass >= WARM_PASSES) times.push(performance.now() - began);
  }
  // Uses the sum, so that the optimiser cannot drop the loop.
  if (Number.isNaN(sum)) throw new RangeError('plainReadMilliseconds: a fact is not a number');
  times.sort((a, b) => a - b);
  return times[Math.floor(PASSES / 2)] ?? 0;
}

/** Reads every value once. */
function read(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return Number(value);
  let sum = 0;
  for (const member of Array.isArray(value) ? value : Object.values(value)) sum += read(member);
  return sum;
}
