/** Computes the long-trace reward from facts, a recipe and the votes of the group. Pure. */
import { type Contributions, contributionsOf, WHOLE_REWARD, type WithReward } from '../../family/contributions.ts';
import type { GroupVote, GroupVotes, VoteRange } from '../../family/family.ts';
import type { Component } from '../../family/score.ts';
import type { LongTraceFacts } from './facts.ts';
import type { LongTraceRecipe } from './recipe.ts';
import type { LongTraceScore } from './reply.ts';
import { longTraceContributions, longTraceReward } from './reward.ts';

/** With `punish_ill_formed` a truncated or ill-formed response earns 0 and is not judged. */
export function isPunished(
  { well_formed, finish_reason }: Pick<LongTraceFacts, 'well_formed' | 'finish_reason'>,
  recipe: LongTraceRecipe,
): boolean {
  return recipe.punish_ill_formed && (!well_formed || finish_reason !== 'stop');
}

/** Whether the outcome can change the reward. Only `plain` ignores an outcome of weight 0. */
export function readsOutcome({ variant, eta }: LongTraceRecipe): boolean {
  return variant !== 'plain' || eta < 1;
}

/**
 * The rubric share u that the recipe reads, [0, 1]; `null` if the row has neither entities nor chunks. A row with gold
 * chunks and no entities is scored by its chunks under every variant.
 */
function rubricShare({ entities, chunks }: LongTraceFacts, recipe: LongTraceRecipe): number | null {
  if (recipe.variant === 'chunks' || entities === null) return chunks;
  // Only the LongTraceRL adapter accepts an empty list, for which the public server pays 0.
  return entities.total === 0 ? 0 : entities[recipe.text] / entities.total;
}

const UNKNOWN_VOTE = 'group_vote_unknown';

/** The range of every share. */
const ANY_SHARE: VoteRange = { least: 0, most: 1 };

/**
 * Returns the member's rubric share u, of which the group takes the maximum; `null` = the recipe does not divide by
 * that maximum, or the row has neither entities nor chunks. No judge decides u, so a member votes even if its outcome
 * could not be judged. Wrong answers vote, as in the reference; so do punished ones, whose rubric reward the reference
 * sets to 0.
 */
export function longTraceVote(facts: LongTraceFacts | null, recipe: LongTraceRecipe): GroupVote {
  if (!recipe.normalise_in_group) return null;
  if (facts === null) return ANY_SHARE;
  return isPunished(facts, recipe) ? 0 : rubricShare(facts, recipe);
}

/**
 * Returns the rubric share, divided by the group's maximum.
 * @param max The group's maximum; `null` = the share is not divided.
 */
function dividedShare(share: number, max: number | null): number {
  return max === null || max === 0 ? share : share / max;
}

/**
 * With o the outcome, u the rubric share (`normalise_in_group`: divided by the group's maximum) and eta its weight:
 *
 *     positive_only  0 if o = 0, else (1 - eta) * o + eta * u
 *     negative_only  o if o > 0, else eta * u
 *     plain          (1 - eta) * o + eta * u
 *     chunks         o + eta * u + (1 - eta) * o * u
 *
 * @param group `null` for a rollout that is scored alone: u is not divided, and `details.final` is false.
 * @throws RangeError on a non-finite result.
 */
export function composeLongTrace(facts: LongTraceFacts, recipe: LongTraceRecipe, group: GroupVotes): LongTraceScore {
  const votes = recipe.normalise_in_group ? group : null;
  const range = votes?.unknown ?? { least: votes?.max ?? null, most: votes?.max ?? null };
  const share = rubricShare(facts, recipe);
  const details = {
    rubric_share: share,
    group_max: range.least === range.most ? range.most : null,
    final: !recipe.normalise_in_group || group !== null,
  };
  if (isPunished(facts, recipe)) {
    const nothing: Component = { status: 'scored', value: 0, weight: 0, contribution: 0 };
    return {
      family: 'long-trace',
      reward: 0,
      base: 0,
      status: 'scored',
      reason: null,
      decided_by: 'ill_formed',
      components: { outcome: nothing, rubric: nothing },
      details,
    };
  }
  const { outcome } = facts;
  const lost = outcome.status === 'unscored' && readsOutcome(recipe) ? outcome.reason : null;
  // A missing outcome has no weight, unless it is lost.
  const o = outcome.status === 'scored' ? outcome.observed : 0;
  const largest = dividedShare(share ?? 0, range.least);
  const least = dividedShare(share ?? 0, range.most);
  const u = share !== null && least === largest ? largest : null;
  const parts = longTraceContributions({ outcome: o, rubric: largest }, recipe.variant, recipe.eta);
  const reward = parts.outcome.contribution + parts.rubric.contribution;
  if (!Number.isFinite(reward)) throw new RangeError('composeLongTrace: a non-finite reward; the facts hold one');
  const isOpen = longTraceReward({ outcome: o, rubric: least }, recipe.variant, recipe.eta) !== reward;
  const reason = lost ?? (share === null ? 'nothing_to_score' : isOpen ? UNKNOWN_VOTE : null);
  if (reason !== null) {
    const unscored: Component = { status: 'unscored', value: null, weight: 0, contribution: null, reason };
    return {
      family: 'long-trace',
      reward: null,
      base: null,
      status: 'unscored',
      reason,
      ...(reason === UNKNOWN_VOTE ? { depends_on: [...(votes?.unknown?.members ?? [])] } : {}),
      decided_by: null,
      // Each component's contribution depends on the other component, which is missing.
      components: {
        outcome:
          outcome.status === 'unscored'
            ? { ...unscored, weight: 1 - recipe.eta }
            : { status: 'scored', value: outcome.observed, weight: 1 - recipe.eta, contribution: 0 },
        rubric:
          u === null
            ? { ...unscored, weight: recipe.eta }
            : { status: 'scored', value: u, weight: recipe.eta, contribution: 0 },
      },
      details,
    };
  }
  return {
    family: 'long-trace',
    reward,
    base: reward,
    status: 'scored',
    reason: null,
    decided_by: 'components',
    components: {
      outcome:
        outcome.status === 'scored'
          ? { status: 'scored', value: outcome.observed, ...parts.outcome }
          : { status: 'unscored', value: null, weight: 0, contribution: null, reason: outcome.reason },
      rubric:
        u === null
          ? { status: 'unscored', value: null, weight: parts.rubric.weight, contribution: null, reason: UNKNOWN_VOTE }
          : { status: 'scored', value: u, ...parts.rubric },
    },
    details,
  };
}

/**
 * The contributions of a scored reward. `positive_only` and `negative_only` are no sums of an outcome and a rubric
 * term, so their reward is one contribution. The product of `chunks` is a contribution of its own.
 */
export function longTraceSummands(score: WithReward<LongTraceScore>, { variant, eta }: LongTraceRecipe): Contributions {
  switch (variant) {
    case 'plain':
      return contributionsOf(score, ['outcome', 'rubric']);
    case 'chunks': {
      const { outcome, rubric } = contributionsOf(score, ['outcome', 'rubric']);
      const own = eta * (score.components.rubric.value ?? 0);
      const isPaid = score.decided_by === 'components';
      return {
        outcome: outcome ?? 0,
        rubric: isPaid ? own : 0,
        outcome_and_rubric: isPaid ? (rubric ?? 0) - own : 0,
      };
    }
    case 'positive_only':
    case 'negative_only':
      return { [WHOLE_REWARD]: score.reward };
  }
}
