/** What a check of a run's judge found (judge-check.ts), as it is sent and stored. */
import * as z from 'zod';
import { JUDGED_QUESTIONS, MEASURED_KINDS } from '../family/verdict-levels.ts';
import { MAX_NAME_CHARS } from '../limits.ts';
import { stepSchema } from './row.ts';

/** Steps that an audit lists at most: the last ones. */
export const MAX_AUDITED_STEPS = 1_000;

/** Checks that a run keeps: the latest ones. */
export const MAX_JUDGE_CHECKS = 1_000;

const shareSchema = z.number().min(0).max(1);
const rolloutsSchema = z.int().min(1).max(1_000_000_000);

const sharedFields = {
  judge: z.string().min(1).max(MAX_NAME_CHARS).describe('The judge that judged again, or the second judge.'),
  step: stepSchema.describe('The step of the run at which the check was due.'),
  rollouts: rolloutsSchema.describe('Rollouts whose verdicts or rewards were compared.'),
};

export const canaryCheckSchema = z.strictObject({
  rule: z.literal('canary_drift'),
  ...sharedFields,
  verdicts_changed: shareSchema.describe('Share of the verdicts that differ from the recorded ones.'),
  advantages_flipped: shareSchema
    .nullable()
    .describe('Share of the advantages that change between positive and negative; null = none was compared.'),
  reward_shift: z.number().nullable().describe('Mean reward of the new judgments minus the recorded one.'),
  questions: z
    .array(
      z.strictObject({
        question: z.enum(JUDGED_QUESTIONS),
        same: shareSchema.nullable().describe('Share of equal verdicts.'),
        shift: z.number().nullable().describe('Mean rating minus the recorded one, in levels.'),
      }),
    )
    .max(JUDGED_QUESTIONS.length),
});

export const auditCheckSchema = z.strictObject({
  rule: z.literal('audit_gap'),
  ...sharedFields,
  steps: z
    .array(
      z.strictObject({
        step: stepSchema,
        rollouts: rolloutsSchema,
        gap: z.number().describe('Mean recorded reward minus the mean reward of the second judge.'),
      }),
    )
    .min(1)
    .max(MAX_AUDITED_STEPS),
  growth: z
    .strictObject({
      first: z.number().describe('The mean gap of the first 4 audited steps.'),
      last: z.number().describe('The mean gap of the last 4.'),
      stds: z.number().describe('The difference, in standard deviations of the first rewards.'),
    })
    .nullable()
    .describe('null = fewer than 8 steps are audited, or the first rewards do not differ.'),
});

const estimateSchema = z
  .strictObject({ share: shareSchema, low: shareSchema, high: shareSchema })
  .nullable()
  .describe('A share with its 95 % interval; null = unknown.');
/** A share with its 95 % interval. */
export type Estimate = NonNullable<z.infer<typeof estimateSchema>>;

export const riskCheckSchema = z.strictObject({
  rule: z.literal('judge_error'),
  ...sharedFields,
  flipped: estimateSchema.describe('Share of the advantages that labels change between positive and negative.'),
  changed: estimateSchema.describe('The same, with changes to and from 0.'),
  kinds: z
    .array(
      z.strictObject({
        kind: z.enum(MEASURED_KINDS),
        verdicts: rolloutsSchema,
        yes: shareSchema.describe('Share of the verdicts at the highest level.'),
        corrected: estimateSchema.describe('Share of such labels; null = the judge is not shown to tell them.'),
        changed: estimateSchema.describe('Advantages that the errors of this kind alone change.'),
      }),
    )
    .max(MEASURED_KINDS.length),
});

/** The finding of one check of a run's judge. */
export const judgeCheckSchema = z.discriminatedUnion('rule', [canaryCheckSchema, auditCheckSchema, riskCheckSchema]);
export type JudgeCheck = z.infer<typeof judgeCheckSchema>;
export type CanaryCheck = z.infer<typeof canaryCheckSchema>;
export type AuditCheck = z.infer<typeof auditCheckSchema>;
export type RiskCheck = z.infer<typeof riskCheckSchema>;
