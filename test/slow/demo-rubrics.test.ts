/** `npm run demo:rubrics` prints three steps of an evolving rubric, and exits by itself. */
import { expect, test } from 'vitest';
import { runScript } from '../e2e/processes.ts';

test('the demo of evolving rubrics', { timeout: 120_000 }, async () => {
  const demo = await runScript('scripts/demo-rubrics.ts', { args: ['--once'] });
  expect([demo.code, demo.stderr]).toEqual([0, '']);
  expect(demo.stdout.match(/^Step \d$/gmu)).toEqual(['Step 0', 'Step 1', 'Step 2']);
  expect(demo.stdout).toContain('   activated  Deepest, UNESCO: scores from the next group on\n');
  expect(demo.stdout).toContain('   retired    UNESCO: the last two groups hardly differ in it\n');
  expect(demo.stdout).toContain('   left out   Long: an answer can meet it by its length\n');
  expect(demo.stdout).toMatch(/UNESCO +inactive +2 +1\.00 +0\.00/u);
  expect(demo.stdout).toMatch(/rubrics show demo-rubrics [0-9a-f]{12} --url/u);
  // What the persistent criteria alone give rises, while criteria that are harder to meet hold the whole reward down.
  const means = [...demo.stdout.matchAll(/step \d: ([\d.]+) under .*, ([\d.]+) by the/gu)];
  expect(means.map(([, whole, persistent]) => [Number(whole), Number(persistent)])).toEqual([
    [7.55, 7.55],
    [8.53, 8.25],
    [8.54, 9.12],
  ]);
  for (const line of demo.stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100);
});

test('a flag that it does not have', async () => {
  const refused = await runScript('scripts/demo-rubrics.ts', { args: ['--twice'] });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('usage: npm run demo:rubrics')]);
});
