import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basePolicy, type WarmUp } from '../../../scripts/red-team/base-policy.ts';
import { NO_FAULTS } from '../../../scripts/red-team/habits.ts';
import type { Policy } from '../../../scripts/red-team/policy.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'citeward-base-policy-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const WARM_UP: WarmUp = {
  steps: 5,
  habits: NO_FAULTS,
  style: { mark: (source) => `[S${source + 1}]`, close: null },
  kind: 'plain',
  rows: [],
};

/** A policy that learns nothing. @param counts what it was asked. */
function scriptedPolicy(counts: { imitated: number; saved: number }): Policy {
  const update = { loss: 1, norm: 1, skipped: false };
  return {
    identity: { scripted: 1 },
    extension: '.txt',
    savedEvery: 10,
    imitation: { answers: 2, faultless: 0, ownRows: 0, plainFirst: false, learningRate: () => 0.1 },
    imitate: async () => {
      counts.imitated++;
      // Lets the other one run in between.
      await new Promise((resolve) => setImmediate(resolve));
      return update;
    },
    sample: async (rows, samples) =>
      rows.map(() => Array.from({ length: samples }, () => ({ text: '<answer> It. </answer>', cut: false }))),
    learn: async () => update,
    save: async (file) => {
      counts.saved++;
      await writeFile(file, 'weights');
    },
    load: async () => undefined,
    close: () => undefined,
  };
}

it('is trained once where two ask for it at the same time, and both get it', async () => {
  const counts = { imitated: 0, saved: 0 };
  let waiting = 0;
  const progress = { onStep: () => undefined, onWait: () => waiting++ };
  const [one, other] = await Promise.all(
    [0, 1].map(() => basePolicy(scriptedPolicy(counts), WARM_UP, folder, progress)),
  );
  expect(counts).toEqual({ imitated: WARM_UP.steps, saved: 1 });
  expect(waiting).toBe(1);
  expect(one).toEqual(other);
  expect(await readFile(one?.file ?? '', 'utf8')).toBe('weights');
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
});
