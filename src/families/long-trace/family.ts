/** The long-trace family on the scoring line. */

import type { LongTraceFacts } from '../../family/facts.ts';
import type { Rollout } from '../../family/rollout.ts';
import type { JudgmentOutcome } from '../../judgments/types.ts';
import type { PlanOptions, PlanRolloutResult } from '../plan-rollout.ts';
import { composeLongTrace, groupVote } from './compose.ts';
import { type LongTracePlan, planLongTrace } from './plan.ts';
import type { LongTraceRecipe } from './recipe.ts';

export function planLongTraceRollout(
  rollout: Rollout,
  recipe: LongTraceRecipe,
  options: PlanOptions,
): PlanRolloutResult {
  const planned = planLongTrace(rollout, recipe, options.measureAll === true);
  if (!planned.ok) return planned;
  const { plan } = planned;
  return {
    ok: true,
    planned: {
      wanted: typeof plan.outcome === 'object' ? [{ request: plan.outcome, cited: new Set() }] : [],
      measure(outcomes) {
        const facts: LongTraceFacts = { ...plan.observed, outcome: measureOutcome(plan, outcomes[0]) };
        return {
          facts,
          groupVote: groupVote(facts, recipe),
          finish(group) {
            const score = composeLongTrace(facts, recipe, group);
            const { well_formed, entities, chunks } = facts;
            return { score, reply: { ...score, observed: { well_formed, entities, chunks } } };
          },
        };
      },
    },
  };
}

function measureOutcome(plan: LongTracePlan, outcome: JudgmentOutcome | undefined): LongTraceFacts['outcome'] {
  if (plan.outcome === 'no_final_answer') return { status: 'scored', observed: 0 };
  if (plan.outcome === 'not_needed') return { status: 'unscored', reason: 'not_measured' };
  if (outcome === undefined) return { status: 'unscored', reason: 'judgment_missing' };
  if (!outcome.ok) return { status: 'unscored', reason: outcome.failure.reason };
  const { verdicts } = outcome.judgment;
  if (verdicts.kind !== 'outcome') return { status: 'unscored', reason: 'judgment_record_invalid' };
  return { status: 'scored', observed: verdicts.correct ? 1 : 0 };
}
