/** Figures of pages that take seconds to compute: the replay in the README, and the tables of the page about probing. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { pageWith } from '../../bench/hacks/page.ts';
import { probeTables } from '../../bench/probe/tables.ts';
import * as library from '../../lib/index.ts';
import { demoRuns } from '../../scripts/demo-run/runs.ts';
import { train } from '../../scripts/demo-run/train.ts';
import { scoringInProcess } from '../house/demo-run.ts';

const root = resolve(import.meta.dirname, '../..');
const readme = readFileSync(resolve(root, 'README.md'), 'utf8');
const probing = readFileSync(resolve(root, 'docs/guides/probe.md'), 'utf8');

/** The steps of a demo run as `citeward replay` prints them, without the columns after tau. */
async function replayedSteps(shown: readonly number[], set: Readonly<Record<string, unknown>>): Promise<string[]> {
  const run = demoRuns().find(({ name }) => name === 'vacuous-credit');
  if (run === undefined) throw new Error('no run');
  const rows: string[] = [];
  for await (const { step, groups } of train(run, scoringInProcess(run))) {
    if (!shown.includes(step)) continue;
    const recipe = library.recipes['refiner-gpt54-instance-rubric'];
    const samples = groups.map(({ scored: { facts, rewards } }) =>
      facts.map((fact, n) => ({ facts: fact, reward: rewards[n] ?? null, recipe })),
    );
    const { figures } = await library.replay(samples, { set });
    rows.push(replayedRow(step, figures));
  }
  return rows;
}

function replayedRow(step: number, { before, after, rollouts, shift, advantages, tau }: library.ReplayFigures): string {
  const flipped = ((advantages.flipped_share ?? Number.NaN) * 100).toFixed(1);
  const numbers = [before.mean, after.mean, after.std, shift.mean, tau.mean].map((value) => value?.toFixed(2));
  const [was, mean, std, moved = '', correlation] = numbers;
  const signed = moved.startsWith('-') ? moved : `+${moved}`;
  return [step, was, rollouts, mean, std, signed, `${flipped}%`, correlation].join(' ');
}

it('the README shows the figures of the replay', async () => {
  const rows = [...readme.matchAll(/^ +(?<row>\d+ .*%.*)$/gmu)].map(({ groups }) =>
    (groups?.['row'] ?? '').split(/\s+/u).slice(0, 8).join(' '),
  );
  expect(rows).toHaveLength(3);
  expect(rows).toEqual(await replayedSteps([0, 8, 23], { negatives_require_positive: true }));
});

it('the page about probing has the tables of npm run bench:probe', async () => {
  expect(pageWith(probing, await probeTables()), 'npm run bench:probe -- --write').toBe(probing);
});
