/**
 * Classifies HTTP statuses and error bodies of model servers. Error bodies differ by server: `{error: {...}}` (vLLM,
 * llama.cpp, Ollama), `{error: "..."}` (vLLM's 401, TGI), flat `{object: "error", ...}` (SGLang). Their messages are
 * used for the classification only and never passed on, because they quote prompts.
 */

import * as z from 'zod';
import { parsedJson } from '../../../src/json.ts';
import { backendFault, type SharedFault } from '../calls/failures.ts';

type BackendError = {
  /** The HTTP status in the body; an error inside a streamed 200 has no other. */
  readonly status: number | null;
  /** Prompt and reply exceed the context of the model. */
  readonly too_long: boolean;
  /** The call has more texts than Text Embeddings Inference takes. */
  readonly too_many: boolean;
  /** A content filter refused the prompt. */
  readonly filtered: boolean;
  /** The account has no quota or credit left. */
  readonly unpaid: boolean;
  /** The parameter of ours that the server refuses; `null` = it names none. */
  readonly refused: string | null;
};

const describedSchema = z.object({
  message: z.unknown().optional(),
  type: z.unknown().optional(),
  code: z.unknown().optional(),
  param: z.unknown().optional(),
});

/** The form of FastAPI's validation. */
const fieldsSchema = z.object({ detail: z.array(z.object({ type: z.unknown(), loc: z.array(z.unknown()) })).min(1) });

const errorSchema = z.union([
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error, type: null, code: null, param: null })),
  z.object({ error: describedSchema }).transform(({ error }) => error),
  z.object({ object: z.literal('error') }).and(describedSchema),
  fieldsSchema.transform(({ detail: [first] }) => ({
    message: null,
    type: first?.type,
    code: null,
    param: first?.loc.at(-1),
  })),
]);

/** Reads a JSON value as an error; `null` if it is none. */
export function errorOf(value: unknown): BackendError | null {
  if (!mayBeError(value)) return null;
  const parsed = errorSchema.safeParse(value);
  if (!parsed.success) return null;
  const { message, type, code, param } = parsed.data;
  const names = [type, code].map((name) => (typeof name === 'string' ? name.toLowerCase() : ''));
  return {
    status:
      statusOf(code) ?? names.map((name) => STATUS_OF_NAME.get(name)).find((status) => status !== undefined) ?? null,
    filtered: names.some((name) => FILTERS.includes(name)),
    unpaid: names.includes(NO_QUOTA),
    too_long: [message, type, code].some(saysTooLong),
    too_many: typeof message === 'string' && message.includes('maximum allowed batch size'),
    refused: refusedParameter(param, message),
  };
}

/** Whether the schema may accept the value. Its issues would cost more than reading a chunk of a stream. */
function mayBeError(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'error' in value || 'detail' in value || ('object' in value && value.object === 'error');
}

/** Reads the text of a body as an error; `null` if it is not JSON or no error. */
export function errorInText(text: string): BackendError | null {
  const value = parsedJson(text);
  return value === undefined ? null : errorOf(value);
}

function statusOf(code: unknown): number | null {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : null;
}

/** Codes of content filters: Azure, OpenAI, Alibaba. */
const FILTERS: readonly string[] = ['content_filter', 'content_policy_violation', 'data_inspection_failed'];
const NO_QUOTA = 'insufficient_quota';

/** The HTTP status that an error's type or code says in words: an error within a stream has no other. */
const STATUS_OF_NAME: ReadonlyMap<string, number> = new Map([
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['throttling_error', 429],
  [NO_QUOTA, 429],
  ['overloaded_error', 529],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['model_not_found', 404],
  ['invalid_request_error', 400],
]);

/** Markers in messages, types and codes of vLLM, SGLang, llama.cpp and OpenAI. */
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

/** The parameters that requests have. No other word of an error is passed on. */
const PARAMETERS: readonly string[] = [
  ...['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'n', 'max_completion_tokens', 'max_tokens', 'stream_options'],
  ...['repetition_penalty', 'repeat_penalty', 'response_format', 'chat_template_kwargs', 'reasoning_effort'],
  ...['thinking', 'reasoning', 'provider', 'tools'],
];
const REFUSES = /unsupported|unrecognized|unknown|unexpected|not supported|not permitted|unavailable|extra_forbidden/i;
/** Longer messages quote prompts. */
const MAX_REFUSAL_CHARS = 400;

/** The parameter that an error is about: its `param`, or the first one that a message of refusal names. */
function refusedParameter(param: unknown, message: unknown): string | null {
  if (typeof param === 'string' && PARAMETERS.includes(param)) return param;
  if (typeof message !== 'string' || message.length > MAX_REFUSAL_CHARS || !REFUSES.test(message)) return null;
  const words = message.split(/[^A-Za-z_]+/);
  // "Use 'max_completion_tokens' instead" names the remedy after the fault.
  return words.find((word) => word !== 'n' && PARAMETERS.includes(word)) ?? (words.includes('n') ? 'n' : null);
}

/** The faults that a status alone can express. */
type StatusFaultKind = Exclude<SharedFault['kind'], 'interrupted' | 'refusal' | 'model_mismatch'>;

/**
 * Returns the fault of a reply whose status is not 200.
 * @param error the error in the body; `null` = none.
 * @param retry_after_s `Retry-After` in seconds; `null` = none.
 */
export function faultOfStatus(status: number, error: BackendError | null, retry_after_s: number | null): SharedFault {
  if (error?.too_long === true && (status === 400 || status === 422)) {
    return backendFault('prompt_too_long', "prompt and reply do not fit into the model's context");
  }
  // Text Embeddings Inference answers with 413 to a text that is too long, too.
  if (error?.too_many === true) {
    return backendFault('request_refused', 'the backend takes fewer texts in one call (--max-client-batch-size)');
  }
  if (error?.filtered === true) return backendFault('refusal', 'a content filter withheld the reply');
  const kind = kindOfStatus(status);
  const about = (status === 400 || status === 422) && error !== null ? error.refused : null;
  const cause = error?.unpaid === true ? MEANING[402] : MEANING[status];
  const meaning = about === null ? (cause ?? '') : `: it refuses the parameter ${about}`;
  return backendFault(kind, `the backend answered with HTTP ${status}${meaning}`, retry_after_s);
}

/** The likely cause of each HTTP status, as a hint for the operator. */
const MEANING: Readonly<Record<number, string>> = {
  401: ': it does not take our key',
  402: ': the account has no credit left',
  403: ': it does not let us in',
  404: ': it does not know the model, or nothing is served under this address',
};

/** Maps a status other than 200 to a kind of fault, for any HTTP server. */
export function kindOfStatus(status: number): StatusFaultKind {
  switch (status) {
    case 401:
    case 403:
    case 407:
      return 'unauthorized';
    case 408:
    // Timeouts of gateways; 524 is Cloudflare's.
    case 504:
    case 524:
      return 'timeout';
    case 413:
      return 'prompt_too_long';
    // Text Embeddings Inference: the model failed.
    case 424:
      return 'error';
    case 425:
    case 503:
    case 529:
      return 'overloaded';
    case 429:
      return 'rate_limited';
    case 501:
      return 'request_refused';
    case 502:
    // Cloudflare could not reach the origin.
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
      // Redirects are not followed: they would send the key to another host, and most lead to a login page.
      return 'not_an_api';
  }
}

/** Returns the fault of an error inside a reply. */
export function faultOfError(error: BackendError): SharedFault {
  if (error.status !== null) return faultOfStatus(error.status, error, null);
  if (error.too_long || error.filtered) return faultOfStatus(400, error, null);
  return backendFault('error', 'the backend reported an error instead of a reply');
}
