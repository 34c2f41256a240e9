/** What `citeward runs show` says of a step besides its table. */
import { expect, it } from 'vitest';
import { mixedJudgesText } from '../../../cli/commands/runs/render.ts';

it('names the judges of single samples if there is more than one', () => {
  expect(mixedJudgesText({ step: 3 })).toEqual([]);
  expect(mixedJudgesText({ step: 3, judged_by: { qwen: 4 } })).toEqual([]);
  expect(mixedJudgesText({ step: 3, judged_by: { llama: 4, qwen: 28 } })).toEqual([
    'step 3: single samples were judged by llama (4), qwen (28): a group may mix judges',
  ]);
});
