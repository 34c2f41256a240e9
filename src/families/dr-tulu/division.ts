/** How a dr-tulu reward is explained: criteria, claims and the penalty for cut responses. */
import { countedScore } from '../../family/criterion-evidence.ts';
import type { RewardDivision } from '../../family/reward-division.ts';
import { drTuluClaimShares } from './claim-shares.ts';
import type { DrTulu } from './composer.ts';

export const drTuluDivision: RewardDivision<DrTulu> = {
  family: 'dr-tulu',
  guards: [
    { field: 'non_stop_penalty', off: (recipe) => ({ ...recipe, non_stop_penalty: { enabled: false, value: 0 } }) },
  ],
  divide: (facts, recipe, score) => {
    const criteria = facts.has_answer && facts.rubric.status === 'scored' ? facts.rubric.observed : [];
    const earned = criteria.map((one) => one.weight * countedScore(one, recipe));
    const sum = earned.reduce((total, one) => total + one, 0);
    const { contribution } = score.components.rubric;
    const amounts = drTuluClaimShares(facts, recipe, score);
    const statements = facts.citation.status === 'scored' ? facts.citation.observed.statements : [];
    return {
      rubric: sum === 0 ? [] : earned.map((one) => ((contribution ?? 0) * one) / sum),
      citation: amounts.map((amount, n) => ({ isClaim: statements[n]?.cited === true, amount })),
    };
  },
};
