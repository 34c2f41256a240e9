/** How a carr reward is explained: the criteria that count, and the division by the group's largest share. */
import type { RewardDivision } from '../../family/reward-division.ts';
import type { Carr } from './composer.ts';
import { countingCriteria } from './share.ts';

export const carrDivision: RewardDivision<Carr> = {
  family: 'carr',
  guards: [{ field: 'normalisation', off: (recipe) => ({ ...recipe, normalisation: 'none' }) }],
  divide: ({ criteria, supported }, { connected }, score) => {
    const counting =
      supported.status === 'scored' ? countingCriteria(criteria, supported.observed, connected).map(Number) : [];
    const sum = counting.reduce((total, one) => total + one, 0);
    const contribution = score.components.rubric.contribution ?? 0;
    return { rubric: sum === 0 ? [] : counting.map((one) => (contribution * one) / sum), citation: [] };
  },
};
