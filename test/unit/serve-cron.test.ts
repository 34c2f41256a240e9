/** The times of cron expressions, by which `citeward serve` calls the hourly work. */
import { expect, it } from 'vitest';
import { nextTime } from '../../serve/workers/cron-times.ts';

const next = (cron: string, after: string): string => new Date(nextTime(cron, Date.parse(after))).toISOString();

it.each([
  ['17 * * * *', '2026-01-01T00:16:59.999Z', '2026-01-01T00:17:00.000Z'],
  ['17 * * * *', '2026-01-01T00:17:00.000Z', '2026-01-01T01:17:00.000Z'],
  ['*/15 9-17 * * 1-5', '2026-01-02T17:50:00.000Z', '2026-01-05T09:00:00.000Z'],
  ['0 0 29 2 *', '2026-01-01T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
  ['5,35 0 * * 7', '2026-01-03T23:59:00.000Z', '2026-01-04T00:05:00.000Z'],
])('%s after %s is due at %s', (cron, after, due) => {
  expect(next(cron, after)).toBe(due);
});

it.each(['* * * *', '60 * * * *', '5-1 * * * *', '*/0 * * * *', 'x * * * *', '0 0 30 2 *'])('refuses %s', (cron) => {
  expect(() => nextTime(cron, 0)).toThrow(RangeError);
});
