/** The refiner family on the scoring line. */

import type { Rollout } from '../../family/rollout.ts';
import type { JudgmentOutcome, JudgmentRequest } from '../../judgments/types.ts';
import type { PlanOptions, PlanRolloutResult } from '../plan-rollout.ts';
import { composeRefiner } from './compose.ts';
import { measureRefiner, type Outcomes } from './measure.ts';
import { planRefiner, type RefinerPlan } from './plan.ts';
import type { RefinerRecipe } from './recipe.ts';
import { reportRollout } from './report.ts';

export function planRefinerRollout(rollout: Rollout, recipe: RefinerRecipe, options: PlanOptions): PlanRolloutResult {
  const planned = planRefiner(rollout, recipe, options);
  if (!planned.ok) return planned;
  const { plan } = planned;
  const requests = requestsOf(plan);
  const cited = new Set(
    plan.parsed.claims.flatMap(({ ids }) => ids.flatMap(({ source }) => (source === null ? [] : [source]))),
  );
  return {
    ok: true,
    planned: {
      wanted: requests.map((request) => ({ request, cited })),
      measure(outcomes) {
        const facts = measureRefiner(plan, sorted(requests, outcomes));
        return {
          facts,
          groupVote: null,
          finish() {
            const score = composeRefiner(facts, recipe);
            return { score, reply: { ...score, ...reportRollout(plan, facts) } };
          },
        };
      },
    },
  };
}

function requestsOf({ rubric, citations }: RefinerPlan): JudgmentRequest[] {
  const requests: JudgmentRequest[] = [];
  if (typeof rubric === 'object') requests.push(...rubric);
  if (typeof citations === 'object') requests.push(citations);
  return requests;
}

function sorted(requests: readonly JudgmentRequest[], outcomes: readonly JudgmentOutcome[]): Outcomes {
  const of = (kind: JudgmentRequest['kind']): JudgmentOutcome[] =>
    outcomes.filter((_outcome, position) => requests[position]?.kind === kind);
  const [citations] = of('citations');
  return { rubric: of('rubric'), ...(citations === undefined ? {} : { citations }) };
}
