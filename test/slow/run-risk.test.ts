/** The intervals of a run's risk on runs whose labels are known: fixed seeds, about half a minute. */
import { expect, test } from 'vitest';
import type { Estimate } from '../../src/runs/judge-check-schema.ts';
import { checkOf, riskOf, simulated } from '../unit/labels/judged-run.ts';
import { randomOf } from '../unit/seeded-random.ts';

const RUNS = 100;

test('the 95 % intervals contain what the judge did in at least 90 of 100 runs', async () => {
  const contained = { flipped: 0, changed: 0, supported: 0 };
  let width = 0;
  for (let run = 0; run < RUNS; run++) {
    const random = randomOf(1_000 + run);
    const { rows, ...known } = simulated(random, 12, 4);
    const { flipped, changed, kinds } = await riskOf(rows, checkOf(60, random), 100);
    const supported = kinds.find(({ kind }) => kind === 'support')?.corrected ?? null;
    if (isWithin(known.flipped, flipped)) contained.flipped++;
    if (isWithin(known.changed, changed)) contained.changed++;
    if (isWithin(known.supported, supported)) contained.supported++;
    width += ((flipped?.high ?? 1) - (flipped?.low ?? 0)) / RUNS;
  }
  expect(Math.min(...Object.values(contained)), JSON.stringify(contained)).toBeGreaterThanOrEqual(90);
  // Of 48 advantages about 12 are flipped; an interval that contains everything would prove nothing.
  expect(width).toBeLessThan(0.3);
}, 600_000);

function isWithin(value: number, estimate: Estimate | null): boolean {
  return estimate !== null && estimate.low <= value && value <= estimate.high;
}
