/**
 * The report of a replay as JSON lines. The Worker streams them, `citeward replay` writes them for a file, and the
 * dashboard computes the same figures in the browser.
 */
import * as z from 'zod';
import { componentSchema, unscoredReasonSchema } from '../family/score.ts';
import { JUDGED_QUESTIONS } from '../family/verdict-levels.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { replayedRubricsSchema } from '../rubrics/replayed-set.ts';
import { sweepValueSchema } from './sweep-value.ts';

const countSchema = z.int().min(0);
const stepSchema = z.int().min(0);

const momentsShape = {
  scored: countSchema,
  mean: z.number().nullable(),
  std: z.number().nullable().describe('With the divisor n - 1.'),
};

const byName = z.record(z.string(), countSchema);

/** Figures of many groups: those of one step, of one value of a sweep, or of the whole run. */
const replayFiguresShape = {
  groups: countSchema,
  rollouts: countSchema,
  before: z.strictObject(momentsShape),
  after: z.strictObject(momentsShape),
  shift: z
    .strictObject({ compared: countSchema, mean: z.number().nullable() })
    .describe('After minus before, over the rollouts scored both times.'),
  components: z
    .record(
      z.string(),
      z.strictObject({
        compared: countSchema,
        mean: z.number().nullable().describe("Mean of the component's value after, over the rollouts that have one."),
        value: z.number().nullable().describe("Mean change of the component's value."),
        contribution: z.number().nullable().describe("Mean change of the component's contribution, in reward units."),
      }),
    )
    .describe('After minus before of each component, over the rollouts where it is known both times.'),
  advantages: z.strictObject({
    compared: countSchema.describe('Rollouts that are masked neither before nor after.'),
    flipped: countSchema.describe('Advantages that changed between positive and negative.'),
    silenced: countSchema.describe('Advantages that became 0.'),
    awakened: countSchema.describe('Advantages that stopped being 0.'),
    flipped_share: z.number().min(0).max(1).nullable().describe('Share of the compared advantages that flipped.'),
  }),
  tau: z
    .strictObject({
      groups: countSchema.describe('Groups with a defined tau: rewards differ before and differ after.'),
      mean: z.number().min(-1).max(1).nullable(),
      least: z.number().min(-1).max(1).nullable(),
    })
    .describe("Kendall's tau-b between the rewards before and after, within each group."),
  degenerate: z
    .strictObject({ before: countSchema, after: countSchema, became: countSchema, ceased: countSchema })
    .describe('Groups without a training signal.'),
  unscored: z.strictObject({ before: byName, after: byName }).describe('Rollouts without a reward, by reason.'),
  gaps: byName.describe(
    'Rollouts whose reward needs something unobserved: recipe.<measure field> or rollout.<field>; with rubrics also ' +
      'rubric_set.criteria (criteria without a verdict) and rubric_set.log (the log lacks the set that scored them).',
  ),
  recorded: z
    .strictObject({ equal: countSchema, alone: countSchema, different: countSchema })
    .describe(
      'Recorded rewards compared with rewards recomposed from the recorded facts. alone: recorded without its group. ' +
        'different: recorded by another version of the formula.',
    ),
};

export const replayFiguresSchema = z.strictObject(replayFiguresShape);
/** The figures of a replay: means, shifts, sign changes of advantages, rank correlation, and gaps. */
export type ReplayFigures = z.infer<typeof replayFiguresSchema>;

const placeShape = { step: stepSchema.nullable(), group: z.string(), sample: z.string() };

const replayMoverSchema = z.strictObject({
  ...placeShape,
  rank: z
    .strictObject({ before: z.number(), after: z.number() })
    .describe('Rank in the group, 1 = best; tied samples share a rank.'),
  reward: z.strictObject({ before: z.number(), after: z.number() }),
});
export type ReplayMover = z.infer<typeof replayMoverSchema>;

const differentRewardSchema = z.strictObject({
  ...placeShape,
  recorded: z.number().nullable(),
  composed: z.number().nullable(),
});
export type DifferentReward = z.infer<typeof differentRewardSchema>;

const sideSchema = z.strictObject({
  reward: z.number().nullable(),
  reason: unscoredReasonSchema.nullable(),
  depends_on: z
    .array(z.string())
    .exactOptional()
    .describe('With group_vote_unknown: the samples on whose unknown votes the reward depends.'),
  components: z.record(z.string(), componentSchema),
  advantage: z.number(),
  masked: z.boolean(),
});

const groupSideSchema = z.strictObject({
  rewards: z.array(z.number().nullable()).describe('In the order of the samples; null = unscored, so masked.'),
  advantages: z.array(z.number()),
  degenerate: z.enum(['no_valid_reward', 'too_few_valid', 'all_equal', 'spread_too_small']).nullable(),
});

const shareSchema = z.number().min(0).max(1).nullable();
const kappaSchema = z.number().max(1).nullable();

/** Agreement of two judges on one kind of question. */
const questionAgreementSchema = z.strictObject({
  question: z.enum(JUDGED_QUESTIONS),
  pairs: countSchema,
  same: shareSchema.describe('Share of equal verdicts.'),
  kappa: kappaSchema.describe("Cohen's kappa, unweighted; null if agreement by chance is certain."),
  weighted_kappa: kappaSchema.describe("Cohen's kappa with quadratic weights."),
  mean_difference: z.number().nullable().describe('Mean rating of the second judge minus the first, in levels.'),
  table: z
    .array(z.array(countSchema))
    .describe('Counts. Rows: the recorded judge, lowest level first; columns: the second judge.'),
});

const judgeComparisonSchema = z.strictObject({
  judge: z.string().describe('The second judge; the first is the recorded one.'),
  compared: countSchema.describe('Rollouts whose verdicts are compared.'),
  unmatched: countSchema.describe('Rollouts where one of the judges failed, or where the answer was read differently.'),
  different: countSchema.describe('Compared rollouts with at least one differing verdict.'),
  as_member: countSchema.describe(
    'Rollouts whose recorded panel has the judge as a member: it is compared with its own verdicts there, not with the vote.',
  ),
  questions: z.array(questionAgreementSchema),
  most_different: z
    .array(z.strictObject({ ...placeShape, verdicts: countSchema }))
    .describe('The rollouts with the most differing verdicts; a bounded list.'),
});
export type JudgeComparison = z.infer<typeof judgeComparisonSchema>;

const changedFieldSchema = z.strictObject({
  name: z.string(),
  kind: z.enum(['measure', 'compose']),
  before: z.unknown(),
  after: z.unknown(),
});

/** The lines of a report, in order: `replay`, then the others, then `summary`. */
export const replayReportLineSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('replay'),
    run: z.string(),
    rubrics: replayedRubricsSchema.exactOptional(),
    judge: z.string().nullable().describe('The judge that judges every rollout again; null = none.'),
    recipes: z.array(
      z.strictObject({
        before: sha256Schema.describe('Digest of a recipe that rollouts were recorded under.'),
        after: sha256Schema,
        changed: z.array(changedFieldSchema),
      }),
    ),
  }),
  z.strictObject({
    kind: z.literal('sample'),
    ...placeShape,
    attempt: countSchema,
    recorded: z.enum(['equal', 'alone', 'different']),
    before: sideSchema,
    after: sideSchema,
    sign: z.enum(['kept', 'flipped', 'silenced', 'awakened', 'not_compared']),
    gaps: z.array(z.string()),
  }),
  z.strictObject({
    kind: z.literal('group'),
    step: stepSchema.nullable(),
    group: z.string(),
    samples: z.array(z.string()),
    before: groupSideSchema,
    after: groupSideSchema,
    flipped: countSchema.describe('Samples whose advantage changes between positive and negative.'),
    tau: z.number().min(-1).max(1).nullable(),
    rubrics: z
      .strictObject({
        sets: z.array(sha256Schema.nullable()).describe('The set that scores each sample; null = unknown.'),
        missing: z
          .array(z.array(sha256Schema))
          .describe('Of each sample: the criteria of the set that have no verdict. Such a sample has no reward.'),
      })
      .exactOptional()
      .describe('With rubrics, for groups that an evolving rubric scored. In the order of the samples.'),
  }),
  z.strictObject({ kind: z.literal('step'), step: stepSchema.nullable(), ...replayFiguresShape }),
  z.strictObject({
    kind: z.literal('progress'),
    step: stepSchema
      .nullable()
      .describe('The step just read. Only a sweep sends progress; its figures come at the end.'),
    rollouts: countSchema,
  }),
  z.strictObject({ kind: z.literal('point'), value: sweepValueSchema, ...replayFiguresShape }),
  z.strictObject({
    kind: z.literal('summary'),
    rollouts: countSchema,
    groups: countSchema,
    judge_calls: countSchema.describe('New judgments that were made. 0 without fill and judge.'),
    measured: z
      .strictObject({ rollouts: countSchema, without_text: countSchema, refused: countSchema })
      .nullable()
      .describe(
        'With fill or judge: rollouts judged, rollouts without stored text, and rollouts that do not fit the recipe.',
      ),
    judges: judgeComparisonSchema.nullable().describe('With judge and without fill.'),
    figures: replayFiguresSchema.nullable().describe('null for a sweep, whose figures are in its points.'),
    movers: z.array(replayMoverSchema).describe('Rollouts whose rank in their group changed most; a bounded list.'),
    different: z
      .array(differentRewardSchema)
      .describe('The first rollouts whose recorded reward differs from the recomposed one.'),
  }),
]);

export type ReplayReportLine = z.infer<typeof replayReportLineSchema>;
export type ReplayReportLineOf<K extends ReplayReportLine['kind']> = Extract<ReplayReportLine, { kind: K }>;
