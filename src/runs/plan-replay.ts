/**
 * Plans a replay: resolves the requested recipe, or one recipe per value of a sweep, for every recipe that the run was
 * recorded under. All input errors surface here, before a row is read.
 */

import type { Recipe } from '../families/composers.ts';
import {
  type RecipeInput,
  type RecipeResolution,
  type ResolvedRecipe,
  type ResolveRecipe,
  resolveRecipe,
} from '../families/resolve.ts';
import type { InputProblem } from '../input-problem.ts';
import { isJsonObject } from '../json.ts';
import type { Result } from '../result.ts';
import type { ReplayedRubricsInput } from '../rubrics/replayed-set.ts';
import { type ChangedField, mayLeaveGaps, type RecipeValues, recipeChange } from './gaps.ts';
import type { ReplayRule } from './replay-group.ts';
import type { Sweep } from './sweep.ts';
import type { SweepValue } from './sweep-value.ts';

/** Options of a replay. */
type ReplayOptions = {
  /** A name, a whole recipe, or `{set: {…}}`. Default: the recipes that the run was recorded under. */
  readonly recipe?: RecipeInput;
  readonly sweep?: Sweep;
  readonly advantages: ReplayRule;
  /** Whether the report has a line for each rollout. */
  readonly samples: boolean;
  /** Whether to judge rollouts that have no reward under the other recipe. */
  readonly fill: boolean;
  /**
   * With `fill`: the judge that judges rollouts without a reward. Without `fill`: the judge that judges every rollout
   * again.
   */
  readonly judge?: string;
  /** With `judge` and without `fill`: which of its independent judgments. Default 0. */
  readonly replicate?: number;
  /** Other sets of the evolving rubrics. Default: the recorded ones. */
  readonly rubrics?: ReplayedRubricsInput;
};

type ReplayPoint = { readonly value: SweepValue; readonly after: ReadonlyMap<string, Recipe> };

export type ReplayPlan = {
  readonly run: string;
  /** The recipe that replaces each recorded recipe; for a sweep, before the swept field is set. */
  readonly recipes: RequestedRecipes;
  readonly before: ReadonlyMap<string, Recipe>;
  readonly after: ReadonlyMap<string, Recipe>;
  readonly changes: ReturnType<typeof changesOf>;
  /** The values of the sweep with the recipes that result from each; `null` = no sweep. */
  readonly points: readonly ReplayPoint[] | null;
  readonly advantages: ReplayRule;
  /** Whether the report has a line for each rollout. */
  readonly samples: boolean;
  readonly measures: ReplayMeasures;
  /** `null` = the sets that scored the groups. */
  readonly rubrics: ReplayedRubricsInput | null;
  /**
   * Whether any rollout can lack an observation that the other recipes read. If so, the whole run is checked first.
   */
  readonly mayLeaveGaps: boolean;
};

/**
 * The judging that a replay does. `missing`: rollouts without a reward under the other recipe are judged. `all`:
 * another judge judges every rollout.
 */
type ReplayMeasures =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'missing'; readonly judge: string | null }
  | { readonly kind: 'all'; readonly judge: string; readonly replicate: number };

/** @param recorded the recipes of the run, by digest. */
export async function planReplay(
  run: string,
  recorded: ReadonlyMap<string, Recipe>,
  request: ReplayOptions,
): Promise<Result<ReplayPlan, readonly InputProblem[]>> {
  const { recipe, sweep } = request;
  const base = await requestedRecipes(recorded, recipe, resolveRecipe);
  if (!base.ok) return base;
  const points: ReplayPoint[] = [];
  for (const value of sweep?.values ?? []) {
    const at = await requestedRecipes(recorded, recipe, resolveRecipe, { field: sweep?.field ?? '', value });
    if (!at.ok) return at;
    points.push({ value, after: recipesAfter(at.value) });
  }
  const after = recipesAfter(base.value);
  const others = sweep === undefined ? [after] : points.map((point) => point.after);
  return {
    ok: true,
    value: {
      run,
      recipes: base.value,
      before: recorded,
      after,
      changes: changesOf(base.value),
      points: sweep === undefined ? null : points,
      advantages: request.advantages,
      samples: request.samples,
      measures: measuresOf(request),
      rubrics: request.rubrics ?? null,
      mayLeaveGaps: others.some((other) => leavesGaps(recorded, other)),
    },
  };
}

function measuresOf({ fill, judge, replicate = 0 }: ReplayOptions): ReplayMeasures {
  if (fill) return { kind: 'missing', judge: judge ?? null };
  return judge === undefined ? { kind: 'nothing' } : { kind: 'all', judge, replicate };
}

function leavesGaps(recorded: ReadonlyMap<string, Recipe>, after: ReadonlyMap<string, Recipe>): boolean {
  return [...recorded].some(([digest, recipe]) => {
    const other = after.get(digest);
    return other !== undefined && mayLeaveGaps(recipe, other);
  });
}

/** The recipes of a run by digest, before and after replacement. */
type RequestedRecipes<R extends RecipeValues = Recipe> = {
  readonly before: ReadonlyMap<string, R>;
  readonly after: ReadonlyMap<string, ResolvedRecipe<R, string>>;
};

/**
 * Resolves the requested recipe against each recorded recipe.
 * @param asked a name, a whole recipe or `{set: {…}}`; `undefined` = the recorded recipe itself.
 * @param resolve knows the families of the recorded recipes.
 * @param point one value of a sweep, set on top.
 */
export async function requestedRecipes<R extends RecipeValues>(
  recorded: ReadonlyMap<string, R>,
  asked: RecipeInput | undefined,
  resolve: ResolveRecipe<R, string>,
  point: { readonly field: string; readonly value: SweepValue } | null = null,
): Promise<Result<RequestedRecipes<R>, readonly InputProblem[]>> {
  const after = new Map<string, ResolvedRecipe<R, string>>();
  for (const [digest, recipe] of recorded) {
    const resolution = await requestedRecipe(recipe, asked, resolve, point);
    if (!resolution.ok) return resolution;
    const { value: resolved } = resolution;
    if (resolved.recipe.family !== recipe.family) {
      const message = `the run was recorded under a recipe of the family ${recipe.family}; its facts do not fit another family`;
      return { ok: false, error: [{ path: ['recipe'], message }] };
    }
    after.set(digest, resolved);
  }
  return { ok: true, value: { before: recorded, after } };
}

async function requestedRecipe<R extends RecipeValues>(
  recorded: R,
  asked: RecipeInput | undefined,
  resolve: ResolveRecipe<R, string>,
  point: { readonly field: string; readonly value: SweepValue } | null,
): Promise<RecipeResolution<R, string>> {
  const base = await baseRecipe(recorded, asked, resolve);
  if (!base.ok || point === null) return base;
  const fields = nested(point.field.split('.'), point.value);
  return resolve(withFields(base.value.recipe, fields), ['sweep', 'values']);
}

async function baseRecipe<R extends RecipeValues>(
  recorded: R,
  asked: RecipeInput | undefined,
  resolve: ResolveRecipe<R, string>,
): Promise<RecipeResolution<R, string>> {
  if (asked === undefined) return resolve(recorded);
  if (typeof asked === 'string' || !Object.hasOwn(asked, 'set')) return resolve(asked);
  const { set, ...others } = asked;
  const problem = (path: string[], message: string) => ({ ok: false, error: [{ path, message }] }) as const;
  if (Object.keys(others).length > 0) return problem(['recipe'], 'set stands alone: it changes the recorded recipe');
  if (!isJsonObject(set)) return problem(['recipe', 'set'], 'expected an object: the fields to change');
  return resolve(withFields(recorded, set), ['recipe', 'set']);
}

/** Sets fields; members of nested objects are merged, so one of them can change alone. */
function withFields(
  recipe: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changed = new Map(Object.entries(recipe));
  for (const [name, value] of Object.entries(fields)) {
    const old = changed.get(name);
    changed.set(name, isJsonObject(old) && isJsonObject(value) ? withFields(old, value) : value);
  }
  return Object.fromEntries(changed);
}

/** Builds `{a: {b: value}}` from the path `a.b`. */
function nested([name, ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  if (name === undefined) throw new Error('nested: empty path');
  return Object.fromEntries([[name, rest.length === 0 ? value : nested(rest, value)]]);
}

/** Returns the recipe that replaces each recorded recipe, by the digest of the recorded one. */
export function recipesAfter({ after }: RequestedRecipes): ReadonlyMap<string, Recipe> {
  return new Map([...after].map(([digest, { recipe }]) => [digest, recipe]));
}

/** Returns the fields in which each recorded recipe differs from its replacement. */
export function changesOf({ before, after }: RequestedRecipes): {
  readonly before: string;
  readonly after: string;
  readonly changed: readonly ChangedField[];
}[] {
  return [...before].map(([digest, recipe]) => {
    const other = after.get(digest);
    if (other === undefined) throw new Error('changesOf: a recorded recipe was lost');
    const change = recipeChange(recipe, other.recipe);
    return { before: digest, after: other.digest, changed: change.ok ? change.fields : [] };
  });
}
