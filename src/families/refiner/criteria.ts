/** The criteria of one rollout: the row's own, then the static set, keyed by position. */
import type { Criterion, CriterionInput } from '../../family/rollout.ts';
import { STATIC_V3 } from '../../judgments/kinds/rubric/static-criteria.ts';

export type RubricsOfRow = {
  readonly positive_rubrics?: readonly CriterionInput[];
  readonly negative_rubrics?: readonly CriterionInput[];
};

/**
 * Concatenates positives, negatives and (if asked for) the static V3 set. Duplicates stay: they count as often as they
 * are given. Keys `c1`…`cn` follow the position, so that the row's own keys do not depend on the static set.
 */
export function criteriaOf(row: RubricsOfRow, withStatic: boolean): readonly Criterion[] {
  const criteria: Criterion[] = [];
  const add = (criterion: Omit<Criterion, 'key'>): void => {
    criteria.push({ key: `c${criteria.length + 1}`, ...criterion });
  };
  for (const polarity of ['positive', 'negative'] as const) {
    for (const { title, description, weight } of row[`${polarity}_rubrics`] ?? []) {
      add({
        origin: 'instance',
        polarity,
        weight: weight ?? 1,
        description,
        ...(title === undefined ? {} : { title }),
      });
    }
  }
  if (withStatic) for (const criterion of STATIC_V3) add({ origin: 'static', weight: 1, ...criterion });
  return criteria;
}
