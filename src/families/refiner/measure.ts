/** Derives the facts of a refiner rollout from its plan and judgments. A missing judgment becomes its reason. */
import type { Observed } from '../../family/facts.ts';
import { criterionVerdicts, mapObserved, quoteFact, scored, unscored, verdictsOf } from '../../family/observe.ts';
import type { JudgmentOutcome } from '../../judgments/judgment.ts';
import type { CitationVerdicts } from '../../judgments/kinds/citations/citations.ts';
import { criterionHash } from './criterion-hash.ts';
import type { CriterionFact, RefinerFacts, StatementFact } from './facts.ts';
import type { PlannedClaim, RefinerPlan } from './plan.ts';

/** The outcomes of the plan's requests, in order. A request without an outcome is a missing judgment. */
type RefinerOutcomes = {
  readonly rubric: readonly JudgmentOutcome[];
  readonly citations: JudgmentOutcome | undefined;
};

export function measureRefiner(plan: RefinerPlan, outcomes: RefinerOutcomes): RefinerFacts {
  const repeated = plan.parsed.answer === null ? 0 : (plan.parsed.counts.citation_id_repeated ?? 0);
  return {
    v: 1,
    family: 'refiner',
    has_answer: plan.parsed.answer !== null,
    format: plan.parsed.format,
    finish_reason: plan.finish_reason,
    ...(plan.recipe.citations === undefined ? {} : { cites: plan.parsed.claims.length > 0 }),
    ...(plan.abstains ? { abstains: plan.abstains } : {}),
    ...(repeated === 0 ? {} : { repeated_ids: repeated }),
    rubric: measureRubric(plan, outcomes.rubric),
    citation: measureCitation(plan, outcomes.citations),
    ...plan.counts,
  };
}

function measureRubric(plan: RefinerPlan, outcomes: readonly JudgmentOutcome[]): Observed<readonly CriterionFact[]> {
  if (typeof plan.rubric === 'string') return unscored('not_measured');
  return mapObserved(criterionVerdicts(plan.rubric, outcomes), (verdicts) =>
    plan.criteria.map((criterion, position) => {
      const { key, origin, polarity, weight } = criterion;
      const verdict = verdicts[position];
      if (verdict === undefined)
        throw new Error(`measureRefiner: no verdict for ${key} although the reply was checked`);
      const { holdout, dropout } = plan.recipe;
      const mayGo = dropout !== undefined || (holdout !== undefined && polarity === 'positive');
      const hash = origin === 'instance' && mayGo ? { hash: criterionHash(criterion) } : {};
      return { origin, polarity, weight, ...verdict, ...hash };
    }),
  );
}

function measureCitation(plan: RefinerPlan, outcome: JudgmentOutcome | undefined): Observed<readonly StatementFact[]> {
  if (plan.citations === 'not_needed') return unscored('not_measured');
  if (plan.citations === 'settled') return scored(plan.claims.map((claim) => claimFact(claim, undefined)));
  const verdicts = verdictsOf(plan.citations, outcome);
  if (verdicts.status === 'unscored') return verdicts;
  const { claims, statements } = verdicts.observed;
  const byClaim = new Map(claims.map((verdict) => [verdict.claim, verdict]));
  return scored([
    ...plan.claims.map((claim) => claimFact(claim, byClaim.get(claim.claim.index))),
    ...statements.map(({ needs_citation }) => ({ cited: false as const, needs_citation })),
  ]);
}

/**
 * Builds the fact of one claim from what the plan decided without a judge and from the judge's verdict. The verdict's
 * relevances replace the `ask` entries, in order.
 */
function claimFact(planned: PlannedClaim, verdict: CitationVerdicts['claims'][number] | undefined): StatementFact {
  let next = 0;
  const relevant = planned.relevance.map((settled) => {
    if (settled !== 'ask') return settled;
    const judged = verdict?.relevant[next++];
    if (judged === undefined)
      throw new Error('measureRefiner: no verdict on a relevance although the reply was checked');
    return judged;
  });
  if (planned.support !== 'ask') return { cited: true, support: planned.support, relevant };
  if (verdict === undefined) throw new Error('measureRefiner: no verdict on a claim although the reply was checked');
  const { support, quote, contradicted, unsupported } = verdict;
  return {
    ...{ cited: true, support, relevant, ...quoteFact(quote) },
    ...(contradicted === undefined ? {} : { contradicted }),
    ...(unsupported === undefined ? {} : { unsupported }),
  };
}
