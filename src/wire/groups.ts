/** `POST /v1/groups`: scores the samples of one prompt together and returns their rewards and advantages. */
import * as z from 'zod';
import type { OffsetUnit } from '../citations/offset-units.ts';
import { mergedAgreement, questionAgreementSchema } from '../family/panel-agreement.ts';
import type { Rollout } from '../family/rollout.ts';
import {
  checkMessages,
  hasNotBothOrigins,
  hasOneOutput,
  NOT_BOTH_ORIGINS,
  ONE_OUTPUT,
  oneOriginRule,
  oneOutputRule,
  responseFields,
  responseSchema,
  rolloutOf,
  sampleOf,
  sharedFields,
} from '../family/rollout-schema.ts';
import type { InputProblem } from '../input-problem.ts';
import { MAX_GROUP } from '../limits.ts';
import type { Result } from '../result.ts';
import { outcomeFields } from '../runs/rollout-counts.ts';
import { type RunPlacement, recordedStepSchema, runIdSchema } from '../runs/row.ts';
import { ADVANTAGE_PRESET_NAMES, type AdvantageOptions } from '../scoring/advantage-presets.ts';
import { advantages, type GroupAdvantages, REWARD_LIMIT } from '../scoring/advantages.ts';
import { GDPO_PRESET_NAMES, type GdpoOptions, gdpoGroup, isGdpo } from '../scoring/gdpo.ts';
import { judgesOf, judgesSchema } from '../scoring/reward-reply.ts';
import { recipeReportSchema } from '../scoring/score-reply.ts';
import { type EvolutionReport, evolutionReportSchema, evolutionSchema } from './evolution.ts';
import {
  deadlineSchema,
  hasOneWayOfJudging,
  hasOutcome,
  hasOwnReplicates,
  oneWayOfJudging,
  onJudgeFailureSchema,
  outcomeNeedsRun,
  ownReplicates,
  reportedOutcome,
  rolloutFieldsOf,
  runPlaceIdSchema,
  scoreResponseSchema,
  scoringFields,
  storeTextSchema,
  textNeedsRun,
} from './score.ts';
import {
  fullMember,
  rewardMember,
  rewardMemberFields,
  rewardResponseSchema,
  type ScoredMember,
} from './score-detail.ts';

// Bounds of a rule are for the OpenAPI document: `advantages` checks them and names the field, which a union cannot.
const marginFields = {
  bias: z.number().meta({ minimum: 0, maximum: 1, description: 'Of the largest reward.' }),
  verification_reward: z.number().meta({
    ...{ exclusiveMinimum: 0, maximum: REWARD_LIMIT },
    description: 'The largest reward that a sample can have.',
  }),
};

const advantageRuleSchema = z.strictObject({
  baseline: z
    .union([z.enum(['mean', 'leave_one_out']), z.strictObject(marginFields)])
    .describe('leave_one_out: mean and std of the other samples.'),
  scale: z.enum(['none', 'unbiased_std', 'population_std']),
  epsilon: z.number().describe('Added to the std; above 0.'),
  min_valid: z.int().meta({ minimum: 1, description: 'With fewer scored samples the group has no signal.' }),
  singleton: z.enum(['no_signal', 'mean_0_std_1']),
  filter: z
    .strictObject({ std: z.enum(['unbiased', 'population']), above: z.number() })
    .nullable()
    .describe('A dynamic-sampling filter whose decision is reported.'),
});

const marginPresetSchema = z.strictObject({ preset: z.literal('open-instruct-margin'), ...marginFields });

export const advantageOptionsSchema = z
  .union([z.enum(ADVANTAGE_PRESET_NAMES), marginPresetSchema, advantageRuleSchema])
  .describe('A preset named after a trainer, or a custom rule. Default: mean (centred, not scaled).');

const componentWeightsSchema = z
  .record(z.string(), z.number())
  .exactOptional()
  .describe('The weight of each component; a component without one has weight 1.');

/** The rule of a group or of a step: also the GDPO presets, which normalise each component over the whole step. */
export const groupAdvantagesSchema = z
  .union([
    z.enum([...ADVANTAGE_PRESET_NAMES, ...GDPO_PRESET_NAMES]),
    marginPresetSchema,
    z.strictObject({ preset: z.literal('trl-gdpo'), weights: componentWeightsSchema }),
    z.strictObject({
      preset: z.literal('verl-gdpo'),
      weights: componentWeightsSchema,
      norm_adv_by_std_in_grpo: z.boolean().exactOptional().describe('Default true: divide by the std of the group.'),
    }),
    z.strictObject({
      preset: z.literal('nemo-gdpo'),
      weights: componentWeightsSchema,
      use_leave_one_out_baseline: z
        .boolean()
        .exactOptional()
        .describe('Default true: mean and std of the other samples of the group.'),
      normalize_rewards: z.boolean().exactOptional().describe('Default true: divide by the std of the group.'),
    }),
    advantageRuleSchema,
  ])
  .describe('A preset named after a trainer, or a custom rule. Default: mean (centred, not scaled).');

const groupRunSchema = z
  .strictObject({
    id: runIdSchema,
    step: recordedStepSchema,
    group: runPlaceIdSchema,
    samples: z
      .array(runPlaceIdSchema)
      .min(1)
      .max(MAX_GROUP)
      .exactOptional()
      .describe('Sample id of each response. Default: its position.'),
  })
  .describe('Records the group in the ledger of a run, and measures everything that the family measures.');

export const sampleSchema = z.union([
  responseSchema,
  z
    .strictObject({ ...responseFields, ...outcomeFields })
    .refine(hasOneOutput, oneOutputRule)
    .check(checkMessages)
    .meta(ONE_OUTPUT),
]);

export const groupRequestSchema = z
  .strictObject({
    ...sharedFields,
    responses: z
      .array(sampleSchema)
      .min(1)
      .max(MAX_GROUP)
      .describe('The samples: texts, or texts or messages with their fields.'),
    ...scoringFields,
    on_judge_failure: onJudgeFailureSchema.default('null'),
    deadline_s: deadlineSchema.exactOptional(),
    advantages: groupAdvantagesSchema.default('mean'),
    run: groupRunSchema.exactOptional(),
    store_text: storeTextSchema,
    evolution: evolutionSchema.exactOptional(),
  })
  .refine(({ evolution, run }) => evolution === undefined || (run !== undefined && run.step !== null), {
    path: ['evolution'],
    error: 'only with run and its step: the rubric evolves in the run, step by step',
  })
  .refine(hasNotBothOrigins, oneOriginRule)
  .refine(({ run, store_text }) => run !== undefined || !store_text, textNeedsRun)
  .superRefine(({ responses, run }, context) => {
    if (run !== undefined) return;
    for (const [n, sample] of responses.entries()) {
      if (typeof sample === 'string' || !hasOutcome(sample)) continue;
      const { path, error } = outcomeNeedsRun;
      context.addIssue({ code: 'custom', path: ['responses', n, ...path], message: error });
    }
  })
  .refine(hasOneWayOfJudging, oneWayOfJudging)
  .refine(hasOwnReplicates, ownReplicates)
  .superRefine(({ responses, run }, context) => {
    const problem = run?.samples === undefined ? null : samplesProblem(run.samples, responses.length);
    if (problem !== null) context.addIssue({ code: 'custom', path: ['run', 'samples'], message: problem });
  })
  .superRefine(({ advantages: options }, context) => {
    // Invalid rules are refused before any judgment is paid for.
    for (const { path, message } of advantageProblems(options))
      context.addIssue({ code: 'custom', path: [...path], message });
  })
  .meta(NOT_BOTH_ORIGINS);

export type GroupRequest = z.infer<typeof groupRequestSchema>;

/** Returns why the sample ids of a group's run are refused; `null` = they are valid. */
function samplesProblem(samples: readonly (string | number)[], count: number): string | null {
  if (samples.length !== count) return `expected ${count} ids, one a response`;
  return new Set(samples.map(String)).size === count ? null : 'expected ids that differ';
}

/** Problems of the advantage rule itself, independent of any rewards. */
export function advantageProblems(options: AdvantageOptions | GdpoOptions): InputProblem[] {
  // What a GDPO preset needs of the components is known only with them.
  if (isGdpo(options)) return [];
  const tried = advantages([0], options);
  return tried.ok ? [] : tried.error.map(({ path, message }) => ({ path: ['advantages', ...path.slice(1)], message }));
}

/** The rollouts of a request, in its order. */
export function groupRollouts(request: GroupRequest): Rollout[] {
  const { responses, advantages: _advantages, ...shared } = rolloutFieldsOf(request);
  // The samples share the objects of the shared fields, so that each is digested once.
  const common = rolloutOf({ ...shared, response: '' });
  return responses.map((sample) => {
    if (typeof sample === 'string') return { ...common, response: sample };
    const { outcome: _outcome, metrics: _metrics, ...fields } = sample;
    return sampleOf(common, fields);
  });
}

/** Where the rollouts of a request are recorded; `null` = nowhere. */
export function requestedGroupPlacement({ run, responses, store_text }: GroupRequest): RunPlacement | null {
  if (run === undefined) return null;
  const { id, step, group, samples = [...responses.keys()] } = run;
  const reported = responses.map((sample) => (typeof sample === 'string' ? {} : reportedOutcome(sample)));
  return { run: id, step, group: String(group), samples: samples.map(String), reported, grouping: 'given', store_text };
}

export const maskedSchema = z
  .boolean()
  .describe('Unscored: leave it out of the loss. Its advantage is 0, and it does not affect the other samples.');

export const weightedSumSchema = z
  .number()
  .nullable()
  .describe('GDPO: the weighted sum of the components, each normalised within the group; null = unscored.');

const advantageSchema = z.strictObject({
  advantage: z
    .number()
    .nullable()
    .describe('null with a GDPO preset: send the contributions of all groups of the step to POST /v1/advantages.'),
  masked: maskedSchema,
  weighted_sum: weightedSumSchema.exactOptional(),
});

export const degenerateSchema = z
  .strictObject({
    reason: z.enum(['no_valid_reward', 'too_few_valid', 'all_equal', 'spread_too_small']),
    dropped_by_filter: z.boolean().describe("Whether the trainer's dynamic-sampling filter would drop the group."),
  })
  .nullable()
  .describe('Why the group gives no training signal.');

/** The fields of a group's reply besides its members. */
const groupFields = {
  rewards: z.array(z.number().nullable()).describe('In the order of the responses; null = unscored.'),
  advantages: z.array(advantageSchema),
  mean: z.number().nullable().describe('Mean of the scored rewards.'),
  std: z.number().nullable(),
  valid: z.int().min(0).describe('Number of scored samples.'),
  degenerate: degenerateSchema,
  agreement: z
    .array(questionAgreementSchema)
    .exactOptional()
    .describe('With several judges: how far their verdicts agree, over all members of the group.'),
  final: z.boolean().describe('false with a GDPO preset: the advantages need the other groups of the step.'),
  recipe: recipeReportSchema,
  evolution: evolutionReportSchema.exactOptional(),
};

export const groupResponseSchema = z.strictObject({
  ...groupFields,
  members: z.array(scoreResponseSchema).describe('The full score of each sample.'),
});

/** The reply of `POST /v1/groups`: a score and an advantage for each sample. */
export type GroupResponse = z.infer<typeof groupResponseSchema>;

/** The reply with `detail: "reward"`: the members have no reports, and the judges are counted for the whole group. */
export const groupRewardResponseSchema = z.strictObject({
  family: rewardResponseSchema.shape.family,
  ...groupFields,
  members: z.array(z.strictObject(rewardMemberFields)).describe('What each reward consists of, or why it is null.'),
  judges: judgesSchema,
});

/** The reply of `POST /v1/groups` with `detail: "reward"`. */
export type GroupRewardResponse = z.infer<typeof groupRewardResponseSchema>;

/** The reply of `POST /v1/groups` in either detail. */
export const groupReplySchema = z.union([groupResponseSchema, groupRewardResponseSchema]);

/**
 * Builds the reply of a scored group in the detail that the request asks for.
 * @param members at least one, in the order of `rollouts`.
 */
export function groupReplyOf(
  { advantages: options, detail, offsets }: Pick<GroupRequest, 'advantages' | 'detail' | 'offsets'>,
  rollouts: readonly Rollout[],
  members: readonly ScoredMember[],
  evolution: EvolutionReport | null = null,
): Result<GroupResponse | GroupRewardResponse, readonly InputProblem[]> {
  const rewards = members.map(({ score }) => score.reward);
  const result = groupAdvantages(members, options);
  const [first] = members;
  if (!result.ok) return result;
  if (first === undefined) throw new Error('groupReplyOf: a group without members after validation');
  const { value: group } = result;
  const panels = members.flatMap(({ panel }) => panel ?? []);
  const agreement = mergedAgreement(panels.flatMap((panel) => panel.agreement));
  const reply = {
    rewards,
    ...group,
    ...(panels.length === 0 ? {} : { agreement }),
    ...(evolution === null ? {} : { evolution }),
  };
  const { recipe } = first;
  const membersIn = <M>(form: (unit: OffsetUnit, rollout: Rollout, member: ScoredMember) => M): M[] =>
    members.map((member, n) => {
      const rollout = rollouts[n];
      if (rollout === undefined) throw new Error('groupReplyOf: a member without a rollout');
      return form(offsets, rollout, member);
    });
  switch (detail) {
    case 'full':
      return { ok: true, value: { ...reply, members: membersIn(fullMember), recipe } };
    case 'reward': {
      const short = { members: membersIn(rewardMember), judges: judgesOf(members), recipe };
      return { ok: true, value: { family: first.score.family, ...reply, ...short } };
    }
  }
}

type GroupPart = Pick<GroupResponse, 'advantages' | 'mean' | 'std' | 'valid' | 'degenerate' | 'final'>;

function groupAdvantages(
  members: readonly Pick<ScoredMember, 'score' | 'contributions'>[],
  options: AdvantageOptions | GdpoOptions,
): Result<GroupPart, readonly InputProblem[]> {
  const rewards = members.map(({ score }) => score.reward);
  const result = advantages(rewards, isGdpo(options) ? 'mean' : options);
  if (!result.ok) return result;
  const { mean, std, valid, degenerate }: GroupAdvantages = result.value;
  if (!isGdpo(options)) {
    const own = result.value.advantages.map(({ advantage, masked }) => ({ advantage, masked }));
    return { ok: true, value: { advantages: own, mean, std, valid, degenerate, final: true } };
  }
  const group = gdpoGroup(
    members.map(({ contributions }) => ({ components: contributions })),
    options,
    ['responses'],
  );
  if (!group.ok) {
    const problems = group.error.map(({ path: [first, ...rest], message }) => ({
      path: [first === 'rule' ? 'advantages' : (first ?? 'advantages'), ...rest],
      message,
    }));
    return { ok: false, error: problems };
  }
  const { value } = group;
  return {
    ok: true,
    value: {
      advantages: value.members.map(({ weighted_sum, masked }) => ({ advantage: null, masked, weighted_sum })),
      mean,
      std,
      valid,
      degenerate: value.degenerate === null ? null : { ...value.degenerate, dropped_by_filter: false },
      final: false,
    },
  };
}
