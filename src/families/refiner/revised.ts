/** Facts of a refiner rollout with other verdicts. What the judge said with a verdict goes with it. */
import { mapObserved } from '../../family/observe.ts';
import { type MeasuredKind, type NextLevel, revisedSupport } from '../../family/verdict-levels.ts';
import type { CriterionFact, RefinerFacts, StatementFact } from './facts.ts';

export function revisedRefiner(facts: RefinerFacts, next: NextLevel): RefinerFacts {
  if (!facts.has_answer) return facts;
  return {
    ...facts,
    rubric: mapObserved(facts.rubric, (criteria) => criteria.map((one) => criterion(one, next))),
    citation: mapObserved(facts.citation, (statements) => statements.map((one) => statement(one, next))),
  };
}

function criterion(fact: CriterionFact, next: NextLevel): CriterionFact {
  const kind: MeasuredKind = fact.origin === 'static' ? fact.origin : fact.polarity;
  const score = next(kind, fact.score);
  if (score === fact.score) return fact;
  const { evidence: _evidence, ...rest } = fact;
  return { ...rest, score };
}

/** A claim without support has no relevant citation. One that gains support keeps those it has, or has only such. */
function statement(fact: StatementFact, next: NextLevel): StatementFact {
  if (!fact.cited) return { cited: false, needs_citation: next('needs_citation', Number(fact.needs_citation)) === 1 };
  const support = revisedSupport(fact.support, next);
  if (support === null) return fact;
  const isOne = fact.relevant.some((relevant) => relevant);
  return { cited: true, support, relevant: fact.relevant.map((relevant) => support > 0 && (relevant || !isOne)) };
}
