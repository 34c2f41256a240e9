/** How a refiner reward is explained: criteria, claims, and the guards of the recipe. */
import type { RewardDivision } from '../../family/reward-division.ts';
import { refinerClaimShares } from './claim-shares.ts';
import type { Refiner } from './composer.ts';
import { refinerMonitor } from './monitor.ts';

export const refinerDivision: RewardDivision<Refiner> = {
  family: 'refiner',
  guards: [
    {
      field: 'abstentions_need_no_citation',
      off: ({ abstentions_need_no_citation: _, ...recipe }) => recipe,
    },
    { field: 'negatives_require_positive', off: (recipe) => ({ ...recipe, negatives_require_positive: false }) },
    { field: 'own_positives_required', off: ({ own_positives_required: _, ...recipe }) => recipe },
    { field: 'padding_lowers_citation', off: ({ padding_lowers_citation: _, ...recipe }) => recipe },
    {
      field: 'gate_judge_score_with_format_bonus',
      off: (recipe) => ({ ...recipe, gate_judge_score_with_format_bonus: false }),
    },
    { field: 'finding_penalty', off: ({ finding_penalty: _, ...recipe }) => recipe },
    { field: 'citations', off: ({ citations: _, ...recipe }) => recipe },
    { field: 'non_stop_penalty', off: (recipe) => ({ ...recipe, non_stop_penalty: { enabled: false, value: 0 } }) },
  ],
  divide: (facts, recipe, score) => {
    const shares = Object.values(refinerMonitor.criteriaShares?.(facts, recipe) ?? {});
    const { contribution } = score.components.rubric;
    const amounts = refinerClaimShares(facts, recipe, score);
    const statements = facts.citation.status === 'scored' ? facts.citation.observed : [];
    return {
      rubric: shares.map((share) => share * (contribution ?? 0)),
      citation: amounts.map((amount, n) => ({ isClaim: statements[n]?.cited === true, amount })),
    };
  },
};
