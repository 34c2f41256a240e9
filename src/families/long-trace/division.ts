/** How a long-trace reward is explained: its components, and the division by the group's largest share. */
import type { RewardDivision } from '../../family/reward-division.ts';
import type { LongTrace } from './composer.ts';

export const longTraceDivision: RewardDivision<LongTrace> = {
  family: 'long-trace',
  guards: [{ field: 'normalise_in_group', off: (recipe) => ({ ...recipe, normalise_in_group: false }) }],
  divide: () => ({ rubric: [], citation: [] }),
};
