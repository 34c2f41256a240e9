/**
 * Checks that recorded rewards are those of their facts: an import shows and replays nothing that no recipe gives. The
 * rows of a file come from elsewhere, so their rewards are composed again.
 */
import { BUILT_IN, type Composers, type Recipe, rewardRange } from '../families/composers.ts';
import type { GroupVotes } from '../family/family.ts';
import type { BaseScore } from '../family/score.ts';
import { REWARD_LIMIT } from '../scoring/advantages.ts';
import { persistentReward } from './persistent-reward.ts';
import type { RunFileRollout } from './run-file.ts';

/** A row of a file, with the recipe of its digest. */
export type RowToCheck = { readonly rollout: RunFileRollout; readonly recipe: Recipe };

/**
 * The positions of the rows whose reward or components no composition of their facts gives. A recipe that compares
 * within the group is composed alone and with each vote of the group as its maximum, because the file does not say which
 * samples were scored together. A row without a reward holds no number that could be wrong.
 *
 * @param group rows of one step and group, of one family.
 * @param isWhole whether these are all rows of the group. Of a part, a reward that depends on the others only has to be
 *   within the range of its recipe.
 */
export function differingRows(group: readonly RowToCheck[], isWhole: boolean): ReadonlySet<number> {
  const maxima = new Map<Recipe, readonly GroupVotes[]>();
  return new Set(
    group.flatMap(({ rollout, recipe }, position) => {
      if (hasOwnFigures(rollout, recipe) && isComposed(rollout, recipe, null)) return [];
      const known = maxima.get(recipe) ?? possibleMaxima(group, recipe);
      maxima.set(recipe, known);
      const isOfGroup = known.some((votes) => isComposed(rollout, recipe, votes));
      const isPossible = isOfGroup || (!isWhole && known.length > 0 && isWithinRange(rollout, recipe));
      return hasOwnFigures(rollout, recipe) && isPossible ? [] : [position];
    }),
  );
}

/** Each vote of the group's rows as the maximum; empty if the recipe does not compare within the group. */
function possibleMaxima(group: readonly RowToCheck[], recipe: Recipe): GroupVotes[] {
  const votes = new Set<number>();
  for (const { rollout } of group) {
    const vote = composed(() => composers.of(recipe).groupVote(rollout.facts, recipe));
    if (typeof vote === 'number') votes.add(vote);
    else if (vote !== null) votes.add(vote.least).add(vote.most);
  }
  return [...votes].map((max) => ({ max }));
}

const composers: Composers = BUILT_IN;

function isComposed({ facts, reward, components }: RunFileRollout, recipe: Recipe, group: GroupVotes): boolean {
  const score = composed<BaseScore>(() => composers.compose(facts, recipe, group));
  if (score === null || (reward !== null && reward !== score.reward)) return false;
  if (Math.abs(reward ?? 0) > REWARD_LIMIT) return false;
  return Object.entries(components).every(
    ([name, value]) =>
      value === null || (Object.hasOwn(score.components, name) && score.components[name]?.value === value),
  );
}

function isWithinRange({ reward, components }: RunFileRollout, recipe: Recipe): boolean {
  const [least, most] = rewardRange(recipe);
  const isReward = reward === null || (reward >= (least ?? -REWARD_LIMIT) && reward <= (most ?? REWARD_LIMIT));
  return isReward && Object.values(components).every((value) => value === null || Math.abs(value) <= REWARD_LIMIT);
}

/** Whether the other numbers of a row that its facts give are theirs. */
function hasOwnFigures({ facts, counts, rubric_set, judgments, cached }: RunFileRollout, recipe: Recipe): boolean {
  if (cached > judgments.length) return false;
  const persistent = counts?.persistent_reward;
  if (persistent === undefined) return true;
  return rubric_set !== undefined && composed(() => persistentReward(facts, recipe, rubric_set)) === persistent;
}

/** `null` = the facts cannot be composed, as those with weights whose sum is not finite. */
function composed<T>(compose: () => T): T | null {
  try {
    return compose();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
