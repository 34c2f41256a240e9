/** `GET /v1/runs/{id}/alerts`: signs that a run earns its reward in a way nobody wanted (src/runs/alerts.ts). */
import * as z from 'zod';
import { ALERT_FIGURES, ALERT_RULES, ALERT_WINDOW_STEPS } from '../runs/alert-rules.ts';
import type { RunAlerts } from '../runs/alerts.ts';
import { auditCheckSchema, canaryCheckSchema, judgeCheckSchema } from '../runs/judge-check-schema.ts';
import { placeIdSchema, runIdSchema, stepSchema } from '../runs/row.ts';
import { stepParameter } from './runs.ts';

export const alertsQuerySchema = z.strictObject({
  from_step: stepParameter
    .exactOptional()
    .describe(`The first step to watch, for a long run. The first ${ALERT_WINDOW_STEPS} steps are always read.`),
});

const recordedFields = {
  at: z.iso.datetime().describe('When it was recorded.'),
  alert: z.boolean().describe('Whether its rule is met.'),
};

/** A recorded check of the judge of a run. */
export const recordedCheckSchema = z.discriminatedUnion('rule', [
  canaryCheckSchema.extend(recordedFields),
  auditCheckSchema.extend(recordedFields),
]);
export type RecordedCheck = z.infer<typeof recordedCheckSchema>;

/** The body of `POST /v1/runs/{id}/judge-checks`. */
export const judgeCheckRequestSchema = judgeCheckSchema;

const valueSchema = z.number().nullable();

const alertSchema = z.strictObject({
  rule: z.enum(ALERT_RULES),
  message: z.string(),
  since: stepSchema.describe('The last step of the first window that met the rule.'),
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
});

export const runAlertsSchema = z.strictObject({
  run: runIdSchema,
  window: z.int().describe('Steps that are averaged at the begin and at the end.'),
  steps: z.int().min(0).describe('Watched steps. A rule needs twice the window.'),
  alerts: z.array(alertSchema),
  unwatched: z
    .array(z.strictObject({ rule: z.enum(ALERT_RULES), reason: z.enum(['no_reference', 'not_observed']) }))
    .describe('Rules that the facts of this run do not allow. no_reference: the family has no reference recipe.'),
  judge_checks: z
    .array(recordedCheckSchema)
    .describe('What canaries and audits found, by step. The latest of a rule and a judge says whether it holds.'),
}) satisfies z.ZodType<RunAlerts & { readonly run: string; readonly window: number }>;

/** The alerts of a run. */
export type RunAlertsReply = z.infer<typeof runAlertsSchema>;
