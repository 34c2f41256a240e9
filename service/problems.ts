/** Makes the problem document (RFC 9457) and the headers of a failure. */
import type { Problem, ProblemReason } from '../src/wire/problem.ts';
import type { Entry } from '../src/wire/problem-entry.ts';
import { REQUEST_REASONS } from '../src/wire/request-reasons.ts';
import { generationProblem, judgeProblem } from './backend-problems.ts';
import { type FailureFields, type FailureOf, RequestError, type RequestFailure } from './failures.ts';
import { StorageError } from './storage-error.ts';

const ENTRIES: { readonly [R in keyof FailureFields]: (data: FailureFields[R]) => Entry } = {
  ...REQUEST_REASONS,
  judgment_failed: ({ failure }) => judgeProblem(failure),
  generation_failed: ({ failure }) => generationProblem(failure),
};

function entryOf<R extends keyof FailureFields>(failure: FailureOf<R>): Entry {
  return ENTRIES[failure.reason](failure);
}

/** The machine-readable reason of the problem and of the log line. */
export function wireReason(failure: RequestFailure): ProblemReason {
  switch (failure.reason) {
    case 'judgment_failed':
    case 'generation_failed':
      return failure.failure.reason;
    default:
      return failure.reason;
  }
}

/** The problem document of a failure. */
export function problemOf(failure: RequestFailure, requestId: string): Problem {
  const reason = wireReason(failure);
  const { status, title, detail, retryable = false, extra } = entryOf(failure);
  const type = `urn:citeward:problem:${reason}`;
  return { type, title, status, reason, detail, retryable, request_id: requestId, ...extra };
}

/** The HTTP headers of a failure beside its content type. */
export function headersOf(failure: RequestFailure): Readonly<Record<string, string>> {
  const { retryAfterS, headers } = entryOf(failure);
  return { ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }), ...headers };
}

/** The failure of a thrown value; anything unexpected is `internal`. */
export function failureOf(error: unknown): RequestFailure {
  if (error instanceof RequestError) return error.failure;
  return { reason: error instanceof StorageError ? 'storage_failed' : 'internal' };
}
