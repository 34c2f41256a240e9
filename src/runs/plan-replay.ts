/**
 * From a request to what will be composed: the recipe, or one for each value of a sweep, against those that the run was
 * recorded under. Everything that can be refused is refused here, before a row is read.
 */

import type { Recipe } from '../families/recipes.ts';
import type { RecipeInput } from '../families/resolve.ts';
import type { InputProblem } from '../input-problem.ts';
import type { AdvantageOptions } from '../scoring/advantage-presets.ts';
import { mayLeaveGaps } from './gaps.ts';
import type { SweepValue } from './replay-report.ts';
import { changesOf, type RequestedRecipes, recipesAfter, requestedRecipes } from './requested-recipe.ts';
import type { Sweep } from './sweep.ts';

/** What a replay is asked to do. */
export type ReplayOptions = {
  /** Default: the recipes that the run was recorded under. */
  readonly recipe?: RecipeInput;
  readonly sweep?: Sweep;
  readonly advantages: AdvantageOptions;
  /** Whether the report has a line for each rollout as well. */
  readonly samples: boolean;
  /** Whether rollouts without a reward under the other recipe are judged. */
  readonly fill: boolean;
  /** With `fill`: the judge that fills. Without: the judge that judges every rollout again. */
  readonly judge?: string;
};

export type ReplayPoint = { readonly value: SweepValue; readonly after: ReadonlyMap<string, Recipe> };

export type ReplayPlan = {
  readonly run: string;
  /** What takes the place of each recorded recipe; of a sweep without its field. */
  readonly recipes: RequestedRecipes;
  readonly before: ReadonlyMap<string, Recipe>;
  readonly after: ReadonlyMap<string, Recipe>;
  readonly changes: ReturnType<typeof changesOf>;
  /** `null` = no sweep. */
  readonly points: readonly ReplayPoint[] | null;
  readonly advantages: AdvantageOptions;
  /** A line for each rollout as well. */
  readonly samples: boolean;
  readonly measures: ReplayMeasures;
  /** Whether any rollout could need what was not observed: then the run is looked through before anything is said. */
  readonly mayLeaveGaps: boolean;
};

/** `missing`: rollouts that have no reward under the other recipe are judged. `all`: every rollout is, by another judge. */
export type ReplayMeasures =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'missing'; readonly judge: string | null }
  | { readonly kind: 'all'; readonly judge: string };

export type ReplayPlanResult =
  | { readonly ok: true; readonly plan: ReplayPlan }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** @param recorded the recipes of the run, by digest. */
export async function planReplay(
  run: string,
  recorded: ReadonlyMap<string, Recipe>,
  request: ReplayOptions,
): Promise<ReplayPlanResult> {
  const { recipe, sweep } = request;
  const base = await requestedRecipes(recorded, recipe);
  if (!base.ok) return base;
  const points: ReplayPoint[] = [];
  for (const value of sweep?.values ?? []) {
    const at = await requestedRecipes(recorded, recipe, { field: sweep?.field ?? '', value });
    if (!at.ok) return at;
    points.push({ value, after: recipesAfter(at.recipes) });
  }
  const after = recipesAfter(base.recipes);
  const others = sweep === undefined ? [after] : points.map((point) => point.after);
  return {
    ok: true,
    plan: {
      run,
      recipes: base.recipes,
      before: recorded,
      after,
      changes: changesOf(base.recipes),
      points: sweep === undefined ? null : points,
      advantages: request.advantages,
      samples: request.samples,
      measures: measuresOf(request),
      mayLeaveGaps: others.some((other) => leavesGaps(recorded, other)),
    },
  };
}

function measuresOf({ fill, judge }: ReplayOptions): ReplayMeasures {
  if (fill) return { kind: 'missing', judge: judge ?? null };
  return judge === undefined ? { kind: 'nothing' } : { kind: 'all', judge };
}

function leavesGaps(recorded: ReadonlyMap<string, Recipe>, after: ReadonlyMap<string, Recipe>): boolean {
  return [...recorded].some(([digest, recipe]) => {
    const other = after.get(digest);
    return other !== undefined && mayLeaveGaps(recipe, other);
  });
}
