/** Two kills during a batch; test/slow/batch-crash.test.ts has twenty. */
import { expect, onTestFailed, test } from 'vitest';
import { type CrashLog, crashDuringBatch } from './batch-crash.ts';

test('a batch whose Worker is killed twice ends by itself, each line once, with the rewards of a calm run', async () => {
  const log: CrashLog = [];
  onTestFailed(() => console.error(JSON.stringify(log)));
  await crashDuringBatch({ kills: 2, lines: 300, seed: 7 }, log);
  expect(log).toHaveLength(2);
});
