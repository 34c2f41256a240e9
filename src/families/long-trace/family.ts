/** The long-trace family: outcome and entity rubric, for reasoning over long contexts. */
import type { Family } from '../../family/family.ts';
import { mapObserved, scored, unscored, verdictsOf } from '../../family/observe.ts';
import { ask, done } from '../../family/stages.ts';
import { levelsOf, yesNoLevel } from '../../family/verdict-levels.ts';
import type { JudgmentOutcome } from '../../judgments/judgment.ts';
import { type LongTrace, longTraceComposer } from './composer.ts';
import { type LongTraceFacts, longTraceFactsSchema } from './facts.ts';
import { type LongTracePlan, planLongTrace } from './plan.ts';
import { longTraceRecipeSchema } from './recipe.ts';
import { type LongTraceScore, longTraceReplySchema } from './reply.ts';

export const longTrace = {
  ...longTraceComposer,
  recipe: { ...longTraceComposer.recipe, schema: longTraceRecipeSchema },
  facts: {
    schema: longTraceFactsSchema,
    judged: ({ outcome }) => [outcome],
    verdicts: ({ outcome }) => levelsOf(outcome, (share) => [yesNoLevel('outcome', share >= 0.5)]),
  },
  reply: {
    schema: longTraceReplySchema,
    skippedAtZero: [],
    withoutText: (reply) => reply,
    // 2 with the variant `chunks`, else 1.
    unitScore: (base, [, most]) => base / (most ?? 1),
  },
  answerForm: {
    citing: () => null,
    answered: (row, answer) => ({ ...row, response: answer }),
  },
  hasReference: true,
  canExplain: false,

  plan(rollout, recipe, { measureAll = false }) {
    const planned = planLongTrace(rollout, recipe, measureAll);
    if (!planned.ok) return planned;
    const plan = planned.value;
    const wanted = typeof plan.outcome === 'string' ? [] : [{ request: plan.outcome, cited: new Set<number>() }];
    const stage = ask(wanted, ([outcome]) => {
      const facts: LongTraceFacts = { ...plan.observed, outcome: outcomeOf(plan, outcome) };
      const { well_formed, entities, chunks } = facts;
      const reply = (score: LongTraceScore) => ({ ...score, observed: { well_formed, entities, chunks } });
      return done({ facts, reply, answer: plan.answerText });
    });
    return { ok: true, value: stage };
  },
} satisfies Family<LongTrace>;

function outcomeOf({ outcome }: LongTracePlan, answer: JudgmentOutcome | undefined): LongTraceFacts['outcome'] {
  if (outcome === 'no_final_answer') return scored(0);
  if (outcome === 'not_needed') return unscored('not_measured');
  return mapObserved(verdictsOf(outcome, answer), ({ correct }) => (correct ? 1 : 0));
}
