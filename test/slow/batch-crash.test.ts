/** Twenty kills at random moments of a batch. */
import { expect, onTestFailed, test } from 'vitest';
import { type CrashLog, crashDuringBatch } from './batch-crash.ts';

const KILLS = 20;

test(`a batch whose Worker is killed ${KILLS} times ends by itself, each line once`, { timeout: 900_000 }, async () => {
  const log: CrashLog = [];
  onTestFailed(() => console.error(JSON.stringify(log)));
  await crashDuringBatch({ kills: KILLS, lines: 900, seed: 20 }, log);
  expect(log).toHaveLength(KILLS);
});
