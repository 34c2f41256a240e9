/** Facts of a dr-tulu rollout with other verdicts. What the judge said with a verdict goes with it. */
import { mapObserved } from '../../family/observe.ts';
import { type NextLevel, revisedSupport } from '../../family/verdict-levels.ts';
import type { DrTuluFacts, DrTuluStatementFact } from './facts.ts';

export function revisedDrTulu(facts: DrTuluFacts, next: NextLevel): DrTuluFacts {
  if (!facts.has_answer) return facts;
  return {
    ...facts,
    rubric: mapObserved(facts.rubric, (criteria) =>
      criteria.map((criterion) => {
        const score = next(criterion.weight < 0 ? 'negative' : 'positive', criterion.score);
        if (score === criterion.score) return criterion;
        return { weight: criterion.weight, score };
      }),
    ),
    citation: mapObserved(facts.citation, (citation) => ({
      ...citation,
      statements: citation.statements.map((one) => statement(one, next)),
    })),
  };
}

/** A claim without support has no relevant citation. One that gains support keeps the share it has, or has only such. */
function statement(fact: DrTuluStatementFact, next: NextLevel): DrTuluStatementFact {
  if (!fact.cited) return { cited: false, needs_citation: next('needs_citation', Number(fact.needs_citation)) === 1 };
  const support = revisedSupport(fact.support, next);
  if (support === null) return fact;
  return { cited: true, support, relevance: support === 0 ? 0 : fact.relevance || 1 };
}
