/** The retry schedule: when the next try is due, and when retries end. */
import { describe, expect, it } from 'vitest';
import { type Backoff, DELIVERY_BACKOFF, JOB_BACKOFF, nextTry } from '../../../functions/webhooks/backoff.ts';

const BEGAN = 1_700_000_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Seconds after the first try at which all tries begin, where every one fails at once. */
function schedule(backoff: Backoff, random: number, retry_after_s: number | null = null): number[] {
  const tries = [0];
  for (let failures = 1; failures < 1_000; failures++) {
    const now_ms = BEGAN + (tries.at(-1) ?? 0) * 1000;
    const next = nextTry(backoff, { failures, began_ms: BEGAN, now_ms, retry_after_s, random });
    if (next === null) return tries;
    tries.push((next - BEGAN) / 1000);
  }
  throw new Error('it does not end');
}

describe('deliveries', () => {
  it('are tried after 5 s, 30 s, 2 min, 10 min, 1 h, 4 h, 8 h, 8 h, and then no more', () => {
    const at = [0, 5, 35, 155, 755, 4_355, 18_755, 47_555, 76_355];
    expect(schedule(DELIVERY_BACKOFF, 0)).toEqual(at);
    expect((at.at(-1) ?? 0) * 1000).toBeLessThan(DAY_MS);
  });

  it('wait up to a fifth longer at random', () => {
    expect(schedule(DELIVERY_BACKOFF, 0.5).slice(0, 3)).toEqual([0, 5.5, 38.5]);
    expect(schedule(DELIVERY_BACKOFF, 0.999).length).toBe(8);
  });

  it('wait as long as the receiver asks, where that is longer', () => {
    expect(schedule(DELIVERY_BACKOFF, 0, 60).slice(0, 5)).toEqual([0, 60, 120, 240, 840]);
    expect(schedule(DELIVERY_BACKOFF, 0, 1).slice(0, 2)).toEqual([0, 5]);
  });

  it('end with their window, whatever was asked for', () => {
    const failed = { failures: 1, began_ms: BEGAN, retry_after_s: 3_600, random: 0 };
    expect(nextTry(DELIVERY_BACKOFF, { ...failed, now_ms: BEGAN + DAY_MS - 3_600_000 })).toBe(BEGAN + DAY_MS);
    expect(nextTry(DELIVERY_BACKOFF, { ...failed, now_ms: BEGAN + DAY_MS - 3_599_000 })).toBeNull();
  });
});

describe('scorings', () => {
  it('go on for a day, at least once an hour', () => {
    const tries = schedule(JOB_BACKOFF, 0);
    expect(tries.slice(0, 4)).toEqual([0, 5, 20, 80]);
    const gaps = tries.slice(1).map((time, position) => time - (tries[position] ?? 0));
    expect(Math.max(...gaps)).toBe(3_600);
    expect(tries.at(-1)).toBeGreaterThan(22 * 3_600);
  });
});
