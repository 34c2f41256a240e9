/**
 * Contributions: a scored reward as a sum of named numbers. Trainers that normalise each component of a reward (GDPO)
 * and trainers that check the sum (NeMo RL) read them. The names are the same for every score of a recipe.
 */
import type { BaseScore } from './score.ts';

/** A score that has a reward: an unscored one has no contributions, and the types say so. */
export type WithReward<S extends BaseScore> = S & { readonly reward: number };

/** Numbers in reward units by name, which add up to the reward. */
export type Contributions = Readonly<Record<string, number>>;

/**
 * The contributions of components to a scored reward, after gates, penalties and scale.
 *
 * @param names The components of the sum.
 * @param rules The rules of the recipe that can replace the whole sum. Such a reward is the contribution of its rule, and
 *   every component contributes 0.
 */
export function contributionsOf(
  score: WithReward<BaseScore>,
  names: readonly string[],
  rules: readonly string[] = [],
): Contributions {
  const replaced = score.decided_by !== null && rules.includes(score.decided_by);
  return Object.fromEntries([
    ...names.map((name) => [name, replaced ? 0 : (score.components[name]?.contribution ?? 0)]),
    ...rules.map((rule) => [rule, score.decided_by === rule ? score.reward : 0]),
  ]);
}

/** The one contribution of a reward that is no sum. */
export const WHOLE_REWARD = 'combined';

/** Larger differences are an error of the family; smaller ones are rounding. Relative to the largest contribution. */
const ROUNDING = 1e-9;
/** Numbers below this have fewer digits than others, so their rounding has no relative limit. */
const SMALLEST_NORMAL = 2 ** -1022;
const ATTEMPTS = 4;

/**
 * Moves the rounding error of the sum into the largest contribution, so that the numbers, added in their order, give
 * the reward as exactly as numbers of their size can: 0 exactly, and any other reward within the last digit of the
 * largest contribution. Without this, a reward of 0 can differ from its sum by 1e-16, which no relative tolerance
 * allows.
 *
 * @throws RangeError if the contributions do not add up to the reward.
 */
export function settledContributions(contributions: Contributions, reward: number): Contributions {
  const entries = Object.entries(contributions).map(([name, value]) => ({ name, value }));
  const [first, ...others] = entries;
  if (first === undefined) throw new RangeError('contributions: a reward without a contribution');
  const largest = others.reduce((one, other) => (Math.abs(other.value) > Math.abs(one.value) ? other : one), first);
  const sum = () => entries.reduce((total, { value }) => total + value, 0);
  if (Math.abs(reward - sum()) > ROUNDING * Math.max(Math.abs(largest.value), Math.abs(reward)) + SMALLEST_NORMAL) {
    throw new RangeError('contributions: the contributions do not add up to the reward');
  }
  for (let attempt = 0; attempt < ATTEMPTS && sum() !== reward; attempt++) largest.value += reward - sum();
  // The steps of the largest number can be coarser than the error. The last number is added to a fixed sum, so it can
  // always bring the sum to 0.
  const last = entries.findLast(({ value }) => value !== 0);
  if (last !== undefined && reward === 0) last.value -= sum();
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
}
