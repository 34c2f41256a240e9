/** `GET /healthz` and `GET /readyz`. */
import * as z from 'zod';

export const healthSchema = z.strictObject({ status: z.literal('ok') });

const stateFields = {
  name: z.string(),
  reachable: z.boolean().describe('It answers, as what it should be, and lets us in.'),
  model_present: z.boolean().nullable().describe('Whether the configured model is served; null = nobody could say.'),
  last_error: z.string().nullable().describe('The last failure reason that this isolate saw.'),
};

export const readinessSchema = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  reason: z
    .enum(['judge_unconfigured', 'judge_unreachable', 'judge_model_missing'])
    .nullable()
    .describe('Why requests that need a judgment and name no judge would fail.'),
  default_judge: z.string().nullable(),
  judges: z.array(
    z.strictObject({
      ...stateFields,
      model: z.string(),
      routes: z
        .array(z.strictObject(stateFields))
        .describe('The backends behind the judge, in the order they are tried.'),
    }),
  ),
  default_generator: z
    .string()
    .nullable()
    .describe('Who generates where a request names nobody; null = nobody does. Does not decide about readiness.'),
  generators: z.array(
    z.strictObject({
      ...stateFields,
      model: z.string(),
      native_tools: z.boolean().describe('The server parses tool calls by itself; otherwise they are read from text.'),
    }),
  ),
  sandbox: z
    .strictObject({
      name: z.string(),
      runtime: z.string().describe('What verdicts are pinned to.'),
      reachable: z.boolean(),
      last_error: z.string().nullable(),
    })
    .nullable()
    .describe('Where programs run and expressions are compared; null = none is configured.'),
});

export type Readiness = z.infer<typeof readinessSchema>;
