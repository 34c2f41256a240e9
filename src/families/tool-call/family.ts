/** The tool-call family: right or wrong, turns and length, for agents that call a code interpreter. */
import type { Family } from '../../family/family.ts';
import { mapObserved, scored, unscored, verdictsOf } from '../../family/observe.ts';
import { ask, done } from '../../family/stages.ts';
import { levelsOf, yesNoLevel } from '../../family/verdict-levels.ts';
import type { JudgmentOutcome } from '../../judgments/judgment.ts';
import { type ToolCall, toolCallComposer } from './composer.ts';
import { type ToolCallFacts, type ToolCallOutcomeFact, toolCallFactsSchema } from './facts.ts';
import { planToolCall, type ToolCallPlan } from './plan.ts';
import { toolCallRecipeSchema } from './recipe.ts';
import { observedReply, type ToolCallScore, toolCallReplySchema } from './reply.ts';

export const toolCall = {
  ...toolCallComposer,
  recipe: { ...toolCallComposer.recipe, schema: toolCallRecipeSchema },
  facts: {
    schema: toolCallFactsSchema,
    judged: ({ outcome }) => [outcome.kind === 'math' ? outcome.equivalent : outcome.tests],
    // The sandbox runs the tests of a program; no judge takes part.
    verdicts: ({ outcome }) =>
      outcome.kind === 'code' ? [] : levelsOf(outcome.equivalent, (equal) => [yesNoLevel('equivalence', equal)]),
  },
  reply: {
    schema: toolCallReplySchema,
    skippedAtZero: [],
    withoutText: (reply) => reply,
    // The base is in [-1, 1].
    unitScore: (base) => (base + 1) / 2,
  },
  hasReference: true,
  canExplain: false,

  plan(rollout, recipe, { measureAll = false }) {
    const planned = planToolCall(rollout, recipe, measureAll);
    if (!planned.ok) return planned;
    const plan = planned.value;
    const asked = plan.outcome.kind === 'math' ? plan.outcome.equivalence : plan.outcome.execution;
    const wanted = typeof asked === 'string' ? [] : [{ request: asked, cited: new Set<number>() }];
    const stage = ask(wanted, ([outcome]) => {
      const { num_turns, response_tokens } = plan;
      const common = { v: 1, family: 'tool-call' } as const;
      const facts: ToolCallFacts = { ...common, num_turns, response_tokens, outcome: outcomeOf(plan.outcome, outcome) };
      return done({ facts, reply: (score: ToolCallScore) => ({ ...score, observed: observedReply(facts) }) });
    });
    return { ok: true, value: stage };
  },
} satisfies Family<ToolCall>;

function outcomeOf(plan: ToolCallPlan['outcome'], answer: JudgmentOutcome | undefined): ToolCallOutcomeFact {
  if (plan.kind === 'code') {
    const { execution } = plan;
    if (execution === 'no_program') return { kind: 'code', runnable: false, tests: unscored('not_measured') };
    return { kind: 'code', runnable: true, tests: mapObserved(verdictsOf(execution, answer), ({ tests }) => tests) };
  }
  const { exact, equivalence } = plan;
  if (equivalence === 'settled') return { kind: 'math', exact, equivalent: scored(exact) };
  if (equivalence === 'not_needed') return { kind: 'math', exact, equivalent: unscored('not_measured') };
  const equivalent = mapObserved(verdictsOf(equivalence, answer), (verdicts) => verdicts.equivalent);
  return { kind: 'math', exact, equivalent };
}
