/** RFC 9457 problem details, the body of every error reply. */
import * as z from 'zod';
import { GENERATION_FAILURE_REASONS } from '../generation/generator.ts';
import { JUDGE_FAILURE_REASONS } from '../judgments/protocol/failure.ts';
import { namesOf } from '../names-of.ts';
import { problemDataFields } from './problem-entry.ts';
import { REQUEST_REASONS } from './request-reasons.ts';

const PROBLEM_REASONS = [
  ...new Set([...namesOf(REQUEST_REASONS), ...JUDGE_FAILURE_REASONS, ...GENERATION_FAILURE_REASONS]),
];

export type ProblemReason = (typeof PROBLEM_REASONS)[number];

export const problemSchema = z.strictObject({
  type: z.string().describe('urn:citeward:problem:<reason>'),
  title: z.string(),
  status: z.int().min(400).max(599),
  reason: z.enum(PROBLEM_REASONS).describe('Stable identifier for programs.'),
  detail: z.string().describe('For people. Contains nothing of the request except names of unknown fields.'),
  retryable: z.boolean().describe('Whether the same request can succeed later.'),
  request_id: z.string(),
  ...problemDataFields,
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
