/**
 * The long-trace reward of one sample and of a group. Source: THU-KEG/LongTraceRL 415b6433,
 * `launch_server.py`, `get_reward`, and `slime/slime/rollout/sglang_rollout.py`, `generate_and_rm_group`. Only + - * /.
 */

/**
 * How outcome and rubric are combined, eta being the rubric's share:
 *
 *     positive_only   0 if o = 0, else (1 - eta) * o + eta * u
 *     negative_only   o if o > 0, else eta * u
 *     plain           (1 - eta) * o + eta * u
 *     chunks          o + eta * u + (1 - eta) * o * u        up to 2; data set longrlvr, whatever the switches
 *
 * With both one-sided switches of the reference on, negative_only wins.
 */
export type LongTraceVariant = 'positive_only' | 'negative_only' | 'plain' | 'chunks';

type LongTraceParts = {
  /** Judged outcome o, [0, 1]. */
  readonly outcome: number;
  /** Entity share or chunk score u, [0, 1]. */
  readonly rubric: number;
};

/**
 * Returns which parts of the reward the reference server evaluates for this eta. A part that the server skips counts as
 * 0.
 */
export function neededParts(eta: number): { readonly outcome: boolean; readonly rubric: boolean } {
  return { outcome: eta < 1, rubric: eta > 0 };
}

/** The weight of each part in the reward of one sample, and weight * value; the contributions add up to the reward. */
type LongTraceContributions = {
  readonly outcome: { readonly weight: number; readonly contribution: number };
  readonly rubric: { readonly weight: number; readonly contribution: number };
};

/** @param eta Share of the rubric, [0, 1]. */
export function longTraceContributions(
  parts: LongTraceParts,
  variant: LongTraceVariant,
  eta: number,
): LongTraceContributions {
  const weights = weightsOf(parts.outcome, variant, eta);
  return {
    outcome: { weight: weights.outcome, contribution: weights.outcome * parts.outcome },
    rubric: { weight: weights.rubric, contribution: weights.rubric * parts.rubric },
  };
}

/**
 * Returns the weights of o and u in the formulas of `LongTraceVariant`. They depend on o in all variants but `plain`.
 */
function weightsOf(
  outcome: number,
  variant: LongTraceVariant,
  eta: number,
): { readonly outcome: number; readonly rubric: number } {
  switch (variant) {
    case 'positive_only':
      return { outcome: 1 - eta, rubric: outcome === 0 ? 0 : eta };
    case 'negative_only':
      return { outcome: 1, rubric: outcome > 0 ? 0 : eta };
    case 'plain':
      return { outcome: 1 - eta, rubric: eta };
    case 'chunks':
      return { outcome: 1, rubric: eta + (1 - eta) * outcome };
  }
}

/**
 * The reward of one sample. The server's single-sample reply uses `plain`, or `chunks` for chunk data; the training
 * reward needs the group.
 *
 * @param eta Share of the rubric, [0, 1].
 * @throws RangeError on a non-finite number.
 */
export function longTraceReward(parts: LongTraceParts, variant: LongTraceVariant, eta: number): number {
  const { outcome, rubric } = longTraceContributions(parts, variant, eta);
  const reward = outcome.contribution + rubric.contribution;
  if (!Number.isFinite(reward)) throw new RangeError('longTraceReward: outcome, rubric and eta must be finite');
  return reward;
}

type LongTraceGroupOptions = {
  readonly variant: LongTraceVariant;
  /** Share of the rubric, [0, 1]. */
  readonly eta: number;
  /** Divide each rubric by the group's largest (wrong answers included) if that is above 0. */
  readonly normalise: boolean;
};

/**
 * The final rewards of a group, in order.
 *
 * @throws RangeError on a non-finite number.
 */
export function longTraceGroupRewards(
  members: readonly LongTraceParts[],
  { variant, eta, normalise }: LongTraceGroupOptions,
): number[] {
  let largest = 0;
  for (const { rubric } of members) if (rubric > largest) largest = rubric;
  const divisor = normalise && largest > 0 ? largest : 1;
  return members.map(({ outcome, rubric }) => longTraceReward({ outcome, rubric: rubric / divisor }, variant, eta));
}
