/** `npm run redteam` on real parts: it trains, reports, continues after an end, and repeats itself. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redTeamResultSchema } from '../../scripts/red-team/report.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'citeward-red-team-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Trains a seed on little; the first time on a machine it also makes the Python environment. */
async function train(name: string, steps: number) {
  const args = ['scripts/red-team.ts', '--recipe', 'refiner-rl-balanced', '--warm-up', '20', '--name', name, '--json'];
  const given = [...args, '--steps', String(steps), '--state', join(folder, 'state')];
  const { stdout } = await run('node', given, { cwd: ROOT }).catch((error: { code?: number; stdout: string }) => {
    // A policy that has hardly learned may well game the reward.
    if (error.code === 3) return error;
    throw error;
  });
  const files = await readdir(join(folder, 'state'));
  const state = files.find((file) => file.startsWith(`${name}-`) && file.endsWith('.state.json')) ?? '';
  const { samples } = JSON.parse(await readFile(join(folder, 'state', state), 'utf8'));
  return { result: redTeamResultSchema.parse(JSON.parse(stdout)), samples };
}

it('a seed that was interrupted ends as one that was not', { timeout: 1_200_000 }, async () => {
  const whole = await train('whole', 4);
  expect(whole.samples).toHaveLength(4 * 128);
  expect(whole.result.seeds).toMatchObject([{ seed: 1, steps: 4, skipped: 0 }]);
  expect(whole.result.seeds[0]?.last.reward).not.toBeNull();
  expect(whole.result.seeds[0]?.last.own).not.toBeNull();
  const part = await train('part', 2);
  expect(part.samples).toEqual(whole.samples.slice(0, 2 * 128));
  const continued = await train('part', 4);
  expect(continued.samples).toEqual(whole.samples);
});
