/** The reply of `GET /v1/runs/{id}/alerts`: signs that a run earns its reward in a way nobody wanted (src/runs/alerts.ts). */
import * as z from 'zod';
import { ALERT_FIGURES } from '../runs/alert-figures.ts';
import { ALERT_RULES } from '../runs/alert-rules.ts';
import { type RunAlerts, UNWATCHED_REASONS } from '../runs/alerts.ts';
import { auditCheckSchema, canaryCheckSchema, riskCheckSchema } from '../runs/judge-check-schema.ts';
import { placeIdSchema, runIdSchema, stepSchema } from '../runs/row.ts';

const recordedFields = {
  at: z.iso.datetime().describe('When it was recorded.'),
  alert: z.boolean().describe('Whether its rule is met.'),
};

/** A recorded check of the judge of a run. */
export const recordedCheckSchema = z.discriminatedUnion('rule', [
  canaryCheckSchema.extend(recordedFields),
  auditCheckSchema.extend(recordedFields),
  riskCheckSchema.extend(recordedFields),
]);
export type RecordedCheck = z.infer<typeof recordedCheckSchema>;

const valueSchema = z.number().nullable();

const beforeAndAfterSchema = z
  .strictObject({ before: z.number(), after: z.number() })
  .nullable()
  .describe('Mean rewards as recorded and with the change; null = there are no such rollouts.');

const remedySchema = z.strictObject({
  change: z.record(z.string(), z.unknown()).describe('Compose fields of the recipe and their new values.'),
  rollouts: z.int().min(0).describe('Rollouts of the last steps that were replayed.'),
  shown: beforeAndAfterSchema,
  others: beforeAndAfterSchema,
});

const alertSchema = z.strictObject({
  rule: z.enum(ALERT_RULES),
  message: z.string().describe('What the policy does, with numbers of the last window that met the rule.'),
  since: stepSchema.describe('The step from which the rule holds: its last two windows met it.'),
  until: stepSchema.describe('The last step of the last window that met it.'),
  active: z.boolean().describe("Whether the run's last window meets the rule."),
  figures: z
    .partialRecord(z.enum(ALERT_FIGURES), z.strictObject({ first: valueSchema, last: valueSchema }))
    .describe('What the rule reads: in the first window of the run, and in the last one that met the rule.'),
  rollouts: z
    .array(
      z.strictObject({
        step: stepSchema.nullable(),
        group: placeIdSchema,
        sample: placeIdSchema,
        reward: valueSchema.describe('null = unscored.'),
        reference: valueSchema.describe('Under the reference recipe; null = unscored there, or there is none.'),
      }),
    )
    .describe('Up to three rollouts that show it, the clearest first.'),
  shown: z
    .strictObject({
      rollouts: z.int().min(0),
      reward: valueSchema.describe('Their mean; null = none is scored.'),
      parts: z
        .array(z.strictObject({ name: z.string(), reward: z.number() }))
        .describe('Components of that mean, the rubric by criterion (positive_1, …), the largest first.'),
    })
    .nullable()
    .describe('What the rollouts of the window earn that show it; null = the rule is about no single rollouts.'),
  paying: z
    .strictObject({
      by: z
        .enum(['covariance', 'mean'])
        .describe('covariance: shares of the differences inside groups. mean: of the mean reward; nothing differs.'),
      parts: z.array(z.strictObject({ name: z.string(), share: z.number() })),
    })
    .nullable()
    .describe('What the advantages of the window pay for; null = no rollout earned anything.'),
  remedy: remedySchema
    .nullable()
    .describe('The change of the recipe that helps most; null = none is known, or the alert is over.'),
});

export const runAlertsSchema = z.strictObject({
  run: runIdSchema,
  window: z.int().describe('Steps that are averaged at the begin and at the end.'),
  steps: z.int().min(0).describe('Watched steps. A rule needs a step more than the window, or than two windows.'),
  alerts: z.array(alertSchema),
  unwatched: z
    .array(z.strictObject({ rule: z.enum(ALERT_RULES), reason: z.enum(UNWATCHED_REASONS) }))
    .describe('Rules that this run does not allow, and why. docs/reference/troubleshooting.md has the reasons.'),
  judge_checks: z
    .array(recordedCheckSchema)
    .describe(
      'What canaries, audits and risks found, by step. The latest of a rule and a judge says whether it holds.',
    ),
}) satisfies z.ZodType<RunAlerts & { readonly run: string; readonly window: number }>;

/** The alerts of a run. */
export type RunAlertsReply = z.infer<typeof runAlertsSchema>;
