/**
 * Computes group advantages: one advantage for each reward of a group, by the rule of a named trainer. Uses only + - *
 * / and sqrt in double precision, over sorted rewards with compensated sums, so every runtime and every order of the
 * samples gives the same bits.
 */
import type { InputProblem } from '../input-problem.ts';
import type { Result } from '../result.ts';
import { type AdvantageOptions, type AdvantageRule, type MarginBaseline, ruleOf } from './advantage-presets.ts';
import { othersSpreads, type Spread, spreadOf } from './spread.ts';

export type SampleAdvantage = {
  readonly advantage: number;
  /** Whether the sample has no reward; a trainer must then leave it out of the loss. */
  readonly masked: boolean;
};

/** Why a group gives no signal, or the trainer would skip it. */
export type Degenerate = {
  /**
   * `spread_too_small`: the rewards differ by less than the trainer's filter requires; advantages are still computed.
   * For any other reason all advantages are 0.
   */
  readonly reason: 'no_valid_reward' | 'too_few_valid' | 'all_equal' | 'spread_too_small';
  /** The preset's dynamic-sampling filter, if enabled, would drop the group. */
  readonly dropped_by_filter: boolean;
};

/** The advantages of a group, its mean and standard deviation, and why it has no signal, if so. */
export type GroupAdvantages = {
  /** One advantage for each reward, in order. */
  readonly advantages: readonly SampleAdvantage[];
  /** Mean of the scored rewards; `null` without any. verl's group of one has mean 0 and std 1. */
  readonly mean: number | null;
  /**
   * Standard deviation of the scored rewards: over n if the rule scales by the population std, else over n - 1; `null`
   * if undefined.
   */
  readonly std: number | null;
  /** Number of scored rewards. */
  readonly valid: number;
  readonly degenerate: Degenerate | null;
};

/** Largest absolute reward; low enough that no sum or difference of a group overflows. */
export const REWARD_LIMIT = 1e100;
/** Smallest epsilon; high enough that no reward divided by it overflows. */
const LEAST_EPSILON = 1 / REWARD_LIMIT;
/** open-instruct caps its margin at this share of the largest reward. */
const MARGIN_CAP = 0.9;

/**
 * Advantages of the samples of one group (the rollouts of one prompt).
 *
 * A `null` reward is left out of mean, std and count; its advantage is 0 and `masked`. With too few scored rewards for
 * the rule, or only equal ones, every advantage is 0 and `degenerate` gives the reason. One scored sample in a larger
 * group is too few under every preset; verl's rule for a group of one applies only to a group of one.
 *
 * An empty group, a reward that is not finite or exceeds REWARD_LIMIT, and a rule out of its bounds are input problems
 * (HTTP 422); nothing throws.
 */
export function advantages(
  rewards: readonly (number | null)[],
  options: AdvantageOptions = 'mean',
): Result<GroupAdvantages, readonly InputProblem[]> {
  const rule = ruleOf(options);
  const problems = [...rewardProblems(rewards), ...ruleProblems(rule, options)];
  if (problems.length > 0) return { ok: false, error: problems };

  const scored = rewards.filter((reward) => reward !== null).sort((a, b) => a - b);
  const only = scored[0];
  if (rewards.length === 1 && only !== undefined && rule.singleton === 'mean_0_std_1') {
    const advantage = rule.scale === 'none' ? only : only / (1 + rule.epsilon);
    const group = { advantages: [{ advantage, masked: false }], mean: 0, std: 1, valid: 1, degenerate: null };
    return { ok: true, value: group };
  }

  const spread = spreadOf(scored);
  const degenerate = degeneracy(scored, spread, rule);
  const std = spread === null ? null : rule.scale === 'population_std' ? spread.population : spread.unbiased;
  const signal = degenerate === null || degenerate.reason === 'spread_too_small';
  const { baseline } = rule;
  // The scored rewards in the order of the samples, as the spreads of the others are.
  const others = baseline === 'leave_one_out' && signal ? othersSpreads(rewards.filter((one) => one !== null)) : [];
  let next = 0;
  const advantageOf = (reward: number): number => {
    if (!signal || spread === null) return 0;
    if (baseline === 'leave_one_out') {
      const { mean = spread.mean, unbiased = null } = others[next++] ?? {};
      const isDivided = rule.scale !== 'none' && unbiased !== null && unbiased > 0;
      return isDivided ? (reward - mean) / (unbiased + rule.epsilon) : reward - mean;
    }
    const difference = reward - baselineOf(spread.mean, baseline);
    return rule.scale === 'none' || std === null ? difference : difference / (std + rule.epsilon);
  };
  return {
    ok: true,
    value: {
      advantages: rewards.map((reward) => ({
        advantage: reward === null ? 0 : advantageOf(reward),
        masked: reward === null,
      })),
      mean: spread === null ? null : spread.mean,
      std,
      valid: scored.length,
      degenerate,
    },
  };
}

function rewardProblems(rewards: readonly (number | null)[]): InputProblem[] {
  if (rewards.length === 0) return [{ path: ['rewards'], message: 'expected at least one sample' }];
  return rewards.flatMap((reward, n): InputProblem[] => {
    if (reward === null || Math.abs(reward) <= REWARD_LIMIT) return [];
    return [{ path: ['rewards', n], message: `expected a finite number of at most ${REWARD_LIMIT} in size, or null` }];
  });
}

function ruleProblems(rule: AdvantageRule, options: AdvantageOptions): InputProblem[] {
  const problems: InputProblem[] = [];
  const expect = (holds: boolean, field: readonly string[], expected: string) => {
    if (!holds) problems.push({ path: ['options', ...field], message: `expected ${expected}` });
  };
  const isDivisor = (value: number) => value >= LEAST_EPSILON && value <= REWARD_LIMIT;
  const isPositive = (value: number) => value > 0 && value <= REWARD_LIMIT;
  if (rule.scale !== 'none')
    expect(isDivisor(rule.epsilon), ['epsilon'], `a number from ${LEAST_EPSILON} to ${REWARD_LIMIT}`);
  if (rule.baseline === 'leave_one_out') {
    expect(rule.scale !== 'population_std', ['scale'], 'none or unbiased_std with the baseline leave_one_out');
  }
  expect(Number.isInteger(rule.min_valid) && rule.min_valid >= 1, ['min_valid'], 'an integer of at least 1');
  if (rule.filter !== null) expect(rule.filter.above >= 0, ['filter', 'above'], 'a number of at least 0');
  if (typeof rule.baseline === 'object') {
    const within = typeof options === 'object' && 'preset' in options ? [] : ['baseline'];
    const { bias, verification_reward } = rule.baseline;
    expect(bias >= 0 && bias <= 1, [...within, 'bias'], 'a number from 0 to 1');
    expect(isPositive(verification_reward), [...within, 'verification_reward'], 'a finite number above 0');
  }
  return problems;
}

function baselineOf(mean: number, baseline: 'mean' | MarginBaseline): number {
  if (baseline === 'mean') return mean;
  const { bias, verification_reward } = baseline;
  return Math.max(Math.min(mean + bias * verification_reward, MARGIN_CAP * verification_reward), mean);
}

function degeneracy(sorted: readonly number[], spread: Spread | null, rule: AdvantageRule): Degenerate | null {
  const dropped = isDropped(spread, rule);
  if (sorted.length === 0) return { reason: 'no_valid_reward', dropped_by_filter: dropped };
  if (sorted.length < rule.min_valid) return { reason: 'too_few_valid', dropped_by_filter: dropped };
  if (sorted[0] === sorted.at(-1)) return { reason: 'all_equal', dropped_by_filter: dropped };
  return dropped ? { reason: 'spread_too_small', dropped_by_filter: true } : null;
}

/** A group with an undefined std counts as one without spread. */
function isDropped(spread: Spread | null, { filter }: AdvantageRule): boolean {
  if (filter === null) return false;
  const std = spread === null ? null : filter.std === 'population' ? spread.population : spread.unbiased;
  return !(std !== null && std > filter.above);
}
