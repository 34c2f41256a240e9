/**
 * Every expected failure of a request as one tagged union, and the one place that maps it to RFC 9457 problem+json.
 * A new reason without a case does not compile. Details are constants and numbers of ours: a problem repeats nothing of
 * the request but names of unknown fields, and says nothing of the inside.
 */

import type { GenerationFailure } from '../../src/generation/generator.ts';
import { type InputProblem, pathText } from '../../src/input-problem.ts';
import type { JudgeFailure, JudgmentKind } from '../../src/judgments/types.ts';
import { DEFAULT_RETRY_AFTER_S, MAX_PROBLEM_ERRORS } from '../../src/limits.ts';
import type { Scope } from '../../src/wire/api-keys.ts';
import type { Problem, ProblemReason } from '../../src/wire/problem.ts';
import { StorageError } from '../storage/storage-error.ts';
import type { SignatureProblem } from '../webhooks/signature.ts';
import { type FileFailure, wireOfFileFailure } from './file-failures.ts';
import { wireOfGenerationFailure } from './generation-failures.ts';
import { wireOfJudgeFailure } from './judge-failures.ts';
import { isOpenAiPath, retryHeader, withOpenAiError } from './openai-error.ts';
import { type ReplayFailure, wireOfReplayFailure } from './replay-failures.ts';
import { type RunFailure, wireOfRunFailure } from './run-failures.ts';

/** Why a request is answered with a problem. */
export type RequestFailure =
  | { readonly reason: 'auth_unconfigured' }
  | { readonly reason: 'key_missing' }
  | { readonly reason: 'key_unknown' }
  | { readonly reason: 'scope_missing'; readonly scope: Scope }
  | { readonly reason: 'config_invalid'; readonly setting: string }
  | { readonly reason: 'route_unknown' }
  | { readonly reason: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly reason: 'content_type_unsupported'; readonly wanted?: 'form' }
  | { readonly reason: 'body_too_large'; readonly limit_bytes: number }
  | { readonly reason: 'body_interrupted' }
  | { readonly reason: 'body_not_utf8' }
  | { readonly reason: 'body_not_json'; readonly position: number | null }
  | { readonly reason: 'input_invalid'; readonly problems: readonly InputProblem[] }
  | FileFailure
  | { readonly reason: 'batch_not_found' }
  /** It has ended, or is about to. */
  | { readonly reason: 'batch_is_over'; readonly status: string }
  /** A signed request that proves nothing. */
  | { readonly reason: SignatureProblem }
  | { readonly reason: 'webhook_not_found' }
  | { readonly reason: 'webhook_job_not_found' }
  | { readonly reason: 'webhook_delivery_not_found' }
  | { readonly reason: 'webhook_disabled' }
  | { readonly reason: 'webhook_id_reused' }
  | { readonly reason: 'webhook_limit_reached'; readonly limit: string }
  | { readonly reason: 'webhook_busy' }
  | RunFailure
  | { readonly reason: 'judge_unknown'; readonly configured: readonly string[] }
  /** A receipt was asked for, and nothing signs here. */
  | { readonly reason: 'issuer_unconfigured' }
  | { readonly reason: 'judgment_missing'; readonly missing: readonly { kind: JudgmentKind; key: string }[] }
  /** A needed judgment could not be had. */
  | { readonly reason: 'judgment_failed'; readonly failure: JudgeFailure }
  | { readonly reason: 'generator_unknown'; readonly configured: readonly string[] }
  | { readonly reason: 'run_not_found' }
  | ReplayFailure
  /** A policy's output could not be had, or not all of it. */
  | { readonly reason: 'generation_failed'; readonly failure: GenerationFailure }
  | { readonly reason: 'internal' };

/** Carries a failure from where it is found to the app's error handler. */
export class RequestError extends Error {
  readonly failure: RequestFailure;

  constructor(failure: RequestFailure) {
    super(failure.reason);
    this.name = 'RequestError';
    this.failure = failure;
  }
}

/** A failure as it goes over the wire. */
export type Wire = {
  readonly reason: ProblemReason;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly retryable?: boolean;
  readonly extra?: Pick<Problem, 'errors' | 'missing' | 'unobserved'>;
  readonly headers?: Readonly<Record<string, string>>;
};

const CHALLENGE = { 'www-authenticate': 'Bearer realm="citeward"' };

function wireOf(failure: RequestFailure): Wire {
  const { reason } = failure;
  switch (reason) {
    case 'auth_unconfigured':
      return {
        reason,
        status: 403,
        title: 'No API key is configured',
        detail: 'This deployment accepts no requests: set the secret API_KEYS, or ALLOW_ANONYMOUS=true for local use.',
      };
    case 'key_missing':
      return {
        reason,
        status: 401,
        title: 'API key missing',
        detail: 'Send the header "Authorization: Bearer <key>".',
        headers: CHALLENGE,
      };
    case 'key_unknown':
      return {
        reason,
        status: 401,
        title: 'API key unknown',
        detail: 'The key in the Authorization header is not one of this deployment.',
        headers: CHALLENGE,
      };
    case 'scope_missing':
      return {
        reason,
        status: 403,
        title: 'Scope missing',
        detail: `The key does not have the scope "${failure.scope}".`,
      };
    case 'config_invalid':
      return {
        reason,
        status: 500,
        title: 'The deployment is misconfigured',
        detail: `The setting ${failure.setting} is malformed; the log of the Worker says where. Requests are refused until it is mended.`,
      };
    case 'route_unknown':
      return { reason, status: 404, title: 'Not found', detail: 'No such route; GET /openapi.json lists them all.' };
    case 'method_not_allowed': {
      const allow = failure.allow.join(', ');
      return {
        reason,
        status: 405,
        title: 'Method not allowed',
        detail: `This route takes ${allow}.`,
        headers: { allow },
      };
    }
    case 'content_type_unsupported':
      return {
        reason,
        status: 415,
        title: 'Content type unsupported',
        detail:
          failure.wanted === 'form'
            ? 'Send a form with "content-type: multipart/form-data" and no content-encoding.'
            : 'Send JSON in UTF-8 with "content-type: application/json" and no content-encoding.',
      };
    case 'body_too_large':
      return {
        reason,
        status: 413,
        title: 'Body too large',
        detail: `The body may have at most ${failure.limit_bytes} bytes.`,
      };
    case 'body_interrupted':
      return {
        reason,
        status: 400,
        title: 'Body interrupted',
        detail: 'The connection ended before the body did.',
        retryable: true,
      };
    case 'body_not_utf8':
      return { reason, status: 400, title: 'Body is not UTF-8', detail: 'The body holds bytes that are not UTF-8.' };
    case 'body_not_json':
      return {
        reason,
        status: 400,
        title: 'Body is not JSON',
        detail:
          failure.position === null
            ? 'The body is not valid JSON (NaN and Infinity are not JSON).'
            : `The body is not valid JSON at position ${failure.position} (UTF-16 code units).`,
      };
    case 'input_invalid':
      return {
        reason,
        status: 422,
        title: 'Invalid input',
        detail:
          failure.problems.length > MAX_PROBLEM_ERRORS
            ? `${failure.problems.length} fields are wrong; the first ${MAX_PROBLEM_ERRORS} are listed in errors.`
            : 'Some fields are wrong; errors lists each with what was expected.',
        extra: { errors: wireErrors(failure.problems) },
      };
    case 'file_not_found':
    case 'file_too_large':
    case 'multipart_malformed':
    case 'range_not_satisfiable':
    case 'upload_not_found':
    case 'upload_not_pending':
    case 'upload_parts_exceeded':
    case 'storage_failed':
      return wireOfFileFailure(failure);
    case 'batch_not_found':
      return { reason, status: 404, title: 'Batch not found', detail: 'There is no batch of that id.' };
    case 'batch_is_over':
      return {
        reason,
        status: 409,
        title: 'The batch is over',
        detail: `The batch is ${failure.status}: it can no longer be cancelled.`,
      };
    case 'signature_missing':
    case 'signature_malformed':
    case 'signature_wrong':
    case 'timestamp_stale':
    case 'timestamp_future':
      return { reason, status: 401, ...SIGNATURE_PROBLEMS[reason], headers: SIGNATURE_CHALLENGE };
    case 'webhook_not_found':
      return { reason, status: 404, title: 'Webhook not found', detail: 'There is no webhook endpoint of that id.' };
    case 'webhook_job_not_found':
      return { reason, status: 404, title: 'Job not found', detail: 'The endpoint has no job of that id (any more).' };
    case 'webhook_delivery_not_found':
      return {
        reason,
        status: 404,
        title: 'Delivery not found',
        detail: 'The endpoint has no delivery of that id (any more).',
      };
    case 'webhook_disabled':
      return { reason, status: 403, title: 'Webhook disabled', detail: 'The endpoint is disabled.' };
    case 'webhook_id_reused':
      return {
        reason,
        status: 409,
        title: 'The webhook-id was used before',
        detail: 'The webhook-id came with another body before: a new message needs a new id.',
      };
    case 'webhook_limit_reached':
      return { reason, status: 409, title: 'Limit reached', detail: failure.limit };
    case 'webhook_busy':
      return {
        reason,
        status: 503,
        title: 'The webhook is busy',
        detail: 'The endpoint cannot take more now; try again.',
        retryable: true,
        headers: { 'retry-after': String(DEFAULT_RETRY_AFTER_S) },
      };
    case 'ledger_failed':
      return wireOfRunFailure(failure);
    case 'judge_unknown': {
      const message = `expected one of ${failure.configured.join(', ')}`;
      return {
        reason,
        status: 422,
        title: 'Judge unknown',
        detail: `No judge of that name is configured; ${message}.`,
        extra: { errors: [{ path: 'judge', message }] },
      };
    }
    case 'issuer_unconfigured':
      return {
        reason,
        status: 422,
        title: 'No issuer key is configured',
        detail: 'This deployment signs nothing: it has no ISSUER_KEY.',
        extra: { errors: [{ path: 'receipt', message: 'expected false: nothing signs here' }] },
      };
    case 'judgment_missing':
      return {
        reason,
        status: 409,
        title: 'Judgment missing',
        detail: 'Some judgments are not in the store, and the request asked for stored ones only; missing names them.',
        extra: { missing: failure.missing.map(({ kind, key }) => ({ kind, key })) },
      };
    case 'judgment_failed':
      return wireOfJudgeFailure(failure.failure);
    case 'generator_unknown': {
      const message = `expected one of ${failure.configured.join(', ')}`;
      return {
        reason,
        status: 422,
        title: 'Generator unknown',
        detail: `No generator of that name is configured; ${message}.`,
        extra: { errors: [{ path: 'generator', message }] },
      };
    }
    case 'run_not_found':
      return { reason, status: 404, title: 'Run not found', detail: 'There is no run of that id.' };
    case 'measurement_missing':
    case 'text_not_kept':
    case 'run_gone':
    case 'run_group_too_large':
      return wireOfReplayFailure(failure);
    case 'generation_failed':
      return wireOfGenerationFailure(failure.failure);
    case 'internal':
      return { reason, status: 500, title: 'Internal error', detail: 'Something went wrong here, not in the request.' };
  }
}

const SIGNATURE_CHALLENGE = { 'www-authenticate': 'StandardWebhooks realm="citeward"' };

const SIGNATURE_PROBLEMS: Readonly<Record<SignatureProblem, { readonly title: string; readonly detail: string }>> = {
  signature_missing: {
    title: 'Signature missing',
    detail: 'Send the headers webhook-id, webhook-timestamp and webhook-signature.',
  },
  signature_malformed: {
    title: 'Signature malformed',
    detail: 'The webhook-id is printable ASCII without a full stop, the webhook-timestamp is seconds since 1970.',
  },
  signature_wrong: {
    title: 'Signature wrong',
    detail: 'No signature of version v1 fits the id, the timestamp and the body under a valid secret of the endpoint.',
  },
  timestamp_stale: { title: 'Timestamp too old', detail: 'The webhook-timestamp is too long ago: sign anew.' },
  timestamp_future: {
    title: 'Timestamp in the future',
    detail: 'The webhook-timestamp is too far ahead of our clock.',
  },
};

function wireErrors(problems: readonly InputProblem[]): { path: string; message: string }[] {
  return problems.slice(0, MAX_PROBLEM_ERRORS).map(({ path, message }) => ({ path: pathText(path), message }));
}

/** The reason as it stands in the problem and in the log. */
export function wireReason(failure: RequestFailure): ProblemReason {
  switch (failure.reason) {
    case 'judgment_failed':
    case 'generation_failed':
      return failure.failure.reason;
    default:
      return failure.reason;
  }
}

/** The problem that says a failure. */
export function problemOf(failure: RequestFailure, requestId: string): Problem {
  const { reason, status, title, detail, retryable, extra } = wireOf(failure);
  return {
    type: `urn:citeward:problem:${reason}`,
    title,
    status,
    reason,
    detail,
    retryable: retryable === true,
    request_id: requestId,
    ...extra,
  };
}

/** What an error that reached the app stands for. */
export function failureOf(error: unknown): RequestFailure {
  if (error instanceof RequestError) return error.failure;
  return { reason: error instanceof StorageError ? 'storage_failed' : 'internal' };
}

/** The reply to a failed request. @param path of the request, as routes of OpenAI's shape also say it in OpenAI's way. */
export function problemResponse(failure: RequestFailure, requestId: string, path: string): Response {
  const { status, headers } = wireOf(failure);
  const problem = problemOf(failure, requestId);
  const isOpenAi = isOpenAiPath(path);
  return new Response(JSON.stringify(isOpenAi ? withOpenAiError(problem) : problem), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(isOpenAi ? retryHeader(problem) : {}),
      ...headers,
    },
  });
}
