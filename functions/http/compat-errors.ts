/**
 * Errors in the form of the API that a drop-in replaces. Those forms have no null, so a judge that fails is one of these
 * errors, with its status, and never a score.
 */
import type { Problem } from '../../src/wire/problem.ts';
import { shouldRetry, withOpenAiError } from './openai-error.ts';

type VendorError = {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The APIs that have drop-ins. */
export type Vendor = 'azure' | 'bedrock' | 'google' | 'openai';

const ROOTS: readonly (readonly [root: string, vendor: Vendor])[] = [
  ['/compat/azure/', 'azure'],
  ['/compat/bedrock/', 'bedrock'],
  ['/compat/google/', 'google'],
  ['/compat/openai/', 'openai'],
];

/** Google's clients take a host and no path, so its routes are also at the root. */
const GOOGLE_AT_ROOT = /^\/v1(?:alpha|beta)?\/projects\/[^/]+\/locations\//;

/** The vendor whose client calls a path; `null` = the path belongs to no drop-in. */
export function vendorOf(path: string): Vendor | null {
  const found = ROOTS.find(([root]) => path.startsWith(root));
  if (found !== undefined) return found[1];
  return GOOGLE_AT_ROOT.test(path) ? 'google' : null;
}

/** The error that a vendor's client reads. */
export function vendorError(vendor: Vendor, problem: Problem): VendorError {
  switch (vendor) {
    case 'azure':
      return azureError(problem);
    case 'bedrock':
      return bedrockError(problem);
    case 'google':
      return googleError(problem);
    case 'openai':
      return openAiError(problem);
  }
}

/** What the vendors' APIs answer to an invalid request: none has 413, 415 or 422. */
function clientStatus({ status }: Problem): number {
  return [409, 413, 415, 422].includes(status) ? 400 : status;
}

/** The wrong fields of a problem, which vendors' errors have no list for, or else its detail. */
function messageOf({ detail, errors = [] }: Problem): string {
  return errors.length === 0 ? detail : errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

const AZURE_CODES: Readonly<Record<number, string>> = {
  400: 'InvalidRequestBody',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

function azureError(problem: Problem): VendorError {
  const status = clientStatus(problem);
  const code = AZURE_CODES[status] ?? 'InternalError';
  const body = { error: { code, message: messageOf(problem), innererror: { code: problem.reason } } };
  return { status, body, headers: { 'x-ms-error-code': code } };
}

const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function googleError(problem: Problem): VendorError {
  const code = clientStatus(problem);
  const status = GOOGLE_STATUSES[code] ?? 'UNKNOWN';
  const reason = problem.reason.toUpperCase();
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'citeward' }];
  return { status: code, body: { error: { code, message: messageOf(problem), status, details } } };
}

const BEDROCK_ERRORS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
};

/** AWS answers 403 to unknown credentials. */
function bedrockError(problem: Problem): VendorError {
  const status = problem.status === 401 ? 403 : clientStatus(problem);
  const type = BEDROCK_ERRORS[status] ?? 'ValidationException';
  const body = { message: `${problem.reason}: ${messageOf(problem)}` };
  return { status, body, headers: { 'x-amzn-errortype': type } };
}

function openAiError(problem: Problem): VendorError {
  const { error } = withOpenAiError(problem);
  return { status: clientStatus(problem), body: { error }, headers: shouldRetry(problem) };
}
