/**
 * What an error body says, in each dialect: `{error: {...}}` (vLLM, llama.cpp, Ollama), `{error: "..."}` (vLLM's 401,
 * TGI), flat `{object: "error", ...}` (SGLang). Only what classifies the failure is kept; the words stay unread by
 * anyone, as they quote prompts.
 */

import * as z from 'zod';
import { backendFault, type SharedFault } from '../calls/failures.ts';

export type BackendError = {
  /** The HTTP status that the body names, as it is all there is behind a 200 that streams. */
  readonly status: number | null;
  /** The prompt and the reply do not fit into the model's context. */
  readonly too_long: boolean;
};

const describedSchema = z.object({
  message: z.unknown().optional(),
  type: z.unknown().optional(),
  code: z.unknown().optional(),
});

const errorSchema = z.union([
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error, type: null, code: null })),
  z.object({ error: describedSchema }).transform(({ error }) => error),
  z.object({ object: z.literal('error') }).and(describedSchema),
]);

/** The error that a JSON value is; `null` if it is none. */
export function errorOf(value: unknown): BackendError | null {
  const parsed = errorSchema.safeParse(value);
  if (!parsed.success) return null;
  const { message, type, code } = parsed.data;
  return { status: statusOf(code), too_long: [message, type, code].some(saysTooLong) };
}

/** The error in the text of a body; `null` if it is not JSON or no error. */
export function errorInText(text: string): BackendError | null {
  try {
    return errorOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function statusOf(code: unknown): number | null {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : null;
}

/** How vLLM, SGLang, llama.cpp and OpenAI say it, in messages, types and codes. */
const TOO_LONG = [
  'maximum context length',
  'context length',
  'context_length_exceeded',
  'context size',
  'exceed_context_size_error',
  'max_model_len',
];

function saysTooLong(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const plain = text.toLowerCase();
  return TOO_LONG.some((marker) => plain.includes(marker));
}

/** Faults that a status alone can tell of. */
export type StatusFaultKind = Exclude<SharedFault['kind'], 'interrupted' | 'refusal' | 'model_mismatch'>;

/**
 * @param error what the body says, if anything.
 * @param retry_after_s when the server wants to be asked again, if it says so.
 */
export function faultOfStatus(status: number, error: BackendError | null, retry_after_s: number | null): SharedFault {
  if (error?.too_long === true && (status === 400 || status === 422)) {
    return backendFault('prompt_too_long', "prompt and reply do not fit into the model's context");
  }
  const kind = kindOfStatus(status);
  return backendFault(kind, `the backend answered with HTTP ${status}${MEANING[status] ?? ''}`, retry_after_s);
}

/** What an operator would look for first. */
const MEANING: Readonly<Record<number, string>> = {
  401: ': it does not take our key',
  403: ': it does not let us in',
  404: ': it does not know the model, or nothing is served under this address',
};

/** What a status other than 200 means of any server behind HTTP. */
export function kindOfStatus(status: number): StatusFaultKind {
  switch (status) {
    case 401:
    case 403:
    case 407:
      return 'unauthorized';
    case 408:
    // Gateways that waited for the server in vain; 524 is Cloudflare's.
    case 504:
    case 524:
      return 'timeout';
    case 413:
      return 'prompt_too_long';
    case 425:
    case 503:
    case 529:
      return 'overloaded';
    case 429:
      return 'rate_limited';
    case 501:
      return 'request_refused';
    case 502:
    // Cloudflare's edge or tunnel could not reach the origin.
    case 520:
    case 521:
    case 522:
    case 523:
    case 525:
    case 526:
    case 530:
      return 'unreachable';
    default:
      if (status >= 500) return 'error';
      if (status >= 400) return 'request_refused';
      // A redirect is not followed: it would carry our key elsewhere, and mostly it leads to a login page.
      return 'not_an_api';
  }
}

/** The fault that an error inside a reply is. */
export function faultOfError(error: BackendError): SharedFault {
  if (error.status !== null) return faultOfStatus(error.status, error, null);
  if (error.too_long) return faultOfStatus(400, error, null);
  return backendFault('error', 'the backend reported an error instead of a reply');
}
