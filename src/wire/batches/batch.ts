/** Batches in the shape of OpenAI's API, with two additions: progress and dead letters. */
import * as z from 'zod';
import { MAX_METADATA_PAIRS } from '../../limits.ts';

/** The endpoints that a batch can send its requests to. */
export const BATCH_ENDPOINTS = [
  '/v1/score',
  '/v1/verify',
  '/v1/groups',
  '/v1/compare',
  '/v1/refine',
  '/v1/rubrics',
] as const;
export type BatchEndpoint = (typeof BATCH_ENDPOINTS)[number];

export const BATCH_STATUSES = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const;
/** The state of a batch. */
export type BatchStatus = (typeof BATCH_STATUSES)[number];

const MIN_WINDOW_H = 1;
const MAX_WINDOW_H = 168;

/** A number of hours up to a week, such as `24h`, OpenAI's only value. */
const windowSchema = z
  .string()
  .regex(/^\d{1,3}h$/)
  .refine((text) => windowHours(text) >= MIN_WINDOW_H && windowHours(text) <= MAX_WINDOW_H, {
    error: `expected ${MIN_WINDOW_H}h to ${MAX_WINDOW_H}h`,
  });

/** Parses a completion window to hours. */
export function windowHours(text: string): number {
  return Number.parseInt(text, 10);
}

const METADATA_KEY_CHARS = 64;
const METADATA_VALUE_CHARS = 512;

const metadataSchema = z
  .record(z.string().max(METADATA_KEY_CHARS), z.string().max(METADATA_VALUE_CHARS))
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_PAIRS, {
    error: `expected at most ${MAX_METADATA_PAIRS} pairs`,
  });

/** Unknown members are ignored, because OpenAI's clients send some. */
export const batchRequestSchema = z.object({
  input_file_id: z.string().min(1).max(128),
  endpoint: z.enum(BATCH_ENDPOINTS),
  completion_window: windowSchema,
  metadata: metadataSchema.nullable().exactOptional(),
  webhook: z
    .string()
    .max(128)
    .exactOptional()
    .describe("A registered webhook endpoint that receives the end of the batch. Citeward's addition."),
});

const countSchema = z.int().min(0);
const timeSchema = z.int().nullable().describe('Unix time in seconds.');

export const batchErrorSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  line: z.int().nullable(),
});

export const batchSchema = z.strictObject({
  id: z.string(),
  object: z.literal('batch'),
  endpoint: z.enum(BATCH_ENDPOINTS),
  errors: z.strictObject({ object: z.literal('list'), data: z.array(batchErrorSchema) }).nullable(),
  input_file_id: z.string(),
  completion_window: z.string(),
  status: z.enum(BATCH_STATUSES),
  output_file_id: z.string().nullable(),
  error_file_id: z.string().nullable(),
  created_at: z.int(),
  in_progress_at: timeSchema,
  expires_at: timeSchema,
  finalizing_at: timeSchema,
  completed_at: timeSchema,
  failed_at: timeSchema,
  expired_at: timeSchema,
  cancelling_at: timeSchema,
  cancelled_at: timeSchema,
  request_counts: z.strictObject({ total: countSchema, completed: countSchema, failed: countSchema }),
  metadata: z.record(z.string(), z.string()).nullable(),
  progress: z
    .strictObject({
      chunks: z.strictObject({ total: countSchema, done: countSchema, waiting: countSchema, dead: countSchema }),
      lines_per_second: z.number().nullable(),
      eta_s: z.int().nullable().describe('Estimated seconds until the batch is done, at the rate so far.'),
    })
    .describe("Citeward's addition."),
  dead_letters: z
    .array(
      z.strictObject({
        chunk: countSchema,
        first_line: z.int(),
        requests: countSchema,
        attempts: countSchema,
        reason: z.string(),
      }),
    )
    .describe(
      "Chunks that failed repeatedly through no fault of their lines. POST …/redrive retries them. Citeward's addition.",
    ),
});

/** A batch, in the shape of OpenAI's Batch API. */
export type BatchReply = z.infer<typeof batchSchema>;

export const batchListSchema = z.strictObject({
  object: z.literal('list'),
  data: z.array(batchSchema),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

export const batchListQuerySchema = z.strictObject({
  after: z.string().max(128).exactOptional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

export const batchRedriveSchema = z.strictObject({
  redriven: countSchema.describe('Number of dead letters that are retried.'),
  batch: batchSchema,
});
