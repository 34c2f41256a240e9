/** A batch of the maximum size. */
import { expect, test } from 'vitest';
import { MAX_BATCH_REQUESTS } from '../../src/limits.ts';
import { scoreManyLines } from './batch-scale.ts';

const DEADLINE_MS = 30 * 60 * 1000;

test(`${MAX_BATCH_REQUESTS} lines come back once each`, { timeout: DEADLINE_MS + 120_000 }, async () => {
  const result = await scoreManyLines(MAX_BATCH_REQUESTS, DEADLINE_MS);
  console.log(JSON.stringify(result));
  // A batch that is slower than its requests one by one would be no use.
  expect(result.ratio).toBeGreaterThan(1);
});
