/**
 * Holds out some of a row's own positive criteria: they are judged and watched, and the reward leaves them out. A policy
 * that games the judged words of its criteria rises on those that pay, and not on those that it never earned.
 */
import { countedScore } from '../../family/criterion-evidence.ts';
import type { Observed } from '../../family/facts.ts';
import type { Gap } from '../../family/requirements.ts';
import type { CriterionFact, RefinerFacts } from './facts.ts';
import type { RefinerRecipe } from './recipe.ts';

const TOP_CRITERION_SCORE = 2;

/** How far the own positive criteria of a row are met, [0, 1]; `null` = none is held out. */
export type HoldoutMeans = { readonly paid: number; readonly heldOut: number } | null;

type Divided = {
  /** The criteria that the reward reads. */
  readonly rubric: Observed<readonly CriterionFact[]>;
  readonly means: HoldoutMeans;
};

/** Whether the facts lack a hash that the recipe's holdout reads. */
export function lacksHashes(rubric: Observed<readonly CriterionFact[]>, { holdout }: RefinerRecipe): boolean {
  if (holdout === undefined || rubric.status === 'unscored') return false;
  const own = rubric.observed.filter(isOwnPositive);
  return own.length > 1 && own.some(({ hash }) => hash === undefined);
}

/** The gap of a recipe that holds criteria out, for facts without their hashes. */
export function holdoutGaps(after: RefinerRecipe): Gap<RefinerFacts>[] {
  if (after.holdout === undefined) return [];
  return [{ name: 'recipe.holdout', isOpen: ({ rubric }) => lacksHashes(rubric, after) }];
}

/**
 * Divides the criteria of a row. Which are held out follows from the recipe's seed and their hashes, so a criterion has
 * the same part in every row, run and replay. At least one own positive criterion pays: a row with one holds nothing
 * out. The means are not weighted.
 */
export function dividedCriteria(rubric: Observed<readonly CriterionFact[]>, recipe: RefinerRecipe): Divided {
  const { holdout } = recipe;
  if (holdout === undefined || rubric.status === 'unscored') return { rubric, means: null };
  const own = rubric.observed.filter(isOwnPositive);
  const heldOut = new Set(own.length < 2 ? [] : drawn(own, holdout));
  if (heldOut.size === 0) return { rubric, means: null };
  const mean = (criteria: readonly CriterionFact[]): number =>
    criteria.reduce((sum, one) => sum + countedScore(one, recipe), 0) / (TOP_CRITERION_SCORE * criteria.length);
  return {
    rubric: { status: 'scored', observed: rubric.observed.filter((one) => !heldOut.has(one)) },
    means: { paid: mean(own.filter((one) => !heldOut.has(one))), heldOut: mean([...heldOut]) },
  };
}

/** The criteria whose draw is below the share, all but the one with the highest draw if that would be all. */
function drawn(own: readonly CriterionFact[], { share, seed }: NonNullable<RefinerRecipe['holdout']>): CriterionFact[] {
  const draws = own.map((criterion) => ({ criterion, draw: drawOf(criterion.hash ?? 0, seed) }));
  const below = draws.filter(({ draw }) => draw < share);
  if (below.length < own.length) return below.map(({ criterion }) => criterion);
  const kept = below.reduce((most, one) => (one.draw > most.draw ? one : most));
  return below.flatMap(({ criterion }) => (criterion === kept.criterion ? [] : [criterion]));
}

/** A number in [0, 1) that looks random, from the hash of a criterion and a seed: 32 bits, mixed as MurmurHash3 ends. */
function drawOf(hash: number, seed: number): number {
  let bits = Math.imul(seed ^ (hash << 16), 0x9e3779b1) ^ hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

function isOwnPositive({ origin, polarity }: CriterionFact): boolean {
  return origin === 'instance' && polarity === 'positive';
}
