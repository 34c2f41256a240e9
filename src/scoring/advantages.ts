/**
 * Group advantages (REWARDS.md section 6): the rewards of one group in, one advantage each out, by the rule of the
 * named trainer. Only + - * / and sqrt, in double precision, over the sorted rewards with compensated sums: the same
 * bits on every runtime and in any order of the samples.
 */
import type { InputProblem } from '../input-problem.ts';
import { type AdvantageOptions, type AdvantageRule, type MarginBaseline, ruleOf } from './advantage-presets.ts';

export type SampleAdvantage = {
  readonly advantage: number;
  /** Unscored: to be left out of the loss. */
  readonly masked: boolean;
};

/** Why a group gives no signal, or the trainer would not train on it. */
export type Degenerate = {
  /**
   * `spread_too_small`: the rewards differ, by less than the trainer's filter asks; their advantages are given all the
   * same. With any other reason all advantages are 0.
   */
  readonly reason: 'no_valid_reward' | 'too_few_valid' | 'all_equal' | 'spread_too_small';
  /** The preset's dynamic-sampling filter would drop the group, where it is switched on. */
  readonly dropped_by_filter: boolean;
};

export type GroupAdvantages = {
  /** In the order of the rewards. */
  readonly advantages: readonly SampleAdvantage[];
  /** Of the scored rewards; `null` without any. verl's group of one has mean 0 and std 1. */
  readonly mean: number | null;
  /** Over n where the rule scales by that, else over n - 1; `null` where that is undefined. */
  readonly std: number | null;
  /** Scored rewards. */
  readonly valid: number;
  readonly degenerate: Degenerate | null;
};

export type AdvantagesResult =
  | { readonly ok: true; readonly group: GroupAdvantages }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** Far above any reward, and low enough that no sum or difference of a group can overflow. */
export const REWARD_LIMIT = 1e100;
/** open-instruct's margin never asks for more than this share of the largest reward. */
const MARGIN_CAP = 0.9;

/**
 * Advantages of the samples of one group (the rollouts of one prompt).
 *
 * A `null` reward does not vote: it is left out of mean, std and count, and its advantage is 0, `masked`. Too few
 * scored rewards for the rule, or all of them equal: every advantage is 0 and `degenerate` says why. A lone scored
 * sample in a larger group is too few under every preset; verl's rule for a group of one holds for a group of one.
 *
 * An empty group, a reward that is not finite or beyond REWARD_LIMIT in size, or a rule out of its bounds is an input
 * problem, never a throw; HTTP answers 422.
 */
export function advantages(rewards: readonly (number | null)[], options: AdvantageOptions = 'mean'): AdvantagesResult {
  const rule = ruleOf(options);
  const problems = [...rewardProblems(rewards), ...ruleProblems(rule, options)];
  if (problems.length > 0) return { ok: false, problems };

  const scored = rewards.filter((reward) => reward !== null).sort((a, b) => a - b);
  const only = scored[0];
  if (rewards.length === 1 && only !== undefined && rule.singleton === 'mean_0_std_1') {
    const advantage = rule.scale === 'none' ? only : only / (1 + rule.epsilon);
    const group = { advantages: [{ advantage, masked: false }], mean: 0, std: 1, valid: 1, degenerate: null };
    return { ok: true, group };
  }

  const spread = spreadOf(scored);
  const degenerate = degeneracy(scored, spread, rule);
  const std = spread === null ? null : rule.scale === 'population_std' ? spread.population : spread.unbiased;
  const signal = degenerate === null || degenerate.reason === 'spread_too_small';
  const advantageOf = (reward: number): number => {
    if (!signal || spread === null) return 0;
    const difference = reward - baselineOf(spread.mean, rule.baseline);
    return rule.scale === 'none' || std === null ? difference : difference / (std + rule.epsilon);
  };
  return {
    ok: true,
    group: {
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
  const isPositive = (value: number) => value > 0 && value <= REWARD_LIMIT;
  if (rule.scale !== 'none') expect(isPositive(rule.epsilon), ['epsilon'], 'a finite number above 0');
  expect(Number.isInteger(rule.min_valid) && rule.min_valid >= 1, ['min_valid'], 'an integer of at least 1');
  if (rule.filter !== null) expect(rule.filter.above >= 0, ['filter', 'above'], 'a number of at least 0');
  if (rule.baseline !== 'mean') {
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

type Spread = {
  readonly mean: number;
  readonly population: number;
  /** Undefined for one sample. */
  readonly unbiased: number | null;
};

function spreadOf(sorted: readonly number[]): Spread | null {
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (lowest === undefined || highest === undefined) return null;
  const count = sorted.length;
  // A mean of equal numbers may round away from them, and a spread of 0 must come out as 0.
  const mean = lowest === highest ? lowest : sum(sorted) / count;
  const furthest = Math.max(highest - mean, mean - lowest);
  if (furthest === 0) return { mean, population: 0, unbiased: count > 1 ? 0 : null };
  // In units of the largest deviation, so that no square underflows.
  const squares = sum(sorted.map((reward) => ((reward - mean) / furthest) * ((reward - mean) / furthest)));
  return {
    mean,
    population: furthest * Math.sqrt(squares / count),
    unbiased: furthest * Math.sqrt(squares / (count - 1)),
  };
}

/** Neumaier's compensated sum. */
function sum(values: readonly number[]): number {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

function degeneracy(sorted: readonly number[], spread: Spread | null, rule: AdvantageRule): Degenerate | null {
  const dropped = isDropped(spread, rule);
  if (sorted.length === 0) return { reason: 'no_valid_reward', dropped_by_filter: dropped };
  if (sorted.length < rule.min_valid) return { reason: 'too_few_valid', dropped_by_filter: dropped };
  if (sorted[0] === sorted.at(-1)) return { reason: 'all_equal', dropped_by_filter: dropped };
  return dropped ? { reason: 'spread_too_small', dropped_by_filter: true } : null;
}

/** A group whose std is undefined counts as one without spread. */
function isDropped(spread: Spread | null, { filter }: AdvantageRule): boolean {
  if (filter === null) return false;
  const std = spread === null ? null : filter.std === 'population' ? spread.population : spread.unbiased;
  return !(std !== null && std > filter.above);
}
