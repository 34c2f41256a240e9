/** Lists a rollout's criteria, claims and statements with their verdicts. An unknown verdict is `null`. */
import type { Claim } from '../../citations/types.ts';
import type { Verification } from '../../citations/verify.ts';
import type { RefinerFacts, StatementFact } from './facts.ts';
import { dividedCriteria } from './holdout.ts';
import type { RefinerPlan } from './plan.ts';
import type { RefinerReply } from './reply.ts';

/** The fields of a reply that describe the rollout. */
export function reportRefiner(
  plan: RefinerPlan,
  facts: RefinerFacts,
): Pick<RefinerReply, 'criteria' | 'claims' | 'statements' | 'findings' | 'finding_counts' | 'format'> {
  const { verified } = plan;
  return {
    criteria: reportCriteria(plan, facts),
    claims: reportClaims(plan, facts, verified.claims),
    statements: reportStatements(plan, facts),
    findings: [...verified.findings],
    finding_counts: verified.finding_counts,
    format: plan.parsed.format,
  };
}

/** `instance_rubrics_only` excludes the static set from the mean, and so from the report. */
function reportCriteria(plan: RefinerPlan, facts: RefinerFacts): RefinerReply['criteria'] {
  const judged = facts.rubric.status === 'scored' ? facts.rubric.observed : [];
  const { rubric } = dividedCriteria(facts, plan.recipe);
  const paying = new Set(rubric.status === 'scored' ? rubric.observed : []);
  return plan.criteria.flatMap(({ key, origin, polarity, weight, title, description }, position) => {
    if (origin === 'static' && plan.recipe.instance_rubrics_only) return [];
    const fact = judged[position];
    const { score = null, evidence } = fact ?? {};
    const criterion = { key, ...(title === undefined ? {} : { title }), description, origin, polarity, weight, score };
    const isLeftOut = fact !== undefined && !paying.has(fact);
    return [
      {
        ...criterion,
        ...(evidence === undefined ? {} : { evidence }),
        ...(isLeftOut ? { left_out: true as const } : {}),
      },
    ];
  });
}

function reportClaims(
  plan: RefinerPlan,
  facts: RefinerFacts,
  verified: Verification['claims'],
): RefinerReply['claims'] {
  // Facts list the planned claims first, in order (measure.ts).
  const observed = facts.citation.status === 'scored' ? facts.citation.observed : [];
  const positions = new Map(plan.claims.map(({ claim }, position) => [claim.index, position]));
  return verified.map(({ index, span, ids, duplicate_of, findings }) => {
    const position = positions.get(index);
    const planned = position === undefined ? undefined : plan.claims[position];
    const fact = position === undefined ? undefined : observed[position];
    const common = {
      ...{ index, span, ids: [...ids], duplicate_of, findings: [...findings] },
      ...(plan.evidence.get(index)?.language === null ? { unknown_language: true as const } : {}),
    };
    if (planned === undefined) return { ...common, support: null, relevant: ids.map(() => null) };
    if (fact === undefined || !fact.cited) {
      // Not judged: the report has what the plan decided without a judge.
      const relevant = planned.relevance.map((settled) => (settled === 'ask' ? null : settled));
      return { ...common, support: planned.support === 'ask' ? null : planned.support, relevant };
    }
    return { ...common, ...judgedClaim(fact, planned.claim) };
  });
}

function judgedClaim(
  { support, relevant, quote, contradicted, unsupported }: Extract<StatementFact, { cited: true }>,
  { span, text }: Claim,
): Pick<RefinerReply['claims'][number], 'support' | 'relevant' | 'quote' | 'contradicted' | 'unsupported'> {
  // A claim whose text leaves out inner markup has other offsets than the response.
  const isPlaced = unsupported !== undefined && span.end - span.start === text.length;
  return {
    ...{ support, relevant: [...relevant] },
    ...(quote === undefined ? {} : { quote }),
    ...(contradicted === undefined ? {} : { contradicted }),
    ...(isPlaced ? { unsupported: { start: span.start + unsupported.start, end: span.start + unsupported.end } } : {}),
  };
}

function reportStatements(plan: RefinerPlan, facts: RefinerFacts): RefinerReply['statements'] {
  const uncited = facts.citation.status === 'scored' ? facts.citation.observed.slice(plan.claims.length) : [];
  return plan.parsed.statements.map(({ index, pieces }, position) => {
    const fact = uncited[position];
    return {
      index,
      pieces: [...pieces],
      needs_citation: fact === undefined || fact.cited ? null : fact.needs_citation,
    };
  });
}
