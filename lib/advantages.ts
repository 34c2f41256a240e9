/** Exports `advantages` to users of the library: group advantages by the rule of a named trainer. */
import type { AdvantageOptions } from '../src/scoring/advantage-presets.ts';
import { type GroupAdvantages, advantages as groupAdvantages } from '../src/scoring/advantages.ts';
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
  if (!result.ok) throw new InputError(result.problems);
  return result.group;
}
