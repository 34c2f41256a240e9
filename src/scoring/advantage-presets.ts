/**
 * Presets for group advantages: each reproduces what the named trainer does with a full group of scored samples. `null`
 * rewards, degenerate groups and bounds are treated alike for all presets (advantages.ts).
 */

/** A baseline, a scale, and the treatment of groups without signal. */
export type AdvantageRule = {
  /**
   * The number to subtract: the group mean; the mean of the other samples; or open-instruct's margin,
   * `max(min(mean + bias * verification_reward, 0.9 * verification_reward), mean)`. With `leave_one_out` the std is that
   * of the other samples too, and a difference is not divided where that std is 0 or undefined.
   */
  readonly baseline: 'mean' | 'leave_one_out' | MarginBaseline;
  /** The divisor of the difference, to which `epsilon` is added: none, the std over n - 1, or the std over n. */
  readonly scale: 'none' | 'unbiased_std' | 'population_std';
  /** Added to the divisor; above 0. Not used with scale `none`. */
  readonly epsilon: number;
  /** With fewer scored samples the group gives no signal; an integer of at least 1. */
  readonly min_valid: number;
  /** A group of one sample: no signal, or (verl) mean 0 and std 1, so the advantage is the reward itself. */
  readonly singleton: 'no_signal' | 'mean_0_std_1';
  /** The trainer's dynamic-sampling filter drops a group unless this std exceeds `above`; `null` = no filter. */
  readonly filter: null | { readonly std: 'unbiased' | 'population'; readonly above: number };
};

export type MarginBaseline = {
  /** The bias of the margin formula, in [0, 1]; the trainer clips it to this range. */
  readonly bias: number;
  /** Largest reward that a sample can have; above 0. */
  readonly verification_reward: number;
};

/** dr-tulu's margin; its two parameters have no useful default (bias 0 is `open-instruct`). */
type OpenInstructMargin = { readonly preset: 'open-instruct-margin' } & MarginBaseline;

export type AdvantagePreset = (typeof ADVANTAGE_PRESET_NAMES)[number];

export const ADVANTAGE_PRESET_NAMES = [
  'mean',
  'slime',
  'slime-centered',
  'verl',
  'verl-no-std',
  'trl',
  'trl-async',
  'open-instruct',
  'open-instruct-centered',
  'openrlhf',
  'nemo-grpo',
] as const;

const CENTRED = {
  baseline: 'mean',
  scale: 'none',
  epsilon: 1e-8,
  min_valid: 2,
  singleton: 'no_signal',
  filter: null,
} as const satisfies AdvantageRule;

/**
 * slime's filter (`dynamic_sampling_filters.py`, `check_reward_nonzero_std`). It is off unless
 * `--dynamic-sampling-filter-path` names it; `dropped_by_filter` reports what it would do.
 */
const SLIME_FILTER = { std: 'unbiased', above: 1e-6 } as const;
/**
 * open-instruct's filter (`grpo_fast.py`, `non_zero_std_mask`): always on in dr-tulu, an option
 * (`filter_zero_std_samples`) upstream.
 */
const OPEN_INSTRUCT_FILTER = { std: 'population', above: 0 } as const;

/**
 * Sources: slime as vendored in THU-KEG/LongTraceRL 415b6433, `slime/slime/ray/rollout.py`, `_post_process_rewards`
 * (grpo, with and without `grpo_std_normalization`); volcengine/verl b178a3cd, `verl/trainer/ppo/core_algos.py`,
 * `compute_grpo_outcome_advantage` (with and without `norm_adv_by_std_in_grpo`); huggingface/trl f2cd5771,
 * `grpo_trainer.py`, `scale_rewards="group"` (`torch.std`, and its own `nanstd`: both over n - 1); rlresearch/dr-tulu
 * 6188f34c, `open_instruct/grpo_fast.py`, `advantage_normalization_type` `standard` and `centered`; TRL's
 * `experimental/async_grpo` (`trl-async`); OpenRLHF/OpenRLHF 3c3be623, `group_norm` of `--algo.advantage.estimator`;
 * NVIDIA-NeMo/RL 7ea279ab, `nemo_rl/algorithms/advantage_estimator.py`, `GRPOAdvantageEstimator` with its defaults.
 *
 * `min_valid` 2 is our choice where the code has no rule: slime's std of one sample is NaN, the others give 0.
 */
export const ADVANTAGE_PRESETS: Readonly<Record<AdvantagePreset, AdvantageRule>> = {
  mean: CENTRED,
  slime: { ...CENTRED, scale: 'unbiased_std', epsilon: 1e-6, filter: SLIME_FILTER },
  'slime-centered': { ...CENTRED, filter: SLIME_FILTER },
  verl: { ...CENTRED, scale: 'unbiased_std', epsilon: 1e-6, singleton: 'mean_0_std_1' },
  'verl-no-std': { ...CENTRED, singleton: 'mean_0_std_1' },
  trl: { ...CENTRED, scale: 'unbiased_std', epsilon: 1e-4 },
  'trl-async': { ...CENTRED, scale: 'population_std', epsilon: 1e-8 },
  openrlhf: { ...CENTRED, scale: 'unbiased_std', epsilon: 1e-9 },
  'nemo-grpo': { ...CENTRED, baseline: 'leave_one_out', scale: 'unbiased_std', epsilon: 1e-6 },
  'open-instruct': { ...CENTRED, scale: 'population_std', epsilon: 1e-8, filter: OPEN_INSTRUCT_FILTER },
  'open-instruct-centered': { ...CENTRED, filter: OPEN_INSTRUCT_FILTER },
};

/** A preset by name, dr-tulu's margin with its parameters, or a custom rule. */
export type AdvantageOptions = AdvantagePreset | OpenInstructMargin | AdvantageRule;

export function ruleOf(options: AdvantageOptions): AdvantageRule {
  if (typeof options === 'string') return ADVANTAGE_PRESETS[options];
  if (!('preset' in options)) return options;
  const { bias, verification_reward } = options;
  return { ...ADVANTAGE_PRESETS['open-instruct'], baseline: { bias, verification_reward } };
}
