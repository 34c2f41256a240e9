/**
 * What another recipe reads and the facts of a rollout do not hold. Such a rollout is unscored under that recipe until
 * its judgments are obtained.
 */
import { type Facts, familyOf, type Recipe } from '../families/registry.ts';
import { recipeChange } from './recipe-change.ts';

/**
 * Names what is missing: `recipe.<measure field>` if other questions would have to be asked, `rollout.<field>` if the
 * request never said it. Empty: the replay is exact.
 */
type GapFinder = (facts: Facts) => readonly string[];

const NONE: readonly string[] = [];

/**
 * A judgment that cannot change the reward leaves no gap: a missing answer earns 0 whatever a judge says. A changed
 * measure field that its family does not treat leaves a gap in every rollout.
 *
 * @throws RangeError for recipes of two families.
 */
export function createGapFinder(before: Recipe, after: Recipe): GapFinder {
  const gaps = possibleGaps(before, after);
  if (gaps.length === 0) return () => NONE;
  return (facts) => {
    const names = gaps.flatMap((gap) => (gap.isOpen(facts) ? [gap.name] : []));
    return names.length === 0 ? NONE : names;
  };
}

/** Whether any rollout could have a gap. @throws RangeError for recipes of two families. */
export function mayLeaveGaps(before: Recipe, after: Recipe): boolean {
  return possibleGaps(before, after).length > 0;
}

function possibleGaps(before: Recipe, after: Recipe) {
  const change = recipeChange(before, after);
  if (!change.ok) throw new RangeError(`replay: a run of ${change.before} has no reward under ${change.after}`);
  const changed = change.fields.flatMap(({ name, kind }) => (kind === 'measure' ? [name] : []));
  return familyOf(after).gaps(before, after, changed);
}
