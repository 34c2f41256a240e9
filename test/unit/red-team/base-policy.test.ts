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
    imitation: { answers: 2, faultless: 0, ownRows: 0, begins: 'at_once', learningRate: () => 0.1 },
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

it('shows few of the sources that are not asked at first, and all of them at the end', async () => {
  const shown: number[] = [];
  const policy: Policy = {
    ...scriptedPolicy({ imitated: 0, saved: 0 }),
    identity: { scripted: 2 },
    imitation: { answers: 4, faultless: 0, ownRows: 0, begins: 'with_few_sources', learningRate: () => 0.1 },
    imitate: async (rows) => {
      for (const { facts, sources } of rows) {
        for (const { source, sentence } of facts) expect(sources[source]).toBe(sentence);
      }
      shown.push(...new Set(rows.map(({ sources }) => sources.length)));
      return { loss: 1, norm: 1, skipped: false };
    },
  };
  const progress = { onStep: () => undefined, onWait: () => undefined };
  await basePolicy(policy, { ...WARM_UP, steps: 10, kind: 'many' }, folder, progress);
  expect(shown).toEqual([2, 2, 2, 3, 3, 4, 8, 8, 8, 8]);
});
