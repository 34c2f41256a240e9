/** The advantage and the rank of each sample within its group, from the recorded rewards. */
import type { AdvantagePreset } from '../../../src/scoring/advantage-presets.ts';
import { advantages } from '../../../src/scoring/advantages.ts';
import type { RunRollout } from '../../../src/wire/runs.ts';

export type Standing = {
  /** `null` = the sample is unscored, and the trainer leaves it out. */
  readonly advantage: number | null;
  /** 1 is best; equal rewards share the better rank; `null` = unscored. */
  readonly rank: number | null;
};

export type GroupStandings = {
  /** In the order of the rows. */
  readonly samples: readonly Standing[];
  readonly mean: number | null;
  readonly std: number | null;
  /** Why all advantages are 0; `null` = they are not. */
  readonly degenerate: string | null;
};

/** @param rows the latest attempts of all samples of one group. */
export function groupStandings(rows: readonly Pick<RunRollout, 'reward'>[], preset: AdvantagePreset): GroupStandings {
  const rewards = rows.map(({ reward }) => reward);
  const result = advantages(rewards, preset);
  if (!result.ok) throw new RangeError('groupStandings: recorded rewards without advantages');
  const { value: group } = result;
  return {
    samples: rewards.map((reward, position) => ({
      advantage: reward === null ? null : (group.advantages[position]?.advantage ?? null),
      rank: reward === null ? null : 1 + rewards.filter((other) => other !== null && other > reward).length,
    })),
    mean: group.mean,
    std: group.std,
    degenerate: group.degenerate === null ? null : DEGENERATE_WORDS[group.degenerate.reason],
  };
}

const DEGENERATE_WORDS = {
  no_valid_reward: 'no sample has a reward',
  too_few_valid: 'too few samples have a reward',
  all_equal: 'all rewards are equal',
  spread_too_small: 'the rewards are nearly equal',
} as const;
