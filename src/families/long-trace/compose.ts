/** The long-trace reward (REWARDS.md section 5.2): pure, from facts, a recipe and what the group voted. */

import type { LongTraceFacts } from '../../family/facts.ts';
import type { Component, LongTraceScore } from '../../family/score.ts';
import type { GroupVotes } from '../plan-rollout.ts';
import type { LongTraceRecipe } from './recipe.ts';
import { longTraceContributions } from './reward.ts';

/** A truncated or ill-formed response earns 0 without being judged. */
export function isPunished(
  { well_formed, finish_reason }: Pick<LongTraceFacts, 'well_formed' | 'finish_reason'>,
  recipe: LongTraceRecipe,
): boolean {
  return recipe.punish_ill_formed && (!well_formed || finish_reason !== 'stop');
}

/** Whether the outcome can change the reward. The other variants look at it even where its weight is 0. */
export function readsOutcome({ variant, eta }: LongTraceRecipe): boolean {
  return variant !== 'plain' || eta < 1;
}

/**
 * The rubric share u that the recipe reads, [0, 1]; `null` where the row has nothing to look for. A row with gold chunks
 * and no entities is read by its chunks under every variant.
 */
export function rubricShare({ entities, chunks }: LongTraceFacts, recipe: LongTraceRecipe): number | null {
  if (recipe.variant === 'chunks' || entities === null) return chunks;
  // An empty list is refused by the routes; the LongTraceRL server pays 0 for it.
  return entities.total === 0 ? 0 : entities[recipe.text] / entities.total;
}

/** Whether the group divides u by its maximum. */
function isNormalised(recipe: LongTraceRecipe): boolean {
  return recipe.normalise_in_group;
}

/**
 * What the member says of its u to its group: `null` where it does not vote, as its own reward cannot be determined.
 * Wrong answers vote, as in the reference; so do punished ones, whose rubric reward the reference sets to 0.
 */
export function groupVote(facts: LongTraceFacts, recipe: LongTraceRecipe): number | null {
  if (!isNormalised(recipe)) return null;
  if (isPunished(facts, recipe)) return 0;
  return facts.outcome.status === 'scored' || !readsOutcome(recipe) ? rubricShare(facts, recipe) : null;
}

/**
 * With o the outcome, u the rubric share (divided by the group's maximum where the recipe says so) and eta its weight:
 *
 *     positive_only  0 if o = 0, else (1 - eta) * o + eta * u
 *     negative_only  o if o > 0, else eta * u
 *     plain          (1 - eta) * o + eta * u
 *     chunks         o + eta * u + (1 - eta) * o * u
 *
 * @param group `null` for a rollout that is scored alone: then u stays as it is, and `details.final` says so.
 * @throws RangeError on a non-finite result: an error, never a reward.
 */
export function composeLongTrace(facts: LongTraceFacts, recipe: LongTraceRecipe, group: GroupVotes): LongTraceScore {
  const normalised = isNormalised(recipe);
  const share = rubricShare(facts, recipe);
  const details = {
    rubric_share: share,
    group_max: normalised ? (group?.max ?? null) : null,
    final: !normalised || group !== null,
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
  const max = details.group_max;
  const u = share === null ? null : max === null || max === 0 ? share : share / max;
  const { outcome } = facts;
  const lost = outcome.status === 'unscored' && readsOutcome(recipe) ? outcome.reason : null;
  if (lost !== null || u === null) {
    const reason = lost ?? 'nothing_to_score';
    const unscored: Component = { status: 'unscored', value: null, weight: 0, contribution: null, reason };
    return {
      family: 'long-trace',
      reward: null,
      base: null,
      status: 'unscored',
      reason,
      decided_by: null,
      // Without the other part there is no saying what this one would have contributed.
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
  // An outcome that was not had is one that weighs nothing here.
  const o = outcome.status === 'scored' ? outcome.observed : 0;
  const parts = longTraceContributions({ outcome: o, rubric: u }, recipe.variant, recipe.eta);
  const reward = parts.outcome.contribution + parts.rubric.contribution;
  if (!Number.isFinite(reward)) throw new RangeError('composeLongTrace: a non-finite reward; the facts hold one');
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
      rubric: { status: 'scored', value: u, ...parts.rubric },
    },
    details,
  };
}
