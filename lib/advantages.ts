/** Exports `advantages` and `stepAdvantages` to users of the library: advantages by the rule of a named trainer. */
import type { AdvantageOptions } from '../src/scoring/advantage-presets.ts';
import { type GroupAdvantages, advantages as groupAdvantages } from '../src/scoring/advantages.ts';
import { type GdpoOptions, type GdpoStep, gdpoAdvantages, type StepMember } from '../src/scoring/gdpo.ts';
import { InputError } from './input-error.ts';

/**
 * Computes the advantages of one group by a trainer's rule. A `null` reward is left out of mean and std; its sample has
 * advantage 0 and `masked: true`.
 *
 * @example
 * ```ts
 * import { advantages } from 'citeward';
 *
 * const group = advantages([6.2, null, 4.9, 7.1], 'trl');
 * console.log(group.advantages.map(({ advantage }) => advantage), group.degenerate);
 * ```
 * @param options A trainer's name, or a rule of your own. Default `mean`: centred, not scaled.
 * @throws InputError for an empty group, a reward that is not finite, or a rule out of its bounds.
 */
export function advantages(rewards: readonly (number | null)[], options: AdvantageOptions = 'mean'): GroupAdvantages {
  const result = groupAdvantages(rewards, options);
  if (!result.ok) throw new InputError(result.error);
  return result.value;
}

/**
 * Computes the GDPO advantages of a whole training step: each component is normalised within its group, and the
 * weighted sums over all groups. A member whose `components` are `null` is unscored: it is in no statistic, and has
 * advantage 0 and `masked: true`.
 *
 * @example
 * ```ts
 * import { stepAdvantages } from 'citeward';
 *
 * const first = [{ components: { rubric: 6, citation: 0 } }, { components: { rubric: 2, citation: 2 } }];
 * const second = [{ components: { rubric: 4, citation: 1 } }, { components: null }];
 * const { groups } = stepAdvantages([first, second], { preset: 'trl-gdpo', weights: { citation: 0.5 } });
 * console.log(groups.map(({ members }) => members.map(({ advantage }) => advantage)));
 * ```
 * @param groups The samples of each prompt; `components` are the `contributions` of a score.
 * @param options The trainer's name, or its name with its settings.
 * @throws InputError if scored members have different components, a number is not finite, or `response_tokens` are
 *   missing for `verl-gdpo`.
 */
export function stepAdvantages(groups: readonly (readonly StepMember[])[], options: GdpoOptions): GdpoStep {
  const result = gdpoAdvantages(groups, options);
  if (!result.ok) throw new InputError(result.error);
  return result.value;
}
