/**
 * GDPO advantages of a training step: normalises each component of the reward within its group, adds the results by
 * their weights, and normalises the sums over the whole step. TRL, verl and NeMo RL differ in the baseline, the epsilons
 * and the step over the batch; each rule reproduces one of them.
 *
 * Sources: huggingface/trl f2cd5771, `trl/trainer/grpo_trainer.py` (`normalize_then_sum`) and `trainer/utils.py`
 * (`nanstd`); verl-project/verl 1dda039b, `verl/trainer/ppo/core_algos.py` (`compute_gdpo_outcome_advantage`) and
 * `utils/torch_functional.py` (`masked_whiten`); NVIDIA-NeMo/RL 7ea279ab, `nemo_rl/algorithms/advantage_estimator.py`
 * (`GDPOAdvantageEstimator`) and `algorithms/utils.py` (`calculate_baseline_and_std_per_prompt`).
 */
import type { InputProblem } from '../input-problem.ts';
import type { Result } from '../result.ts';
import { REWARD_LIMIT } from './advantages.ts';
import { type OthersSpread, othersSpreads, type Spread, spreadOf, sum } from './spread.ts';

export const GDPO_PRESET_NAMES = ['trl-gdpo', 'verl-gdpo', 'nemo-gdpo'] as const;

type GdpoPreset = (typeof GDPO_PRESET_NAMES)[number];

/** The weight of each component; a component without one has weight 1. */
type ComponentWeights = Readonly<Record<string, number>>;

/** The settings of the trainer that change its rule. */
export type GdpoOptions =
  | GdpoPreset
  | { readonly preset: 'trl-gdpo'; readonly weights?: ComponentWeights | undefined }
  | {
      readonly preset: 'verl-gdpo';
      readonly weights?: ComponentWeights | undefined;
      /** Whether each component is divided by its std. Default true, as in verl. */
      readonly norm_adv_by_std_in_grpo?: boolean | undefined;
    }
  | {
      readonly preset: 'nemo-gdpo';
      readonly weights?: ComponentWeights | undefined;
      /** Whether the baseline of a sample is the mean of the others. Default true, as in NeMo RL; its guide sets false. */
      readonly use_leave_one_out_baseline?: boolean | undefined;
      /** Whether each component is divided by its std. Default true, as in NeMo RL. */
      readonly normalize_rewards?: boolean | undefined;
    };

export function isGdpo(options: unknown): options is GdpoOptions {
  const preset = typeof options === 'object' && options !== null && 'preset' in options ? options.preset : options;
  return GDPO_PRESET_NAMES.some((name) => name === preset);
}

/** One sample of a step. */
export type StepMember = {
  /** Its components in reward units by name; `null` = unscored. */
  readonly components: Readonly<Record<string, number>> | null;
  /** Number of tokens that the policy wrote; verl's batch step needs it. */
  readonly response_tokens?: number | undefined;
};

type WeightedSum = {
  /** The weighted sum of the normalised components; `null` = unscored. */
  readonly weighted_sum: number | null;
  /** Unscored: the member is in no statistic, and the trainer must leave it out of the loss. */
  readonly masked: boolean;
};

export type GdpoGroup = {
  readonly members: readonly WeightedSum[];
  /** Number of scored members. */
  readonly valid: number;
  /** Why the group gives no signal: its weighted sums are equal, or there are too few. */
  readonly degenerate: { readonly reason: 'no_valid_reward' | 'too_few_valid' | 'all_equal' } | null;
};

/** The advantages of a step, group by group. */
export type GdpoStep = {
  /** In the order of the groups and of their members. A masked member has advantage 0. */
  readonly groups: readonly (Omit<GdpoGroup, 'members'> & {
    readonly members: readonly (WeightedSum & { readonly advantage: number })[];
  })[];
  /** The statistics of the batch step; `null` = no member is scored. */
  readonly batch: { readonly mean: number; readonly std: number | null } | null;
};

/** How a trainer normalises the components of a group. */
type GroupRule = {
  readonly weights: ComponentWeights;
  readonly baseline: 'mean' | 'leave_one_out';
  /** Added to the std; `null` = the difference is not divided. */
  readonly epsilon: number | null;
  /** Whether a std of 0 leaves the difference undivided; else epsilon divides it. */
  readonly zeroStd: 'divides' | 'undivided';
  /** A group of one member: its components count 0, or they have mean 0 and std 1. */
  readonly single: 'zero' | 'mean_0_std_1';
};

/** How a trainer normalises the sums of a step. */
type BatchRule = 'std_plus_epsilon' | 'tokens' | 'std';

type Rule = { readonly group: GroupRule; readonly batch: BatchRule };

function ruleOf(options: GdpoOptions): Rule {
  const given: Exclude<GdpoOptions, GdpoPreset> = typeof options === 'string' ? { preset: options } : options;
  const weights = given.weights ?? {};
  switch (given.preset) {
    case 'trl-gdpo': {
      const group = { weights, baseline: 'mean', epsilon: 1e-4, zeroStd: 'divides', single: 'zero' } as const;
      return { group, batch: 'std_plus_epsilon' };
    }
    case 'verl-gdpo': {
      const epsilon = (given.norm_adv_by_std_in_grpo ?? true) ? 1e-6 : null;
      const group = { weights, baseline: 'mean', epsilon, zeroStd: 'divides', single: 'mean_0_std_1' } as const;
      return { group, batch: 'tokens' };
    }
    case 'nemo-gdpo': {
      const baseline = (given.use_leave_one_out_baseline ?? true) ? 'leave_one_out' : 'mean';
      const epsilon = (given.normalize_rewards ?? true) ? 1e-6 : null;
      return { group: { weights, baseline, epsilon, zeroStd: 'undivided', single: 'zero' }, batch: 'std' };
    }
  }
}

/** Largest absolute weight; low enough that no square of a weighted sum overflows. */
const WEIGHT_LIMIT = 1e6;
/** Sums that differ from their mean by less count as equal: their difference is rounding, which a std would enlarge. */
const EQUAL_WITHIN = 1e-9;
/** Added to the std of the sums by TRL. */
const TRL_BATCH_EPSILON = 1e-4;
/** Added to the number of tokens and to the variance over tokens by verl's `masked_whiten`. */
const VERL_EPSILON = 1e-8;

/**
 * The weighted sums of one group. They become advantages only with the other groups of the step (`gdpoAdvantages`).
 *
 * @param path path of the members in the request, for problems.
 */
export function gdpoGroup(
  members: readonly StepMember[],
  options: GdpoOptions,
  path: InputProblem['path'] = [],
): Result<GdpoGroup, readonly InputProblem[]> {
  const problems = [...memberProblems(members, path), ...weightProblems(members, options)];
  if (problems.length > 0) return { ok: false, error: problems };
  return { ok: true, value: weightedSums(members, ruleOf(options).group) };
}

/** Advantages of all groups of a step. A masked member votes nowhere, and its advantage is 0. */
export function gdpoAdvantages(
  groups: readonly (readonly StepMember[])[],
  options: GdpoOptions,
): Result<GdpoStep, readonly InputProblem[]> {
  const rule = ruleOf(options);
  const problems = groups.flatMap((members, n) => memberProblems(members, ['groups', n, 'members']));
  if (rule.batch === 'tokens') problems.push(...tokenProblems(groups));
  problems.push(...weightProblems(groups.flat(), options));
  if (problems.length > 0) return { ok: false, error: problems };

  const summed = groups.map((members) => weightedSums(members, rule.group));
  const votes = summed.flatMap(({ members }, n) =>
    members.flatMap(({ weighted_sum }, position): Vote[] => {
      const tokens = rule.batch === 'tokens' ? (groups[n]?.[position]?.response_tokens ?? 0) : 1;
      return weighted_sum === null || tokens === 0 ? [] : [{ value: weighted_sum, tokens }];
    }),
  );
  const batch = batchOf(votes, rule.batch);
  const advantageOf = (value: number | null, tokens: number): number =>
    value === null || batch === null || tokens === 0 ? 0 : (value - batch.mean) / batch.divisor;
  return {
    ok: true,
    value: {
      groups: summed.map((group, n) => ({
        ...group,
        members: group.members.map((member, position) => {
          const tokens = rule.batch === 'tokens' ? (groups[n]?.[position]?.response_tokens ?? 0) : 1;
          return { ...member, advantage: advantageOf(member.weighted_sum, tokens) };
        }),
      })),
      batch: batch === null ? null : { mean: batch.mean, std: batch.std },
    },
  };
}

type Vote = { readonly value: number; readonly tokens: number };

function batchOf(
  votes: readonly Vote[],
  rule: BatchRule,
): { readonly mean: number; readonly std: number | null; readonly divisor: number } | null {
  const spread = spreadOf(votes.map(({ value }) => value).sort((a, b) => a - b));
  if (spread === null) return null;
  const isConstant = spread.furthest <= EQUAL_WITHIN;
  switch (rule) {
    case 'std_plus_epsilon': {
      const std = isConstant ? 0 : spread.unbiased;
      return { mean: spread.mean, std, divisor: (std ?? 0) + TRL_BATCH_EPSILON };
    }
    case 'std': {
      const std = isConstant ? 0 : spread.unbiased;
      return { mean: spread.mean, std, divisor: std === null || std === 0 ? 1 : std };
    }
    case 'tokens': {
      const tokens = sum(votes.map((vote) => vote.tokens));
      const meanOver = (of: (value: number) => number) =>
        sum(votes.map(({ value, tokens: weight }) => of(value) * weight)) / (tokens + VERL_EPSILON);
      const mean = isConstant ? spread.mean : meanOver((value) => value);
      const variance = isConstant ? 0 : (meanOver((value) => (value - mean) ** 2) * tokens) / (tokens - 1);
      return { mean, std: Math.sqrt(variance), divisor: Math.sqrt(variance + VERL_EPSILON) };
    }
  }
}

function weightedSums(members: readonly StepMember[], rule: GroupRule): GdpoGroup {
  const scored = members.flatMap(({ components }) => (components === null ? [] : [components]));
  const sums = scored.map((): number => 0);
  for (const name of namesOf(scored)) {
    // Not a member of Object.prototype, such as `constructor`.
    const weight = Object.hasOwn(rule.weights, name) ? (rule.weights[name] ?? 1) : 1;
    const isAlone = members.length === 1;
    const normalised = normalise(
      scored.map((components) => components[name] ?? 0),
      rule,
      isAlone,
    );
    for (const [n, value] of normalised.entries()) sums[n] = (sums[n] ?? 0) + weight * value;
  }
  const settled = withoutRounding(sums);
  let next = 0;
  return {
    members: members.map(({ components }) => {
      if (components === null) return { weighted_sum: null, masked: true };
      return { weighted_sum: settled[next++] ?? 0, masked: false };
    }),
    valid: scored.length,
    degenerate: degeneracy(settled),
  };
}

/** In an order that does not depend on the caller's, so that every order of the names gives the same bits. */
function namesOf(scored: readonly Readonly<Record<string, number>>[]): readonly string[] {
  return Object.keys(scored[0] ?? {}).sort();
}

/** The normalised values of one component in one group, in order. */
function normalise(values: readonly number[], rule: GroupRule, isAlone: boolean): number[] {
  if (values.length === 1) {
    if (!isAlone || rule.single === 'zero') return [0];
    return values.map((value) => (rule.epsilon === null ? value : value / (1 + rule.epsilon)));
  }
  if (rule.baseline === 'leave_one_out') {
    const others = othersSpreads(values);
    return values.map((value, n) => divided(value, others[n] ?? null, rule));
  }
  const spread = spreadOf([...values].sort((a, b) => a - b));
  return values.map((value) => divided(value, spread, rule));
}

function divided(value: number, spread: Spread | OthersSpread | null, { epsilon, zeroStd }: GroupRule): number {
  if (spread === null) return 0;
  const difference = value - spread.mean;
  const std = spread.unbiased ?? 0;
  if (epsilon === null || (std === 0 && zeroStd === 'undivided')) return difference;
  return difference / (std + epsilon);
}

/** Replaces sums that are equal but for rounding by their mean. */
function withoutRounding(sums: readonly number[]): readonly number[] {
  const spread = spreadOf([...sums].sort((a, b) => a - b));
  if (spread === null || spread.furthest > EQUAL_WITHIN) return sums;
  return sums.map(() => spread.mean);
}

function degeneracy(sums: readonly number[]): GdpoGroup['degenerate'] {
  if (sums.length === 0) return { reason: 'no_valid_reward' };
  if (sums.length === 1) return { reason: 'too_few_valid' };
  return sums.every((value) => value === sums[0]) ? { reason: 'all_equal' } : null;
}

function memberProblems(members: readonly StepMember[], path: InputProblem['path']): InputProblem[] {
  if (members.length === 0) return [{ path, message: 'expected at least one member' }];
  return members.flatMap(({ components }, n) =>
    Object.entries(components ?? {}).flatMap(([name, value]): InputProblem[] => {
      if (Math.abs(value) <= REWARD_LIMIT) return [];
      const message = `expected a finite number of at most ${REWARD_LIMIT} in size`;
      return [{ path: [...path, n, 'components', name], message }];
    }),
  );
}

/** Every scored member has the same components, because an absent one would count as a 0 that nobody earned. */
function weightProblems(members: readonly StepMember[], options: GdpoOptions): InputProblem[] {
  const scored = members.flatMap(({ components }) => (components === null ? [] : [components]));
  const [first] = scored;
  if (first === undefined) return [];
  const names = namesOf(scored);
  const odd = scored.find((components) => Object.keys(components).sort().join('\n') !== names.join('\n'));
  const problems: InputProblem[] = [];
  if (names.length === 0) problems.push({ path: ['components'], message: 'expected at least one component' });
  if (odd !== undefined) {
    const message = `expected the same components at every scored member: ${names.join(', ')}; one has ${Object.keys(odd).join(', ')}`;
    problems.push({ path: ['components'], message });
  }
  const weights = typeof options === 'string' ? {} : (options.weights ?? {});
  for (const [name, weight] of Object.entries(weights)) {
    const path = ['rule', 'weights', name];
    if (!names.includes(name)) problems.push({ path, message: `expected one of ${names.join(', ')}` });
    else if (!(Math.abs(weight) <= WEIGHT_LIMIT)) {
      problems.push({ path, message: `expected a finite number of at most ${WEIGHT_LIMIT} in size` });
    }
  }
  return problems;
}

function tokenProblems(groups: readonly (readonly StepMember[])[]): InputProblem[] {
  let total = 0;
  const problems = groups.flatMap((members, n) =>
    members.flatMap(({ components, response_tokens: tokens }, position): InputProblem[] => {
      if (components === null) return [];
      total += tokens ?? 0;
      if (tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0) return [];
      const message = 'required by verl-gdpo: the number of tokens that the policy wrote, an integer of at least 0';
      return [{ path: ['groups', n, 'members', position, 'response_tokens'], message }];
    }),
  );
  // verl's masked_whiten refuses a step with one token, and nothing is scored in a step without any.
  if (problems.length === 0 && total === 1) {
    problems.push({ path: ['groups'], message: 'expected more than one response token in the step' });
  }
  return problems;
}
