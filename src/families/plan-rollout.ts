/**
 * A recipe family as the scoring line sees it: a rollout is planned once, and the plan knows how judgments become facts,
 * facts a score, and all of it a reply. Each family has a folder with these steps; this file picks the one of a recipe.
 *
 *     planRollout -> wanted -> (judgments) -> measure -> finish
 */
import type { SourceSet } from '../citations/types.ts';
import type { Facts } from '../family/facts.ts';
import type { Rollout } from '../family/rollout.ts';
import type { Score } from '../family/score.ts';
import type { InputProblem } from '../input-problem.ts';
import type { WantedJudgment } from '../judgments/obtain.ts';
import type { JudgmentOutcome } from '../judgments/types.ts';
import type { FamilyReply } from '../scoring/score-reply.ts';
import { planDrTuluRollout } from './dr-tulu/family.ts';
import { planLongTraceRollout } from './long-trace/family.ts';
import type { Recipe } from './recipes.ts';
import { planRefinerRollout } from './refiner/family.ts';
import { planToolCallRollout } from './tool-call/family.ts';

export type PlanOptions = {
  /** Ask for everything that the family measures, needed or not, so that a weight of 0 can be swept later. */
  readonly measureAll?: boolean;
  /** Also say what the other compat mode gives (dr-tulu). */
  readonly explain?: boolean;
  /** The rollout's sources, where they are read already: the members of a group share them. */
  readonly sources?: SourceSet;
};

export type PlannedRollout = {
  readonly wanted: readonly WantedJudgment[];
  /** @param outcomes those of `wanted`, in its order. */
  readonly measure: (outcomes: readonly JudgmentOutcome[]) => MeasuredRollout;
};

export type MeasuredRollout = {
  readonly facts: Facts;
  /** What the rollout's group has to know of it before anyone can be finished; `null` where it does not vote. */
  readonly groupVote: number | null;
  readonly finish: (group: GroupVotes) => FinishedRollout;
};

/** The largest vote of the rollout's group; `null` for a rollout that is scored alone, or where nobody votes. */
export type GroupVotes = { readonly max: number | null } | null;

export type FinishedRollout = { readonly score: Score; readonly reply: FamilyReply };

export type PlanRolloutResult =
  | { readonly ok: true; readonly planned: PlannedRollout }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** Plans one rollout under a recipe. Problems are the caller's to mend (HTTP 422). */
export function planRollout(rollout: Rollout, recipe: Recipe, options: PlanOptions = {}): PlanRolloutResult {
  if (options.explain === true && recipe.family !== 'dr-tulu') {
    return { ok: false, problems: [{ path: ['explain'], message: 'recipes of the dr-tulu family have compat modes' }] };
  }
  switch (recipe.family) {
    case 'refiner':
      return planRefinerRollout(rollout, recipe, options);
    case 'long-trace':
      return planLongTraceRollout(rollout, recipe, options);
    case 'tool-call':
      return planToolCallRollout(rollout, recipe, options);
    case 'dr-tulu':
      return planDrTuluRollout(rollout, recipe, options);
  }
}
