/** The tool-call family on the scoring line. */

import type { Observed, ToolCallFacts } from '../../family/facts.ts';
import type { Rollout } from '../../family/rollout.ts';
import type { JudgmentOutcome, TestOutcome } from '../../judgments/types.ts';
import type { PlanOptions, PlanRolloutResult } from '../plan-rollout.ts';
import { composeToolCall } from './compose.ts';
import { planToolCall, type ToolCallPlan } from './plan.ts';
import type { ToolCallRecipe } from './recipe.ts';

export function planToolCallRollout(rollout: Rollout, recipe: ToolCallRecipe, options: PlanOptions): PlanRolloutResult {
  const planned = planToolCall(rollout, recipe, options.measureAll === true);
  if (!planned.ok) return planned;
  const { plan } = planned;
  const asked = plan.outcome.kind === 'math' ? plan.outcome.equivalence : plan.outcome.execution;
  return {
    ok: true,
    planned: {
      wanted: typeof asked === 'object' ? [{ request: asked, cited: new Set() }] : [],
      measure(outcomes) {
        const facts = measureToolCall(plan, outcomes[0]);
        return {
          facts,
          groupVote: null,
          finish() {
            const score = composeToolCall(facts, recipe);
            return { score, reply: { ...score, observed: observedOf(facts) } };
          },
        };
      },
    },
  };
}

/** What was seen of the answer, for the reply: the facts, with what could not be had as `null`. */
function observedOf({ outcome, num_turns, response_tokens }: ToolCallFacts) {
  const common = { num_turns, response_tokens };
  if (outcome.kind === 'math') {
    const { exact, equivalent } = outcome;
    return {
      ...common,
      math: { exact, equivalent: equivalent.status === 'scored' ? equivalent.observed : null },
      code: null,
    };
  }
  const { runnable, tests } = outcome;
  return { ...common, math: null, code: { runnable, tests: tests.status === 'scored' ? [...tests.observed] : null } };
}

function measureToolCall(plan: ToolCallPlan, outcome: JudgmentOutcome | undefined): ToolCallFacts {
  const { num_turns, response_tokens } = plan;
  const common = { v: 1, family: 'tool-call', num_turns, response_tokens } as const;
  if (plan.outcome.kind === 'math') {
    const { exact, equivalence } = plan.outcome;
    return { ...common, outcome: { kind: 'math', exact, equivalent: measureEquivalence(exact, equivalence, outcome) } };
  }
  const runnable = plan.outcome.execution !== 'no_program';
  const tests = runnable ? measureTests(outcome) : unscored('not_measured');
  return { ...common, outcome: { kind: 'code', runnable, tests } };
}

type MathPlan = Extract<ToolCallPlan['outcome'], { kind: 'math' }>;

function measureEquivalence(
  exact: boolean,
  asked: MathPlan['equivalence'],
  outcome: JudgmentOutcome | undefined,
): Observed<boolean> {
  if (asked === 'settled') return { status: 'scored', observed: exact };
  if (asked === 'not_needed') return unscored('not_measured');
  if (outcome === undefined) return unscored('judgment_missing');
  if (!outcome.ok) return unscored(outcome.failure.reason);
  const { verdicts } = outcome.judgment;
  if (verdicts.kind !== 'equivalence') return unscored('judgment_record_invalid');
  return { status: 'scored', observed: verdicts.equivalent };
}

function measureTests(outcome: JudgmentOutcome | undefined): Observed<readonly TestOutcome[]> {
  if (outcome === undefined) return unscored('judgment_missing');
  if (!outcome.ok) return unscored(outcome.failure.reason);
  const { verdicts } = outcome.judgment;
  if (verdicts.kind !== 'execution' || verdicts.tests.length === 0) return unscored('judgment_record_invalid');
  return { status: 'scored', observed: verdicts.tests };
}

type Unscored = Extract<Observed<never>, { status: 'unscored' }>;

function unscored(reason: Unscored['reason']): Unscored {
  return { status: 'unscored', reason };
}
