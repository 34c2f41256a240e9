/** Readers of exported runs: an edited file is refused by its line, and never a stack trace. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunError } from '../../../cli/shared/exit.ts';
import { groupsOfFile, recipesOfFile } from '../../../cli/shared/run-file.ts';
import { syntheticRunLines } from '../runs/synthetic-rows.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'citeward-test-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const LINES = [...syntheticRunLines({ run: 'r', rollouts: 16, perStep: 16 })];

async function read(lines: readonly string[]): Promise<number> {
  const path = join(folder, 'run.jsonl');
  await writeFile(path, lines.join(''));
  await recipesOfFile(path);
  let rollouts = 0;
  for await (const group of groupsOfFile(path, undefined)) rollouts += group.length;
  return rollouts;
}

describe('an exported run', () => {
  it('is read', async () => {
    expect(await read(LINES)).toBe(16);
  });

  it('is refused at the first rollout whose recipe it lacks', async () => {
    const other = LINES.map((line, n) =>
      n === 5 ? line.replace(/"recipe":"[0-9a-f]{8}/u, '"recipe":"00000000') : line,
    );
    await expect(read(other)).rejects.toThrow(RunError);
    await expect(read(other)).rejects.toThrow(/^line 6: no recipe of the file has the digest 00000000/u);
    const [run = '', recipe = '', ...rest] = LINES;
    await expect(read([run, ...rest.slice(0, -1), recipe, ...rest.slice(-1)])).rejects.toThrow('line 2: no recipe');
  });
});
