/** Measure: a plan and the judgments that were had in, facts out. What could not be had stays unscored, with its reason. */

import type { CriterionFact, Observed, RefinerFacts, StatementFact } from '../../family/facts.ts';
import { answersRequest } from '../../judgments/kinds/registry.ts';
import type { CitationVerdicts, CriterionScore, JudgmentOutcome } from '../../judgments/types.ts';
import type { PlannedClaim, RefinerPlan } from './plan.ts';

/** The outcomes of the plan's requests, in their order. A request without an outcome counts as a missing judgment. */
export type Outcomes = { readonly rubric: readonly JudgmentOutcome[]; readonly citations?: JudgmentOutcome };

/** Facts of one refiner rollout. Judgments that do not answer their request exactly are refused, never guessed at. */
export function measureRefiner(plan: RefinerPlan, outcomes: Outcomes): RefinerFacts {
  return {
    v: 1,
    family: 'refiner',
    has_answer: plan.parsed.answer !== null,
    format: plan.parsed.format,
    finish_reason: plan.finish_reason,
    rubric: measureRubric(plan, outcomes.rubric),
    citation: measureCitation(plan, outcomes.citations),
  };
}

type Unscored = Extract<Observed<never>, { status: 'unscored' }>;

function unscored(reason: Unscored['reason']): Unscored {
  return { status: 'unscored', reason };
}

/** Every rubric judgment must be had: criteria that were judged apart are one mean all the same. */
function measureRubric(plan: RefinerPlan, outcomes: readonly JudgmentOutcome[]): Observed<readonly CriterionFact[]> {
  if (typeof plan.rubric === 'string') return unscored('not_measured');
  const scores = new Map<string, CriterionScore>();
  for (const [position, request] of plan.rubric.entries()) {
    const outcome = outcomes[position];
    if (outcome === undefined) return unscored('judgment_missing');
    if (!outcome.ok) return unscored(outcome.failure.reason);
    const verdicts = outcome.judgment.verdicts;
    if (verdicts.kind !== 'rubric' || !answersRequest(request, verdicts)) return unscored('judgment_record_invalid');
    for (const { key, score } of verdicts.criteria) scores.set(key, score);
  }
  return {
    status: 'scored',
    observed: plan.criteria.map(({ key, origin, polarity, weight }) => {
      const score = scores.get(key);
      if (score === undefined) throw new Error(`measure: no verdict for ${key} after it was checked`);
      return { origin, polarity, weight, score };
    }),
  };
}

function measureCitation(plan: RefinerPlan, outcome: JudgmentOutcome | undefined): Observed<readonly StatementFact[]> {
  if (plan.citations === 'not_needed') return unscored('not_measured');
  if (plan.citations === 'settled') {
    return { status: 'scored', observed: plan.claims.map((claim) => claimFact(claim, undefined)) };
  }
  if (outcome === undefined) return unscored('judgment_missing');
  if (!outcome.ok) return unscored(outcome.failure.reason);
  const verdicts = outcome.judgment.verdicts;
  if (verdicts.kind !== 'citations' || !answersRequest(plan.citations, verdicts)) {
    return unscored('judgment_record_invalid');
  }
  const byClaim = new Map(verdicts.claims.map((verdict) => [verdict.claim, verdict]));
  return {
    status: 'scored',
    observed: [
      ...plan.claims.map((claim) => claimFact(claim, byClaim.get(claim.claim.index))),
      ...verdicts.statements.map(({ needs_citation }) => ({ cited: false as const, needs_citation })),
    ],
  };
}

/** Joins what the plan settled with what the judge said: its relevances fill the open places in order. */
function claimFact(planned: PlannedClaim, verdict: CitationVerdicts['claims'][number] | undefined): StatementFact {
  let next = 0;
  const relevant = planned.relevance.map((settled) => {
    if (settled !== 'ask') return settled;
    const judged = verdict?.relevant[next++];
    if (judged === undefined) throw new Error('measure: an open relevance has no verdict after it was checked');
    return judged;
  });
  if (planned.support !== 'ask') return { cited: true, support: planned.support, relevant };
  if (verdict === undefined) throw new Error('measure: an open claim has no verdict after it was checked');
  const fact = { cited: true as const, support: verdict.support, relevant };
  if (verdict.quote === 'absent') return fact;
  return { ...fact, quote: verdict.quote === 'unverified' ? 'unverified' : 'verified' };
}
