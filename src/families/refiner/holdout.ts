/**
 * Leaves some of a row's own criteria out of the reward, although they are judged. A holdout watches the same ones all
 * the time: a policy that games the judged words of its criteria rises on those that pay, and not on those that it never
 * earned. A dropout draws others at each step, so that no wording pays for long.
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

const FIELDS = ['holdout', 'dropout'] as const;
type Field = (typeof FIELDS)[number];
type Drawing = NonNullable<RefinerRecipe[Field]>;
type Judged = Pick<RefinerFacts, 'rubric' | 'visit'>;

/** Whether the facts lack the hashes that a field of the recipe reads. */
function lacksHashes(field: Field, { rubric, visit }: Judged, recipe: RefinerRecipe): boolean {
  if (recipe[field] === undefined || rubric.status === 'unscored') return false;
  const own = rubric.observed.filter(field === 'holdout' ? isOwnPositive : isOwn);
  if (own.length < 2) return false;
  return own.some(({ hash }) => hash === undefined) || (field === 'dropout' && visit === undefined);
}

/** Whether it is unknown which criteria the recipe leaves out. */
export function lacksDraws(facts: Judged, recipe: RefinerRecipe): boolean {
  return FIELDS.some((field) => lacksHashes(field, facts, recipe));
}

/** The gaps of a recipe that leaves criteria out, for facts without their hashes. */
export function holdoutGaps(after: RefinerRecipe): Gap<RefinerFacts>[] {
  return FIELDS.filter((field) => after[field] !== undefined).map((field) => ({
    name: `recipe.${field}`,
    isOpen: (facts) => lacksHashes(field, facts, after),
  }));
}

/**
 * Divides the criteria of a row. Which are held out follows from the recipe's seed and their hashes, so a criterion has
 * the same part in every row, run and replay. Which of the others the dropout leaves out follows also from the visit of
 * the prompt, so that the samples of a group, whose rewards are compared, share the draw. At least one own criterion
 * pays, a positive one if there is any: a row with one leaves nothing out. The means are not weighted.
 */
export function dividedCriteria({ rubric, visit = 0 }: Judged, recipe: RefinerRecipe): Divided {
  const { holdout, dropout } = recipe;
  if (rubric.status === 'unscored') return { rubric, means: null };
  const own = rubric.observed.filter(isOwnPositive);
  const heldOut = new Set(holdout === undefined ? [] : drawn(own, holdout));
  const others = rubric.observed.filter((one) => !heldOut.has(one));
  const dropped = new Set(dropout === undefined ? [] : droppedOf(others, dropout, visit));
  const mean = (criteria: readonly CriterionFact[]): number =>
    criteria.reduce((sum, one) => sum + countedScore(one, recipe), 0) / (TOP_CRITERION_SCORE * criteria.length);
  return {
    rubric: { status: 'scored', observed: others.filter((one) => !dropped.has(one)) },
    means:
      heldOut.size === 0 ? null : { paid: mean(own.filter((one) => !heldOut.has(one))), heldOut: mean([...heldOut]) },
  };
}

function droppedOf(
  criteria: readonly CriterionFact[],
  { share, seed }: Drawing,
  visit: number,
): readonly CriterionFact[] {
  const drawing = { share, seed: seed ^ Math.imul(visit + 1, 0x9e3779b1) };
  const positives = criteria.filter(isOwnPositive);
  const faults = criteria.filter((one) => isOwn(one) && !isOwnPositive(one));
  if (positives.length === 0) return drawn(faults, drawing);
  return [...drawn(positives, drawing), ...faults.filter((one) => drawOf(one, drawing.seed) < share)];
}

/** The criteria whose draw is below the share, all but the one with the highest draw if that would be all. */
function drawn(own: readonly CriterionFact[], { share, seed }: Drawing): readonly CriterionFact[] {
  const below = own.filter((one) => drawOf(one, seed) < share);
  if (below.length < own.length || below.length === 0) return below;
  const kept = below.reduce((most, one) => (drawOf(one, seed) > drawOf(most, seed) ? one : most));
  return below.filter((one) => one !== kept);
}

/** A number in [0, 1) that looks random, from the hash of a criterion and a seed: 32 bits, mixed as MurmurHash3 ends. */
function drawOf({ hash = 0 }: CriterionFact, seed: number): number {
  let bits = Math.imul(seed ^ (hash << 16), 0x9e3779b1) ^ hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

function isOwn({ origin }: CriterionFact): boolean {
  return origin === 'instance';
}

function isOwnPositive(criterion: CriterionFact): boolean {
  return isOwn(criterion) && criterion.polarity === 'positive';
}
