/** RFC 9457 problem details, the body of every error reply. */
import * as z from 'zod';
import { GENERATION_FAILURE_REASONS } from '../generation/generator.ts';
import { judgmentKindSchema, sha256Schema } from '../judgments/judgment-schema.ts';
import { JUDGE_FAILURE_REASONS } from '../judgments/protocol/failure.ts';

/** Reasons for refusing a request that involve no judge. */
const REQUEST_PROBLEM_REASONS = [
  'auth_unconfigured',
  'key_missing',
  'key_unknown',
  'key_expired',
  'key_attempts_exceeded',
  'host_not_allowed',
  'origin_not_allowed',
  'operator_needed',
  'key_not_found',
  'key_limit_reached',
  'scope_missing',
  'rate_limited',
  'project_not_found',
  'config_invalid',
  'route_unknown',
  'method_not_allowed',
  'content_type_unsupported',
  'body_too_large',
  'body_interrupted',
  'body_too_slow',
  'overloaded',
  'body_not_utf8',
  'body_not_json',
  'input_invalid',
  'batch_is_over',
  'batch_not_found',
  'file_not_found',
  'file_too_large',
  'multipart_malformed',
  'range_not_satisfiable',
  'upload_not_found',
  'upload_not_pending',
  'upload_parts_exceeded',
  'storage_failed',
  'signature_missing',
  'signature_malformed',
  'signature_wrong',
  'timestamp_stale',
  'timestamp_future',
  'webhook_not_found',
  'webhook_job_not_found',
  'webhook_delivery_not_found',
  'webhook_disabled',
  'webhook_id_reused',
  'webhook_limit_reached',
  'webhook_busy',
  'ledger_failed',
  'run_not_found',
  'rubrics_not_found',
  'rubrics_stale',
  'measurement_missing',
  'text_not_kept',
  'run_gone',
  'run_group_too_large',
  'generator_unknown',
  'issuer_unconfigured',
  'needs_worker',
  'internal',
] as const;

const PROBLEM_REASONS = [...REQUEST_PROBLEM_REASONS, ...JUDGE_FAILURE_REASONS, ...GENERATION_FAILURE_REASONS] as const;

export type ProblemReason = (typeof PROBLEM_REASONS)[number];

export const problemSchema = z.strictObject({
  type: z.string().describe('urn:citeward:problem:<reason>'),
  title: z.string(),
  status: z.int().min(400).max(599),
  reason: z.enum(PROBLEM_REASONS).describe('Stable identifier for programs.'),
  detail: z.string().describe('For people. Contains nothing of the request except names of unknown fields.'),
  retryable: z.boolean().describe('Whether the same request can succeed later.'),
  request_id: z.string(),
  errors: z
    .array(z.strictObject({ path: z.string(), message: z.string() }))
    .exactOptional()
    .describe('Every invalid field, with the expected value.'),
  missing: z
    .array(z.strictObject({ kind: judgmentKindSchema, key: sha256Schema }))
    .exactOptional()
    .describe('Judgments that are missing from the store.'),
  unobserved: z
    .record(z.string(), z.int().min(0))
    .exactOptional()
    .describe('What a replay reads and the run lacks: rollout counts by recipe.<measure field> or rollout.<field>.'),
  budget: z
    .strictObject({
      name: z.enum(['judge_calls_per_day', 'judge_tokens_per_day']),
      limit: z.int(),
      used: z.int().describe('With what the desks have reserved.'),
      renews_at: z.iso.datetime(),
    })
    .exactOptional()
    .describe('The daily budget of the project that is used up.'),
  error: z
    .strictObject({
      message: z.string(),
      type: z.enum(['invalid_request_error', 'server_error']),
      param: z.string().nullable().describe('The first invalid field.'),
      code: z.enum(PROBLEM_REASONS),
    })
    .exactOptional()
    .describe('The same problem for OpenAI clients, on /v1/files, /v1/uploads and /v1/batches.'),
});

export type Problem = z.infer<typeof problemSchema>;
