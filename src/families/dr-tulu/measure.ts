/** Derives the facts of a dr-tulu rollout from its plan and judgments. A missing judgment becomes its reason. */
import { criterionVerdicts, mapObserved, quoteFact, scored, unscored, verdictsOf } from '../../family/observe.ts';
import type { JudgmentOutcome } from '../../judgments/judgment.ts';
import type { DrTuluFacts, DrTuluStatementFact } from './facts.ts';
import type { DrTuluPlan } from './plan.ts';

/** The outcomes of the plan's rubric and citations requests, in the order of the requests. */
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

function measureRubric(plan: DrTuluPlan, outcomes: readonly JudgmentOutcome[]): DrTuluFacts['rubric'] {
  if (plan.rubric === 'not_needed') return unscored('not_measured');
  return mapObserved(criterionVerdicts(plan.rubric, outcomes), (verdicts) =>
    plan.rubrics.map(({ weight }, position) => {
      const verdict = verdicts[position];
      if (verdict === undefined)
        throw new Error('measureDrTulu: no verdict on a criterion although the reply was checked');
      return { weight, ...verdict };
    }),
  );
}

function measureCitation(plan: DrTuluPlan, outcome: JudgmentOutcome | undefined): DrTuluFacts['citation'] {
  const { citations, valid_id_ratio } = plan;
  if (citations === 'not_needed') return unscored('not_measured');
  const observed = (statements: readonly DrTuluStatementFact[]) => scored({ statements, valid_id_ratio });
  if (citations === 'settled') return observed(plan.statements.map(() => UNSUPPORTED));
  const verdicts = verdictsOf(citations, outcome);
  if (verdicts.status === 'unscored') return verdicts;
  const { claims, statements } = verdicts.observed;
  return observed(
    plan.statements.map((planned): DrTuluStatementFact => {
      if (!planned.cited) {
        const verdict = statements[planned.statement];
        if (verdict === undefined)
          throw new Error('measureDrTulu: no verdict on an uncited part although the reply was checked');
        return { cited: false, needs_citation: verdict.needs_citation };
      }
      if (planned.claim === null) return UNSUPPORTED;
      const verdict = claims[planned.claim];
      if (verdict === undefined) throw new Error('measureDrTulu: no verdict on a claim although the reply was checked');
      const helpful = verdict.relevant.filter((relevant) => relevant).length;
      const relevance = helpful / verdict.relevant.length;
      const quote = plan.records_quotes ? quoteFact(verdict.quote) : {};
      return { cited: true, support: verdict.support, relevance, ...quote };
    }),
  );
}

/** Whether a claim cites no existing source. */
const UNSUPPORTED: DrTuluStatementFact = { cited: true, support: 0, relevance: 0 };
