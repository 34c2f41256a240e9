/** Group advantages against the formulas of slime, verl and open-instruct, every row. */
import { expect, it } from 'vitest';
import { ADVANTAGE_PRESETS, type AdvantageOptions } from '../../../src/scoring/advantage-presets.ts';
import { advantages, type GroupAdvantages } from '../../../src/scoring/advantages.ts';
import { GOLDEN_TOLERANCE, type GoldenRow, goldenRows } from '../golden.ts';

type Input = {
  rewards: number[];
  group_size?: number;
  rollout_batch_size?: number;
  index?: string[];
  epsilon?: number;
};

function groupOf(rewards: readonly number[], options: AdvantageOptions): GroupAdvantages {
  const result = advantages(rewards, options);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

/** Which group each sample is in, as the trainer splits its batch. */
function groupKeys(input: Input): readonly string[] {
  const { rewards, group_size: size, rollout_batch_size: groups, index } = input;
  if (index !== undefined) return index;
  // slime takes a batch of another length than it expects as one group.
  if (size === undefined || (groups !== undefined && rewards.length !== size * groups)) return rewards.map(() => 'all');
  return rewards.map((_, n) => String(Math.floor(n / size)));
}

function perGroup<T>(input: Input, of: (rewards: readonly number[]) => readonly T[]): (T | undefined)[] {
  const keys = groupKeys(input);
  const output: (T | undefined)[] = input.rewards.map(() => undefined);
  for (const key of new Set(keys)) {
    const positions = keys.flatMap((other, n) => (other === key ? [n] : []));
    const values = of(positions.map((n) => input.rewards[n] ?? Number.NaN));
    positions.forEach((position, n) => {
      output[position] = values[n];
    });
  }
  return output;
}

const PRESETS: Readonly<Record<string, keyof typeof ADVANTAGE_PRESETS>> = {
  'open_instruct.centered': 'open-instruct-centered',
  'open_instruct.standard': 'open-instruct',
  'slime.centered': 'slime-centered',
  'slime.grpo': 'slime',
  'verl.grpo': 'verl',
  'verl.grpo_no_std': 'verl-no-std',
};

const isKept = (group: GroupAdvantages) => group.degenerate?.dropped_by_filter !== true;

function ours(row: GoldenRow): unknown {
  const input = row.input as Input;
  switch (row.fn) {
    case 'slime.check_reward_nonzero_std':
      return isKept(groupOf(input.rewards, 'slime'));
    case 'open_instruct.nonzero_std_filter': {
      const kept = perGroup(input, (rewards) => rewards.map(() => isKept(groupOf(rewards, 'open-instruct'))));
      return kept.flatMap((keep, n) => (keep === true ? [n] : []));
    }
    default: {
      const preset = PRESETS[row.fn];
      if (preset === undefined) throw new Error(`no preset for ${row.fn}`);
      const rule = ADVANTAGE_PRESETS[preset];
      const options = input.epsilon === undefined ? preset : { ...rule, epsilon: input.epsilon };
      return perGroup(input, (rewards) => groupOf(rewards, options).advantages.map(({ advantage }) => advantage));
    }
  }
}

const ROWS = goldenRows('grpo.jsonl');

it('has all rows', () => {
  expect(ROWS).toHaveLength(33);
});

it.each(ROWS.map((row) => [row.id, row] as const))('%s', (_id, row) => {
  const actual = ours(row);
  if (!Array.isArray(row.output) || !Array.isArray(actual)) {
    expect(actual, row.note).toEqual(row.output);
    return;
  }
  expect(actual, row.note).toHaveLength(row.output.length);
  const furthest = Math.max(...row.output.map((expected, n) => Math.abs(expected - actual[n])));
  expect(furthest, row.note).toBeLessThanOrEqual(GOLDEN_TOLERANCE);
});

it('has verl epsilon as the rows with the default have it', () => {
  expect(ADVANTAGE_PRESETS.verl.epsilon).toBe(1e-6);
});
