/** 2,000 lines in one batch; test/slow/batch-50k.test.ts has 50,000. */
import { expect, test } from 'vitest';
import { scoreManyLines } from './batch-scale.ts';

test('2,000 lines come back once each', async () => {
  const result = await scoreManyLines(2_000, 60_000);
  console.log(JSON.stringify(result));
  expect(result.batch_lines_per_second).toBeGreaterThan(0);
});
