/** Computes the carr reward from facts, a recipe and the votes of the group. Pure. */
import { type Contributions, contributionsOf, WHOLE_REWARD, type WithReward } from '../../family/contributions.ts';
import type { GroupVote, GroupVotes, VoteRange } from '../../family/family.ts';
import type { Component, UnscoredReason } from '../../family/score.ts';
import type { CarrFacts } from './facts.ts';
import type { CarrRecipe } from './recipe.ts';
import type { CarrScore } from './reply.ts';
import { shareRange } from './share.ts';

/** With `punish_ill_formed` a truncated response, or one without an answer, earns 0 and is not judged. */
export function isPunished(
  { has_answer, finish_reason }: Pick<CarrFacts, 'has_answer' | 'finish_reason'>,
  recipe: CarrRecipe,
): boolean {
  return recipe.punish_ill_formed && (!has_answer || finish_reason !== 'stop');
}

/** Whether the outcome can change the reward. Only `plain` ignores an outcome of weight 0. */
export function readsOutcome({ variant, eta }: CarrRecipe): boolean {
  return variant !== 'plain' || eta < 1;
}

/** Whether the criteria can change a reward. */
export function readsCriteria({ eta }: CarrRecipe): boolean {
  return eta > 0;
}

/** Whether the share is divided by the group's largest one. */
function divides({ normalisation, variant, eta }: CarrRecipe): boolean {
  if (eta === 0) return false;
  switch (normalisation) {
    case 'none':
      return false;
    case 'published':
      return variant !== 'positive_only';
    case 'normalised':
      return true;
  }
}

/**
 * Returns the member's share of criteria, of which the group takes the maximum; `null` = the recipe does not divide by
 * it. A share votes whenever it is known, even if the outcome is lost; a lost one can be anything up to its bound. Wrong
 * answers vote, as in the reference; punished ones vote 0.
 */
export function carrVote(facts: CarrFacts | null, recipe: CarrRecipe): GroupVote {
  if (!divides(recipe)) return null;
  if (facts === null) return { least: 0, most: 1 };
  if (isPunished(facts, recipe)) return 0;
  const range = shareRange(facts, recipe.connected);
  return range.least === range.most ? range.most : range;
}

/** The weights of outcome and criteria; that of the criteria depends on the outcome. */
function weightsOf(
  outcome: 0 | 1,
  { variant, eta }: CarrRecipe,
): { readonly outcome: number; readonly rubric: number } {
  switch (variant) {
    case 'positive_only':
      return { outcome: 1 - eta, rubric: outcome === 0 ? 0 : eta };
    case 'negative_only':
      return { outcome: 1, rubric: outcome === 1 ? 0 : eta };
    case 'plain':
      return { outcome: 1 - eta, rubric: eta };
  }
}

/** The share divided by the group's maximum; `null` = it is not divided. */
function divided(share: number, max: number | null): number {
  return max === null || max === 0 ? share : share / max;
}

/**
 * With o the outcome, u the share of the criteria (divided by the group's maximum, as `normalisation` says) and eta its
 * weight, the reward is that of `variant` (recipe.ts). The reward is unscored only if a lost value can change it.
 *
 * @param group `null` for a rollout that is scored alone: u is not divided, and `details.final` is false.
 * @throws RangeError on a non-finite result.
 */
export function composeCarr(facts: CarrFacts, recipe: CarrRecipe, group: GroupVotes): CarrScore {
  const votes = divides(recipe) ? group : null;
  const max: { readonly least: number | null; readonly most: number | null } = votes?.unknown ?? {
    least: votes?.max ?? null,
    most: votes?.max ?? null,
  };
  const range = shareRange(facts, recipe.connected);
  const share = range.least === range.most ? range.most : null;
  const details = {
    rubric_share: readsCriteria(recipe) ? share : null,
    group_max: max.least === max.most ? max.most : null,
    final: !divides(recipe) || group !== null,
  };
  if (isPunished(facts, recipe)) {
    const nothing: Component = { status: 'scored', value: 0, weight: 0, contribution: 0 };
    return {
      family: 'carr',
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
  const weights = weightsOf(o, recipe);
  const values = rubricValues(range, max);
  const u = values.least === values.most ? values.most : null;
  const open: UnscoredReason | null =
    weights.rubric === 0 || u !== null ? null : share === null ? shareReason(facts) : 'group_vote_unknown';
  const reason = lost ?? open;
  const reward = reason === null ? weights.outcome * o + weights.rubric * (u ?? 0) : null;
  if (reward !== null && !Number.isFinite(reward)) {
    throw new RangeError('composeCarr: a non-finite reward; the facts hold one');
  }
  const part = (value: number | null, weight: number, why: UnscoredReason): Component => {
    if (value === null) return { status: 'unscored', value, weight, contribution: null, reason: why };
    // Without a reward there is nothing to contribute to.
    return { status: 'scored', value, weight, contribution: reward === null ? 0 : weight * value };
  };
  return {
    family: 'carr',
    reward,
    base: reward,
    status: reward === null ? 'unscored' : 'scored',
    reason,
    ...(reason === 'group_vote_unknown' ? { depends_on: [...(votes?.unknown?.members ?? [])] } : {}),
    decided_by: reward === null ? null : 'components',
    components: {
      outcome: part(
        outcome.status === 'scored' ? outcome.observed : null,
        outcome.status === 'unscored' && lost === null ? 0 : weights.outcome,
        outcome.status === 'unscored' ? outcome.reason : 'not_measured',
      ),
      rubric: part(
        u,
        lost === null ? weights.rubric : recipe.eta,
        share === null ? shareReason(facts) : 'group_vote_unknown',
      ),
    },
    details,
  };
}

/** The range of the divided share: rises with the share, falls with the group's maximum. */
function rubricValues(
  share: VoteRange,
  max: { readonly least: number | null; readonly most: number | null },
): VoteRange {
  // An unknown share is part of an unknown maximum; its own value stays unknown with it.
  if (share.least !== share.most) return share;
  return { least: divided(share.least, max.most), most: divided(share.most, max.least) };
}

function shareReason({ named, supported }: CarrFacts): UnscoredReason {
  if (named.status === 'unscored') return named.reason;
  return supported.status === 'unscored' ? supported.reason : 'not_measured';
}

/**
 * The contributions of a scored reward. `positive_only` and `negative_only` are no sums of an outcome and a rubric
 * term, so their reward is one contribution.
 */
export function carrSummands(score: WithReward<CarrScore>, { variant }: CarrRecipe): Contributions {
  return variant === 'plain' ? contributionsOf(score, ['outcome', 'rubric']) : { [WHOLE_REWARD]: score.reward };
}
