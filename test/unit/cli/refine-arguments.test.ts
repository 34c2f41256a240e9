/** The requests that `citeward refine` makes of rows and flags, and refused flags. */

import { describe, expect, it } from 'vitest';
import { applyRefineOptions, readRefineOptions } from '../../../cli/commands/refine/options.ts';
import { refineCommand } from '../../../cli/commands/refine/run.ts';
import { UsageError } from '../../../cli/shared/exit.ts';
import { readFlags } from '../../../cli/shared/flags.ts';
import { refineFields } from '../../../cli/shared/row-fields.ts';
import { readScoringOptions } from '../../../cli/shared/scoring-flags.ts';
import { refineRequestSchema } from '../../../src/wire/refine.ts';

const ROW = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>288 km.</snippet>',
  response: '<answer>x</answer>',
  finish_reason: 'stop',
  positive_rubrics: ['Says how long'],
};

async function requestOf(args: readonly string[], row: Readonly<Record<string, unknown>> = ROW) {
  const flags = readFlags('refine', refineCommand.flags, args);
  return refineRequestSchema.parse(
    applyRefineOptions(refineFields(row, await readScoringOptions(flags)), readRefineOptions(flags)),
  );
}

describe('a row that was made for scoring', () => {
  it('loses the fields about a response, and is unscored without a recipe', async () => {
    const request = await requestOf([]);
    expect(request).not.toHaveProperty('response');
    expect(request).not.toHaveProperty('positive_rubrics');
    expect(request).toMatchObject({ n: 1, evidence: 'lexical', on_invented_citation: 'flag' });
  });

  it.each([
    ['--recipe', 'refiner-rl-balanced', 'refiner-rl-balanced'],
    ['--judge', 'lexical', 'refiner-guarded'],
    ['--set', 'citation_weight=1', { base: 'refiner-guarded', citation_weight: 1 }],
  ])('%s %s turns scoring on', async (flag, value, recipe) => {
    expect(await requestOf([flag, value])).toMatchObject({ recipe, positive_rubrics: ROW.positive_rubrics });
  });

  it('is scored by its own recipe', async () => {
    expect(await requestOf([], { ...ROW, recipe: 'refiner-rl-balanced' })).toMatchObject({
      ...{ recipe: 'refiner-rl-balanced', positive_rubrics: ROW.positive_rubrics },
    });
  });
});

describe('flags', () => {
  it('win over the row, field by field', async () => {
    const args = ['--n', '4', '--temperature', '0.5', '--seed', '7', '--mode', 'full', '--abort-invented'];
    const row = { ...ROW, n: 2, sampling: { temperature: 2, top_p: 0.9 } };
    expect(await requestOf(args, row)).toMatchObject({
      ...{ n: 4, mode: 'full', on_invented_citation: 'abort' },
      sampling: { temperature: 0.5, top_p: 0.9, seed: 7, max_tokens: 1_024 },
    });
  });

  it('leave a sampling that is no object for the schema to refuse', async () => {
    await expect(requestOf(['--seed', '7'], { ...ROW, sampling: 'greedy' })).rejects.toThrow('sampling');
  });

  it.each([
    ['--n', '0'],
    ['--n', '65'],
    ['--temperature', '2.5'],
    ['--temperature', '1e1'],
    ['--top-p', '0'],
    ['--seed=-1'],
    ['--mode', 'half'],
  ])('%s %s is refused', (...args) => {
    expect(() => readRefineOptions(readFlags('refine', refineCommand.flags, args))).toThrow(UsageError);
  });
});
