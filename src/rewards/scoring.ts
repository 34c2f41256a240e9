/**
 * The scoring line from end to end, independent of the platform: the Worker, the command line and batches call it.
 *
 *     plan -> judgments (store, judge) -> measure -> compose -> reply
 *
 * It never decides what an unscored reward becomes on the wire: it says which failure stands behind it.
 */

import type { InputProblem } from '../input-problem.ts';
import {
  type ObtainedJudgment,
  type ObtainOptions,
  type ObtainTimings,
  obtainJudgments,
  type WantedJudgment,
} from '../judgments/obtain.ts';
import type { JudgeFailure, JudgmentKind, JudgmentOutcome, JudgmentRequest } from '../judgments/types.ts';
import type { ResolvedRecipe } from '../recipes/resolve.ts';
import type { ScoreResponse } from '../schema/score.ts';
import { compose } from './compose.ts';
import { measure, type Outcomes } from './measure.ts';
import { plan, type RefinerPlan } from './plan.ts';
import { reportJudgment, reportRollout } from './report.ts';
import type { Rollout } from './rollout.ts';
import type { RefinerScore } from './score.ts';

export type ScoringRequest = { readonly rollout: Rollout; readonly recipe: ResolvedRecipe };

export type ScoringResult =
  | {
      readonly status: 'done';
      readonly reply: ScoreResponse;
      /** The failure that left the reward `null`; `null` where there is a reward or where nothing failed. */
      readonly failure: JudgeFailure | null;
      readonly timings: ObtainTimings;
    }
  /** Mode `only`, and a needed judgment is not in the store. */
  | { readonly status: 'missing'; readonly judgments: readonly { readonly kind: JudgmentKind; readonly key: string }[] }
  /** The rollout does not fit the recipe or the limits: the caller's to mend. */
  | { readonly status: 'invalid'; readonly problems: readonly InputProblem[] };

/** Scores one rollout. Expected failures are results; a rejection is a bug. */
export async function scoreRollout(request: ScoringRequest, options: ObtainOptions): Promise<ScoringResult> {
  const { recipe } = request;
  const planned = plan(request.rollout, recipe.recipe);
  if (!planned.ok) return { status: 'invalid', problems: planned.problems };

  const { judgments, timings } = await obtainJudgments(wantedBy(planned.plan), options);
  const facts = measure(planned.plan, outcomesOf(judgments));
  const score = compose(facts, recipe.recipe);

  if (score.reason === 'judgment_missing') return { status: 'missing', judgments: missingOf(judgments) };
  const { reward, status, reason, decided_by, base, components, details } = score;
  return {
    status: 'done',
    reply: {
      reward,
      status,
      reason,
      decided_by,
      base,
      components,
      details,
      ...reportRollout(planned.plan, facts),
      judgments: judgments.map(reportJudgment),
      recipe: {
        name: recipe.name,
        family: recipe.recipe.family,
        digest: recipe.digest,
        reward_range: [...recipe.reward_range],
      },
    },
    failure: failureBehind(score, judgments),
    timings,
  };
}

function wantedBy({ rubric, citations, parsed }: RefinerPlan): WantedJudgment[] {
  const cited = new Set(
    parsed.claims.flatMap(({ ids }) => ids.flatMap(({ source }) => (source === null ? [] : [source]))),
  );
  const requests: JudgmentRequest[] = [];
  if (typeof rubric === 'object') requests.push(...rubric);
  if (typeof citations === 'object') requests.push(citations);
  return requests.map((request) => ({ request, cited }));
}

function outcomesOf(judgments: readonly ObtainedJudgment[]): Outcomes {
  const of = (kind: JudgmentKind): JudgmentOutcome[] =>
    judgments.flatMap((obtained) => (obtained.kind === kind ? [obtained.outcome] : []));
  const [citations] = of('citations');
  return { rubric: of('rubric'), ...(citations === undefined ? {} : { citations }) };
}

function missingOf(judgments: readonly ObtainedJudgment[]): { kind: JudgmentKind; key: string }[] {
  return judgments.flatMap(({ kind, key, outcome }) =>
    !outcome.ok && outcome.failure.reason === 'judgment_missing' && key !== null ? [{ kind, key }] : [],
  );
}

/**
 * The failure that the reward's reason names. Skipped judgments are no failure: the caller asked for it.
 * @throws Error if the reason names a failure that no judgment has, which no path should reach.
 */
function failureBehind(score: RefinerScore, judgments: readonly ObtainedJudgment[]): JudgeFailure | null {
  if (score.reason === null || score.reason === 'nothing_to_score' || score.reason === 'judgment_skipped') return null;
  for (const { outcome } of judgments) {
    if (!outcome.ok && outcome.failure.reason === score.reason) return outcome.failure;
  }
  throw new Error(`scoreRollout: no judgment failed with ${score.reason}, and yet the reward is unscored for it`);
}
