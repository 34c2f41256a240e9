/** `GET /healthz` and `GET /readyz`. */
import * as z from 'zod';

export const healthSchema = z.strictObject({ status: z.literal('ok') });

export const readinessSchema = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  reason: z
    .enum(['judge_unconfigured', 'judge_unreachable'])
    .nullable()
    .describe('Why requests that need a judgment and name no judge would fail.'),
  default_judge: z.string().nullable(),
  judges: z.array(
    z.strictObject({
      name: z.string(),
      model: z.string(),
      reachable: z.boolean(),
      last_error: z.string().nullable().describe('The last failure reason that this isolate saw.'),
    }),
  ),
});

export type Readiness = z.infer<typeof readinessSchema>;
