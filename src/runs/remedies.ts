/**
 * Tries changes of a run's recipe on its last rollouts: how much less the rollouts that show an alert would earn,
 * compared with the others. It replays recorded facts, so it needs no judge.
 */
import { BUILT_IN, type Composers } from '../families/composers.ts';
import type { RecipeValues } from './gaps.ts';
import { type ReplayRow, replayGroup } from './replay-group.ts';

/** Mean rewards in the unit of the recipe; `null` = there are no such rollouts. */
type BeforeAndAfter = { readonly before: number; readonly after: number } | null;

/** The change of the recipe that helps most, on the rollouts that were replayed. */
export type Remedy = {
  /** Compose fields and their new values. */
  readonly change: Readonly<Record<string, unknown>>;
  readonly rollouts: number;
  /** The rollouts that show the alert, and the others. */
  readonly shown: BeforeAndAfter;
  readonly others: BeforeAndAfter;
};

/** A group of the last steps, and for each row whether it shows the alert. */
export type GroupToReplay<Row extends ReplayRow = ReplayRow> = {
  readonly rows: readonly Row[];
  readonly shows: readonly boolean[];
};

/** A compose field with another value. */
export type FieldChange = { readonly field: string; readonly value: string | number | boolean };

/** Changes that help less than this share of the range are not named. */
const SMALL = 0.02;

/**
 * The best of the changes that the family proposes; `null` = none helps.
 * @param width of the recipe's range.
 */
export function bestRemedy(
  groups: readonly GroupToReplay[],
  recipes: ReadonlyMap<string, RecipeValues>,
  composers: Composers,
  width: number,
): Remedy | null {
  let best: { readonly remedy: Remedy; readonly gain: number } | null = null;
  const last = [...recipes.values()].at(-1);
  for (const { field, value } of last === undefined ? [] : remedyChanges(last, composers)) {
    const change = { [field]: value };
    const changed = new Map([...recipes].map(([digest, recipe]) => [digest, { ...recipe, ...change }]));
    const remedy = replayed(groups, recipes, changed, change, composers);
    const gain = lossOf(remedy.shown) - Math.max(0, lossOf(remedy.others));
    if (gain >= SMALL * width && (best === null || gain > best.gain)) best = { remedy, gain };
  }
  return best?.remedy ?? null;
}

/** The single changes that the family knows for a recipe: one compose field each, with a value that differs. */
export function remedyChanges(recipe: RecipeValues, composers: Composers = BUILT_IN): readonly FieldChange[] {
  return Object.entries(composers.of(recipe).stricter?.(recipe) ?? {})
    .filter(([field, value]) => recipe[field] !== value)
    .map(([field, value]) => ({ field, value }));
}

function replayed(
  groups: readonly GroupToReplay[],
  recipes: ReadonlyMap<string, RecipeValues>,
  changed: ReadonlyMap<string, RecipeValues>,
  change: Remedy['change'],
  composers: Composers,
): Remedy {
  const [shown, others] = [new Sums(), new Sums()];
  for (const { rows, shows } of groups) {
    const { samples } = replayGroup(rows, recipes, changed, 'mean', composers);
    for (const [n, { before, after }] of samples.entries()) {
      if (before.reward === null || after.reward === null) continue;
      (shows[n] === true ? shown : others).add(before.reward, after.reward);
    }
  }
  return { change, rollouts: shown.count + others.count, shown: shown.means, others: others.means };
}

/** By how much the mean reward falls. */
function lossOf(rewards: BeforeAndAfter): number {
  return rewards === null ? 0 : rewards.before - rewards.after;
}

class Sums {
  count = 0;
  #before = 0;
  #after = 0;

  add(before: number, after: number): void {
    this.count++;
    this.#before += before;
    this.#after += after;
  }

  get means(): BeforeAndAfter {
    return this.count === 0 ? null : { before: this.#before / this.count, after: this.#after / this.count };
  }
}
