/** Facts without some of their criteria, for rewards of a part of a rubric. */
import type { Observed } from './facts.ts';

type CriteriaFacts<C> = { readonly rubric: Observed<readonly C[]> };

/** Keeps criteria by position, in the facts and in those of every member of a panel. */
export function keepCriteria<
  C,
  Own extends CriteriaFacts<C>,
  F extends CriteriaFacts<C> & { readonly panel?: readonly { readonly facts: Own }[] },
>(facts: F, keeps: (criterion: C, position: number) => boolean): F {
  const kept = (rubric: Observed<readonly C[]>): Observed<readonly C[]> =>
    rubric.status === 'scored' ? { ...rubric, observed: rubric.observed.filter(keeps) } : rubric;
  const own = { ...facts, rubric: kept(facts.rubric) };
  if (facts.panel === undefined) return own;
  const panel = facts.panel.map((member) => ({
    ...member,
    facts: { ...member.facts, rubric: kept(member.facts.rubric) },
  }));
  return { ...own, panel };
}
