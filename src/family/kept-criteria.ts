/** Facts with a part of their criteria, or with other weights, for rewards under a part of a rubric. */
import type { Observed } from './facts.ts';

type CriteriaFacts<C> = { readonly rubric: Observed<readonly C[]> };

/** Keeps criteria by position, in the facts and in those of every member of a panel. @param kept `null` = left out. */
export function keepCriteria<
  C,
  Own extends CriteriaFacts<C>,
  F extends CriteriaFacts<C> & { readonly panel?: readonly { readonly facts: Own }[] },
>(facts: F, kept: (criterion: C, position: number) => C | null): F {
  const part = (rubric: Observed<readonly C[]>): Observed<readonly C[]> =>
    rubric.status === 'scored'
      ? { ...rubric, observed: rubric.observed.flatMap((criterion, position) => kept(criterion, position) ?? []) }
      : rubric;
  const own = { ...facts, rubric: part(facts.rubric) };
  if (facts.panel === undefined) return own;
  const panel = facts.panel.map((member) => ({
    ...member,
    facts: { ...member.facts, rubric: part(member.facts.rubric) },
  }));
  return { ...own, panel };
}
