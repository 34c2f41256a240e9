/**
 * Sends one request with retries. Retries 429, 503 and connection failures, unless the reply says `retryable: false`;
 * honours `Retry-After`. Any other response is returned as it is.
 */

import { parsedJson } from '../../src/json.ts';

/** How a request is sent and retried. */
export type TransportOptions = {
  /** Sends one request. Default: the global fetch. */
  readonly fetch: (url: URL, init: RequestInit) => Promise<Response>;
  readonly sleep: (ms: number) => Promise<void>;
  /** A random number in [0, 1), for jitter. */
  readonly random: () => number;
  /** Attempts after refusals and broken connections. */
  readonly attempts: number;
  /**
   * Milliseconds from the first attempt in which a slow or restarting judge is waited for: while the Worker answers
   * `judge_running` or `judge_interrupted`, attempts do not count.
   */
  readonly judge_wait_ms: number;
  /** Time limit of one attempt in milliseconds; for a streamed reply, until its headers arrive. */
  readonly timeout_ms: number;
  /** False: do not retry after a lost reply, because the request may have taken effect. */
  readonly repeats_lost: boolean;
  /** Called before the wait of every retry. */
  readonly onRetry: (retry: { readonly why: string; readonly wait_ms: number }) => void;
  /**
   * Called once for a request whose judge is still running, with the time since its first attempt in milliseconds. The
   * returned function is called when the request has its answer.
   */
  readonly onJudgeRunning: (since_ms: number) => () => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
};

/** The defaults: six attempts of 100 seconds each over the global `fetch`. */
export const DEFAULT_TRANSPORT: TransportOptions = {
  fetch: (url, init) => fetch(url, init),
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  random: Math.random,
  attempts: 6,
  // Longer than the 900 s for which a deployment waits for running judge calls.
  judge_wait_ms: 960_000,
  // The Worker answers after 60 s that a judge is still running, with several judges after 95 s at most.
  timeout_ms: 100_000,
  repeats_lost: true,
  onRetry: () => undefined,
  onJudgeRunning: () => () => undefined,
  now: () => performance.now(),
};

/** What came back for a request, before its body is validated. */
export type Answer =
  /** `body` is `undefined` if the reply is not JSON. */
  | { readonly kind: 'reply'; readonly status: number; readonly body: unknown; readonly contentType: string }
  | { readonly kind: 'unreachable'; readonly why: string };

/** A successful reply whose content has not been read yet. */
export type Opened = { readonly kind: 'opened'; readonly content: ReadableStream<Uint8Array> };

const FIRST_WAIT_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
/** A longer `Retry-After` ends the retries: the refusal is returned to the caller. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/** Sends a request until it succeeds, fails permanently or runs out of attempts. */
export function send(url: URL, init: RequestInit, options: TransportOptions): Promise<Answer> {
  return repeated(async (signal) => readWhole(await respond(url, init, signal, options)), options);
}

/** Like `send`, for content that is streamed. A connection failure after the headers surfaces while reading. */
export function open(url: URL, init: RequestInit, options: TransportOptions): Promise<Answer | Opened> {
  return repeated(async (signal) => {
    const response = await respond(url, init, signal, options);
    if (response.status !== 200) return readWhole(response);
    const content = response.body ?? new Blob([]).stream();
    return { answer: { kind: 'opened' as const, content }, retryAfter: null };
  }, options);
}

type Tried<A> = { readonly answer: A; readonly retryAfter: string | null };

async function repeated<A extends { readonly kind: string }>(
  attemptOnce: (signal: AbortSignal) => Promise<Tried<Answer | A>>,
  options: TransportOptions,
): Promise<Answer | A> {
  const started = options.now();
  let ended: (() => void) | null = null;
  try {
    for (let attempt = 1; ; ) {
      const tried = await tryOnce(attemptOnce, options.timeout_ms);
      const { answer } = tried;
      if (!isAnswer(answer)) return answer;
      const wait = waitBefore(answer, tried.retryAfter, attempt, options);
      const reason = reasonIn(answer);
      const goesOn = GOING_ON.has(reason ?? '') && options.now() - started + (wait ?? 0) < options.judge_wait_ms;
      if (wait === null || !(goesOn || attempt < options.attempts)) return answer;
      if (reason === 'judge_running') ended ??= options.onJudgeRunning(options.now() - started);
      else options.onRetry({ why: describe(answer), wait_ms: wait });
      if (!goesOn) attempt++;
      await options.sleep(wait);
    }
  } finally {
    ended?.();
  }
}

/** The judge call goes on, or a deployment has ended it: a retry joins the call, or starts it again. */
const GOING_ON: ReadonlySet<string> = new Set(['judge_running', 'judge_interrupted']);

function isAnswer<A extends { readonly kind: string }>(answer: Answer | A): answer is Answer {
  return answer.kind === 'reply' || answer.kind === 'unreachable';
}

async function tryOnce<A>(
  attemptOnce: (signal: AbortSignal) => Promise<Tried<Answer | A>>,
  timeout_ms: number,
): Promise<Tried<Answer | A>> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new DOMException('no reply in time', 'TimeoutError')), timeout_ms);
  try {
    return await attemptOnce(abort.signal);
  } catch (error) {
    // fetch rejects if the connection, the name resolution or the time limit fails.
    return { answer: { kind: 'unreachable', why: reasonOf(error) }, retryAfter: null };
  } finally {
    clearTimeout(timer);
  }
}

/** Redirects are refused: they could turn a POST into a GET or send the key to another host. */
function respond(url: URL, init: RequestInit, signal: AbortSignal, options: TransportOptions): Promise<Response> {
  return options.fetch(url, { ...init, redirect: 'manual', signal });
}

async function readWhole(response: Response): Promise<Tried<Answer>> {
  const text = await response.text();
  const contentType = response.headers.get('content-type') ?? '';
  const answer = { kind: 'reply' as const, status: response.status, body: parsedJson(text), contentType };
  return { answer, retryAfter: response.headers.get('retry-after') };
}

/** A short reason for the missing reply. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no reply in time';
  const cause = error.cause;
  if (cause instanceof Error) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : null;
    if (code === 'ECONNREFUSED') return 'connection refused';
    if (code === 'ENOTFOUND') return 'no such host';
    return code === null || cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`;
  }
  return error.message;
}

/** Milliseconds until the next attempt; `null` = do not retry. */
function waitBefore(
  answer: Answer,
  retryAfter: string | null,
  attempt: number,
  { random, repeats_lost }: TransportOptions,
): number | null {
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS) * (0.5 + random() / 2);
  if (answer.kind === 'unreachable') return repeats_lost ? backoff : null;
  if (answer.status !== 503 && answer.status !== 429) return null;
  const { body } = answer;
  const isFinal = typeof body === 'object' && body !== null && 'retryable' in body && body.retryable === false;
  if (isFinal) return null;
  const asked = retryAfterMs(retryAfter);
  if (asked === null) return backoff;
  // Adds jitter on top of `Retry-After`, so that callers do not all return at once.
  return asked > LONGEST_RETRY_AFTER_MS ? null : asked + random() * FIRST_WAIT_MS;
}

/** Parses `Retry-After`, which is a number of seconds or a date. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

function describe(answer: Answer): string {
  if (answer.kind === 'unreachable') return answer.why;
  const reason = reasonIn(answer);
  return reason === null ? `${answer.status}` : `${answer.status} ${reason}`;
}

/** The reason of a problem; `null` if the answer is none. */
function reasonIn(answer: Answer): string | null {
  if (answer.kind === 'unreachable') return null;
  const { body } = answer;
  const reason = typeof body === 'object' && body !== null && 'reason' in body ? body.reason : null;
  return typeof reason === 'string' ? reason : null;
}
