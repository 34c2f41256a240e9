/** A batch of the maximum size. */
import { expect, test } from 'vitest';
import { MAX_BATCH_REQUESTS } from '../../src/limits.ts';
import { scoreManyLines } from './batch-scale.ts';

const DEADLINE_MS = 30 * 60 * 1000;

test(`${MAX_BATCH_REQUESTS} lines come back once each`, { timeout: DEADLINE_MS + 120_000 }, async () => {
  const result = await scoreManyLines(MAX_BATCH_REQUESTS, DEADLINE_MS);
  console.log(JSON.stringify(result));
  // On one machine both share workerd's thread, and a batch also stores each line: it may be a bit slower, not much.
  expect(result.ratio).toBeGreaterThan(0.5);
});
