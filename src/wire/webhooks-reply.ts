/** Replies about webhooks: endpoints, signed scoring jobs, deliveries, and the delivered events. */
import * as z from 'zod';
import { problemSchema } from './problem.ts';
import { scoreReplySchema } from './score-detail.ts';
import { DELIVERY_STATES, enabledSchema, messageIdSchema } from './webhooks.ts';

const timeSchema = z.string().describe('ISO 8601, UTC.');
const endpointIdSchema = z.string().regex(/^whe_[A-Za-z0-9_-]{24}$/);
const jobIdSchema = z.string().regex(/^job_[A-Za-z0-9_-]{24}$/);
export const endpointSchema = z.strictObject({
  id: endpointIdSchema,
  url: z.string(),
  description: z.string().nullable(),
  created_at: timeSchema,
  enabled: enabledSchema,
  disabled_reason: z
    .enum(['requested', 'gone'])
    .nullable()
    .describe(
      'gone: the receiver answered 410. null while the endpoint is enabled, or for a reason of a later version.',
    ),
  secrets: z
    .array(
      z.strictObject({
        id: z.string(),
        created_at: timeSchema,
        expires_at: timeSchema.nullable().describe('null for the current secret.'),
      }),
    )
    .describe('Valid secrets, newest first. The value of a secret is shown only when it is created.'),
});

export type Endpoint = z.infer<typeof endpointSchema>;

export const endpointWithSecretSchema = endpointSchema.extend({
  secret: z.string().describe('whsec_ and 32 bytes in base64. Shown only once.'),
});

export type EndpointWithSecret = z.infer<typeof endpointWithSecretSchema>;

export const endpointsSchema = z.strictObject({ endpoints: z.array(endpointSchema).describe('Oldest first.') });

export const deletedEndpointSchema = z.strictObject({ id: endpointIdSchema, deleted: z.literal(true) });

/** Why an attempt to deliver failed, beside `status_<code>` for another status than 2xx. */
export const ATTEMPT_REASONS = [
  'timeout',
  'unreachable',
  'interrupted',
  'too_long',
  'redirect',
  // 410: the receiver wants no further deliveries.
  'gone',
  // This deployment would no longer register the endpoint's URL.
  'url_refused',
  // The setting WEBHOOK_SECRETS_KEY lacks the key that encrypted the endpoint's secret.
  'secret_unreadable',
  // A bug in the Worker; the operator log names it.
  'internal',
] as const;

const attemptFields = {
  status: z.int().nullable().describe("Status of the receiver's reply; null = no reply."),
  reason: z
    .string()
    .nullable()
    .describe(
      'Reason of the failure: timeout, unreachable, interrupted, too_long, redirect, gone, url_refused, ' +
        'secret_unreadable, internal or status_<code>. null = delivered.',
    ),
  duration_ms: z.int().min(0),
};

export const endpointTestSchema = z.strictObject({
  message: messageIdSchema,
  delivered: z.boolean(),
  ...attemptFields,
});

export type EndpointTest = z.infer<typeof endpointTestSchema>;

const JOB_STATUSES = ['pending', 'completed', 'failed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const acceptedJobSchema = z.strictObject({
  job: jobIdSchema,
  webhook_id: z.string(),
  status: z.enum(JOB_STATUSES).describe('completed and failed occur only for a repeated webhook-id.'),
});

export type AcceptedJob = z.infer<typeof acceptedJobSchema>;

const eventSchema = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.strictObject({ type: z.literal(type), timestamp: timeSchema, data });

/** The job that an event reports. */
const jobFields = { job: jobIdSchema, webhook_id: z.string().describe('The webhook-id of the signed request.') };

export const scoreCompletedEventSchema = eventSchema(
  'score.completed',
  z.strictObject({ ...jobFields, score: scoreReplySchema }),
);

export const scoreFailedEventSchema = eventSchema(
  'score.failed',
  z.strictObject({
    ...jobFields,
    problem: problemSchema.describe('The problem that POST /v1/score would return; request_id is the job.'),
  }),
);

export const jobSchema = z.strictObject({
  id: jobIdSchema,
  webhook_id: z.string(),
  status: z.enum(JOB_STATUSES),
  created_at: timeSchema,
  finished_at: timeSchema.nullable(),
  attempts: z.int().min(0),
  next_attempt_at: timeSchema.nullable(),
  reason: z
    .string()
    .nullable()
    .describe('Why the last attempt gave no score; null = a score exists, or no attempt was made.'),
  message: messageIdSchema.nullable().describe('The delivery that carries the outcome.'),
  event: z
    .union([scoreCompletedEventSchema, scoreFailedEventSchema])
    .nullable()
    .describe('The outcome as delivered; null before, and after the delivery is deleted.'),
});

export type JobReply = z.infer<typeof jobSchema>;

const deliverySchema = z.strictObject({
  id: messageIdSchema.describe('The webhook-id of every attempt.'),
  type: z.string(),
  state: z.enum(DELIVERY_STATES),
  created_at: timeSchema,
  settled_at: timeSchema.nullable().describe('Time of delivery, or of the final failure.'),
  next_attempt_at: timeSchema.nullable(),
  attempts: z.int().min(0),
  reason: z.string().nullable().describe('Why the delivery is dead, or why the last attempt failed.'),
});

export type DeliveryReply = z.infer<typeof deliverySchema>;

export const deliveryDetailSchema = deliverySchema.extend({
  attempt_log: z
    .array(z.strictObject({ at: timeSchema, ...attemptFields }))
    .describe('The latest attempts, oldest first.'),
  event: z.unknown().describe('The body as sent: {type, timestamp, data}.'),
});

export type DeliveryDetail = z.infer<typeof deliveryDetailSchema>;

export const deliveriesSchema = z.strictObject({
  deliveries: z.array(deliverySchema).describe('Newest first.'),
  next: messageIdSchema.nullable().describe('"after" of the next page; null = last page.'),
});

export type DeliveriesReply = z.infer<typeof deliveriesSchema>;
