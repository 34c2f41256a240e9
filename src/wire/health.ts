/** `GET /healthz` and `GET /readyz`. */
import * as z from 'zod';

export const healthSchema = z.strictObject({ status: z.literal('ok') });

const stateFields = {
  name: z.string(),
  reachable: z.boolean().describe('The backend answers as the configured kind of server and accepts the credentials.'),
  model_present: z.boolean().nullable().describe('Whether the backend serves the configured model; null = unknown.'),
  last_error: z.string().nullable().describe('Reason of the last failure in this isolate.'),
};

export const readinessSchema = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  reason: z
    .enum(['store_unreachable', 'judge_unconfigured', 'judge_unreachable', 'judge_model_missing'])
    .nullable()
    .describe('Why requests fail that need a judgment and name no judge; a store fails other requests, too.'),
  stores: z
    .array(
      z.strictObject({
        name: z.enum(['judgments', 'database', 'files', 'queue', 'judge_desk', 'run_ledger', 'batch', 'deliveries']),
        reachable: z.boolean(),
      }),
    )
    .describe(
      'The KV namespace, the D1 database, the R2 bucket, the queue, and the Durable Objects that call judges, hold ' +
        'runs, run batches and send webhooks.',
    ),
  warnings: z
    .array(z.strictObject({ setting: z.string(), message: z.string() }))
    .describe('Settings that may be too small for the load. They do not affect readiness.'),
  default_judge: z.string().nullable(),
  judges: z.array(
    z.strictObject({
      ...stateFields,
      model: z.string(),
      routes: z.array(z.strictObject(stateFields)).describe('The backends of the judge, in fallback order.'),
    }),
  ),
  default_generator: z
    .string()
    .nullable()
    .describe('The generator of requests that name none; null = no default. It does not affect readiness.'),
  generators: z.array(
    z.strictObject({
      ...stateFields,
      model: z.string(),
      native_tools: z.boolean().describe('Whether the server parses tool calls. If not, calls are read from the text.'),
    }),
  ),
  sandbox: z
    .strictObject({
      name: z.string(),
      runtime: z.string().describe("Identity of the runtime; part of every verdict's key."),
      reachable: z.boolean(),
      last_error: z.string().nullable(),
    })
    .nullable()
    .describe('Runs programs and compares expressions; null = not configured.'),
});

export type Readiness = z.infer<typeof readinessSchema>;
