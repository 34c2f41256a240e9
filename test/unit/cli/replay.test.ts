/** `citeward replay`: the request of its flags, and its plot. */

import { describe, expect, it } from 'vitest';
import { readReplayRequest } from '../../../cli/commands/replay/options.ts';
import { textPlot } from '../../../cli/commands/replay/plot.ts';
import { replayCommand } from '../../../cli/commands/replay/run.ts';
import { UsageError } from '../../../cli/shared/exit.ts';
import { readFlags } from '../../../cli/shared/flags.ts';

async function asked(...args: string[]) {
  return (await readReplayRequest(readFlags('replay', replayCommand.flags, args))).input;
}

describe('the request of the flags', () => {
  it('changes fields of the recorded recipe, or of another', async () => {
    expect(await asked('run', '--set', 'citation_weight=0.5', '--set', 'non_stop_penalty.enabled=true')).toEqual({
      recipe: { set: { citation_weight: 0.5, non_stop_penalty: { enabled: true } } },
    });
    expect(await asked('run', '--recipe', 'dr-tulu')).toEqual({ recipe: 'dr-tulu' });
    expect(await asked('run', '--recipe', 'dr-tulu', '--set', 'a=text')).toEqual({
      recipe: { base: 'dr-tulu', a: 'text' },
    });
  });

  it('takes the other flags', async () => {
    expect(await asked('run', '--sweep', 'w=0:1:0.5', '--advantages', 'verl', '--steps', '3:')).toEqual({
      sweep: { field: 'w', values: [0, 0.5, 1] },
      advantages: 'verl',
      steps: { from: 3 },
    });
    expect(await asked('run', '--judge', 'other', '--replicate', '2', '--share', '10', '--seed', '7')).toEqual({
      judge: 'other',
      replicate: 2,
      sample: { share: 0.1, seed: 7 },
    });
    expect(await asked('run', '--judge', 'other', '--fill')).toEqual({ judge: 'other', fill: true });
  });

  it('takes other rubrics: of a step, or under other rules', async () => {
    expect(await asked('run', '--rubrics-at', '3')).toEqual({ rubrics: { at_step: 3 } });
    expect(await asked('run', '--rubrics-rules', 'dr-tulu', '--fill')).toEqual({
      rubrics: { rules: 'dr-tulu' },
      fill: true,
    });
    const rules = { cap: { rule: 'std', most: 3 } };
    expect(await asked('run', '--rubrics-rules', JSON.stringify(rules))).toEqual({ rubrics: { rules } });
  });

  it.each([
    [[]],
    [['--rubrics-at', '-1']],
    [['--rubrics-at', '1', '--rubrics-rules', 'dr-tulu']],
    [['--rubrics-at', '1', '--judge', 'other']],
    [['--rubrics-rules', 'dr-tlu']],
    [['--rubrics-rules', '{}']],
    [['--rubrics-rules', '{"when": "same_step"}']],
    [['--sweep', 'w']],
    [['--sweep', 'w=0:1:0.5', '--fill']],
    [['--set', 'w=1', '--picture', 'x.svg']],
    [['--set', 'w=1', '--samples']],
    [['--set', 'w=1', '--seed', '5']],
    [['--set', 'w=1', '--share', '0']],
    [['--set', 'w=1', '--replicate', '1']],
    [['--set', 'w=1', '--steps', '5']],
    [['--set', 'w=1', '--steps', '5:4']],
    [['--set', 'w=1', '--advantages', 'ppo']],
  ])('refuses %j', async (args) => {
    await expect(asked('run', ...args)).rejects.toThrow(UsageError);
  });
});

describe('textPlot', () => {
  it('puts the highest value on the first line and the lowest on the last', () => {
    const points = [0, 1, 2].map((n) => ({ label: String(n), value: n * n }));
    const lines = textPlot('title', points, 80);
    expect(lines[0]).toBe('title');
    expect(lines[1]).toBe('4 |            *');
    expect(lines.at(-2)).toBe('0 |*');
    expect(lines.at(-1)).toBe('   0     1     2');
  });

  it('leaves out undefined values and fits into narrow terminals', () => {
    expect(textPlot('t', [{ label: 'a', value: null }], 80)).toEqual(['t: not defined']);
    const many = Array.from({ length: 60 }, (_, n) => ({ label: String(n), value: n % 7 === 0 ? null : n }));
    const lines = textPlot('t', many, 66);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(68);
    expect(lines.join('').match(/\*/g)).toHaveLength(51);
  });

  it('draws one line for equal values', () => {
    expect(
      textPlot(
        't',
        [1, 1].map((value) => ({ label: 'x', value })),
        40,
      ),
    ).toHaveLength(3);
  });
});
