import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { eventStream } from '../../../functions/http/event-stream.ts';
import { Leases } from '../../../functions/leases.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('counts what a stream holds for as long as it is open, also if it idles', async () => {
  const leases = new Leases({ limit: 100, leaseMs: 5_000 }, () => Date.now());
  const lease = leases.begin();
  const other = leases.begin();
  expect([other.grow(1), lease.grow(99)]).toEqual([true, true]);
  let finish = (): void => undefined;
  const stream = eventStream('request', lease, () => new Promise((done) => (finish = done)));
  lease.end();
  const read = new Response(stream).text();
  for (let second = 0; second < 20; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    other.grow(0);
    expect(leases.begin().grow(1), `after ${second + 1} s`).toBe(false);
  }
  finish();
  await read;
  expect(leases.begin().grow(99)).toBe(true);
});
