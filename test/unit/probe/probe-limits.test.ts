import { expect, it } from 'vitest';
import { planProbe } from '../../../src/probe/plan-probe.ts';
import type { ProbeRow } from '../../../src/probe/probe-row.ts';
import { LIGHTHOUSE, recipeOf } from './rows.ts';

const sentences = (count: number) => Array.from({ length: count }, (_, n) => `Dam ${n} is high.`);

function dams(sources: number, said: number): ProbeRow {
  const prompt = {
    question: 'How high is it?',
    sources: sentences(sources).map((text, n) => ({ id: `S${n}`, text })),
    positive_rubrics: [{ description: 'States how high the dam is' }],
    reference: sentences(said).join(' '),
  };
  return { id: null, prompt, samples: [] };
}

async function problems(rows: readonly ProbeRow[]): Promise<string[]> {
  const planned = planProbe({ rows, recipe: await recipeOf('refiner-rl-balanced'), seed: 0 });
  return planned.ok ? [] : planned.error.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

it('refuses rows whose answers would be long, and names the first one with which they are', async () => {
  expect(await problems([LIGHTHOUSE, dams(30, 30)])).toEqual([]);
  expect(await problems([LIGHTHOUSE, dams(500, 500), LIGHTHOUSE])).toEqual([
    'rows.1: with this row, the characters of all canned answers are more than 4194304; send fewer rows at a time, or shorter texts',
  ]);
});

it('refuses rows that would take long to compare', async () => {
  expect(await problems([dams(2_000, 2_500)])).toEqual([
    expect.stringMatching(
      /^rows\.0: with this row, the comparisons of criteria and reference with the sources are more/,
    ),
  ]);
});
