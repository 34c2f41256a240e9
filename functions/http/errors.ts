/**
 * Every expected failure of a request as one tagged union, and the one place that maps it to RFC 9457 problem+json.
 * A new reason without a case does not compile. Details are constants and numbers of ours: a problem repeats nothing of
 * the request but names of unknown fields, and says nothing of the inside.
 */

import type { InputProblem } from '../../src/input-problem.ts';
import type { JudgeFailure, JudgeFailureReason, JudgmentKind } from '../../src/judgments/types.ts';
import { DEFAULT_RETRY_AFTER_S, MAX_PROBLEM_ERRORS } from '../../src/limits.ts';
import type { Scope } from '../../src/schema/api-keys.ts';
import { pathText } from '../../src/schema/issues.ts';
import type { Problem, ProblemReason } from '../../src/schema/problem.ts';

/** Why a request is answered with a problem. */
export type RequestFailure =
  | { readonly reason: 'auth_unconfigured' }
  | { readonly reason: 'key_missing' }
  | { readonly reason: 'key_unknown' }
  | { readonly reason: 'scope_missing'; readonly scope: Scope }
  | { readonly reason: 'config_invalid'; readonly setting: string }
  | { readonly reason: 'route_unknown' }
  | { readonly reason: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly reason: 'content_type_unsupported' }
  | { readonly reason: 'body_too_large'; readonly limit_bytes: number }
  | { readonly reason: 'body_interrupted' }
  | { readonly reason: 'body_not_utf8' }
  | { readonly reason: 'body_not_json'; readonly position: number | null }
  | { readonly reason: 'input_invalid'; readonly problems: readonly InputProblem[] }
  | { readonly reason: 'judge_unknown'; readonly configured: readonly string[] }
  | { readonly reason: 'judgment_missing'; readonly missing: readonly { kind: JudgmentKind; key: string }[] }
  /** A needed judgment could not be had. */
  | { readonly reason: 'judgment_failed'; readonly failure: JudgeFailure }
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

type Wire = {
  readonly reason: ProblemReason;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly retryable?: boolean;
  readonly extra?: Pick<Problem, 'errors' | 'missing'>;
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
        detail: 'Send JSON in UTF-8 with "content-type: application/json" and no content-encoding.',
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
    case 'internal':
      return { reason, status: 500, title: 'Internal error', detail: 'Something went wrong here, not in the request.' };
  }
}

/** Status and title of a needed judgment that could not be had. */
const JUDGE_FAILURES: Readonly<Record<JudgeFailureReason, { readonly status: number; readonly title: string }>> = {
  judge_unconfigured: { status: 503, title: 'No judge is configured' },
  judge_unknown: { status: 422, title: 'Judge unknown' },
  judge_capacity: { status: 503, title: 'No capacity for judging' },
  judge_circuit_open: { status: 503, title: 'The judge is resting after failures' },
  judge_timeout: { status: 503, title: 'The judge took too long' },
  judge_unreachable: { status: 503, title: 'The judge is unreachable' },
  judge_interrupted: { status: 503, title: 'The judge broke off' },
  judge_rate_limited: { status: 503, title: 'The judge is rate limited' },
  judge_overloaded: { status: 503, title: 'The judge is overloaded' },
  judge_error: { status: 503, title: 'The judge failed' },
  judge_unauthorized: { status: 503, title: 'The judge refused our credentials' },
  judge_request_refused: { status: 503, title: 'The judge refused the request' },
  judge_not_an_api: { status: 503, title: 'The judge answered with something else' },
  judge_prompt_too_long: { status: 422, title: 'Too long for the judge' },
  judge_reply_cut: { status: 503, title: "The judge's reply was cut off" },
  judge_refusal: { status: 503, title: 'The judge refused to judge' },
  judge_reply_invalid: { status: 503, title: "The judge's reply is no judgment" },
  judge_model_mismatch: { status: 503, title: 'Another model answered' },
  judgment_missing: { status: 409, title: 'Judgment missing' },
  judgment_skipped: { status: 409, title: 'Judgment skipped' },
  judgment_store_failed: { status: 503, title: 'The judgment store failed' },
  judgment_record_invalid: { status: 503, title: 'The judgment is unusable' },
};

function wireOfJudgeFailure({ reason, detail, retryable, retry_after_s }: JudgeFailure): Wire {
  const seconds = retry_after_s ?? DEFAULT_RETRY_AFTER_S;
  return {
    reason,
    ...JUDGE_FAILURES[reason],
    detail,
    retryable,
    // Without retryable there is no time after which a retry makes sense.
    ...(retryable ? { headers: { 'retry-after': String(Math.ceil(seconds)) } } : {}),
  };
}

function wireErrors(problems: readonly InputProblem[]): { path: string; message: string }[] {
  return problems.slice(0, MAX_PROBLEM_ERRORS).map(({ path, message }) => ({ path: pathText(path), message }));
}

/** The reason as it stands in the problem and in the log. */
export function wireReason(failure: RequestFailure): ProblemReason {
  return failure.reason === 'judgment_failed' ? failure.failure.reason : failure.reason;
}

/** The reply to a failed request. */
export function problemResponse(failure: RequestFailure, requestId: string): Response {
  const { reason, status, title, detail, retryable, extra, headers } = wireOf(failure);
  const problem: Problem = {
    type: `urn:citeward:problem:${reason}`,
    title,
    status,
    reason,
    detail,
    retryable: retryable === true,
    request_id: requestId,
    ...extra,
  };
  return new Response(JSON.stringify(problem), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}
