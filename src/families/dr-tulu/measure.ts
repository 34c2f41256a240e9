/** Measure of a dr-tulu rollout: a plan and the judgments that were had in, facts out. */

import type { DrTuluFacts, DrTuluStatementFact, Observed } from '../../family/facts.ts';
import { answersRequest } from '../../judgments/kinds/registry.ts';
import type { CriterionScore, JudgmentOutcome } from '../../judgments/types.ts';
import { criterionKey, type DrTuluPlan } from './plan.ts';

/** The outcomes of the plan's requests, in their order. */
export type DrTuluOutcomes = {
  readonly rubric: readonly JudgmentOutcome[];
  readonly citations: JudgmentOutcome | undefined;
};

export function measureDrTulu(plan: DrTuluPlan, outcomes: DrTuluOutcomes): DrTuluFacts {
  return {
    ...plan.observed,
    rubric: measureRubric(plan, outcomes.rubric),
    citation: measureCitation(plan, outcomes.citations),
  };
}

type Unscored = Extract<Observed<never>, { status: 'unscored' }>;

function unscored(reason: Unscored['reason']): Unscored {
  return { status: 'unscored', reason };
}

function measureRubric(plan: DrTuluPlan, outcomes: readonly JudgmentOutcome[]): DrTuluFacts['rubric'] {
  if (plan.rubric === 'not_needed') return unscored('not_measured');
  const scores = new Map<string, CriterionScore>();
  for (const [position, request] of plan.rubric.entries()) {
    const outcome = outcomes[position];
    if (outcome === undefined) return unscored('judgment_missing');
    if (!outcome.ok) return unscored(outcome.failure.reason);
    const { verdicts } = outcome.judgment;
    if (verdicts.kind !== 'rubric' || !answersRequest(request, verdicts)) return unscored('judgment_record_invalid');
    for (const { key, score } of verdicts.criteria) scores.set(key, score);
  }
  return {
    status: 'scored',
    observed: plan.rubrics.map(({ weight }, position) => {
      const score = scores.get(criterionKey(position));
      if (score === undefined) throw new Error('measureDrTulu: no verdict for a criterion after it was checked');
      return { weight, score };
    }),
  };
}

function measureCitation(plan: DrTuluPlan, outcome: JudgmentOutcome | undefined): DrTuluFacts['citation'] {
  const { citations, valid_id_ratio } = plan;
  if (citations === 'not_needed') return unscored('not_measured');
  const observed = (statements: readonly DrTuluStatementFact[]): DrTuluFacts['citation'] => ({
    status: 'scored',
    observed: { statements, valid_id_ratio },
  });
  if (citations === 'settled') return observed(plan.statements.map(() => UNSUPPORTED));
  if (outcome === undefined) return unscored('judgment_missing');
  if (!outcome.ok) return unscored(outcome.failure.reason);
  const { verdicts } = outcome.judgment;
  if (verdicts.kind !== 'citations' || !answersRequest(citations, verdicts)) return unscored('judgment_record_invalid');
  return observed(
    plan.statements.map((planned): DrTuluStatementFact => {
      if (!planned.cited) {
        const verdict = verdicts.statements[planned.statement];
        if (verdict === undefined) throw new Error('measureDrTulu: no verdict on an uncited part');
        return { cited: false, needs_citation: verdict.needs_citation };
      }
      if (planned.claim === null) return UNSUPPORTED;
      const verdict = verdicts.claims[planned.claim];
      if (verdict === undefined) throw new Error('measureDrTulu: no verdict on a claim after it was checked');
      const helpful = verdict.relevant.filter((relevant) => relevant).length;
      return { cited: true, support: verdict.support, relevance: helpful / verdict.relevant.length };
    }),
  );
}

/** What cites nothing that exists. */
const UNSUPPORTED: DrTuluStatementFact = { cited: true, support: 0, relevance: 0 };
