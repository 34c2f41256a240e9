/**
 * One request with its retries. Retried are 503, 429 and a connection that fails, unless the reply says that the same
 * request cannot succeed later; `Retry-After` is honoured. Everything else is answered as it comes.
 */

export type TransportOptions = {
  /** Sends one request; global fetch outside of tests. */
  readonly fetch: (url: URL, init: RequestInit) => Promise<Response>;
  readonly sleep: (ms: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly attempts: number;
  /** Time for one attempt, in milliseconds; of a streamed reply, until it begins. */
  readonly timeout_ms: number;
  /** False = a request whose reply was lost is not sent again, as it may have had its effect. */
  readonly repeats_lost: boolean;
  /** Told of every retry before its wait. */
  readonly onRetry: (retry: { readonly why: string; readonly wait_ms: number }) => void;
};

export const DEFAULT_TRANSPORT: TransportOptions = {
  fetch: (url, init) => fetch(url, init),
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  random: Math.random,
  attempts: 6,
  // A judge call may take 60 s (src/limits.ts); a batch of queued ones a little longer.
  timeout_ms: 90_000,
  repeats_lost: true,
  onRetry: () => undefined,
};

export type Answer =
  /** `body` is `undefined` where the reply is not JSON. */
  | { readonly kind: 'reply'; readonly status: number; readonly body: unknown; readonly contentType: string }
  | { readonly kind: 'unreachable'; readonly why: string };

/** A reply of 200 whose content is still to come. */
export type Opened = { readonly kind: 'opened'; readonly content: ReadableStream<Uint8Array> };

const FIRST_WAIT_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
/** A server that asks for more patience than this gets its refusal passed on. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/** Sends a request until it is answered for good. */
export function send(url: URL, init: RequestInit, options: TransportOptions): Promise<Answer> {
  return repeated(async (signal) => readWhole(await respond(url, init, signal, options)), options);
}

/** The same for content that is not to be held in memory. A connection that fails later is the reader's to see. */
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
  for (let attempt = 1; ; attempt++) {
    const tried = await tryOnce(attemptOnce, options.timeout_ms);
    const { answer } = tried;
    if (!isAnswer(answer)) return answer;
    const wait = attempt < options.attempts ? waitBefore(answer, tried.retryAfter, attempt, options) : null;
    if (wait === null) return answer;
    options.onRetry({ why: describe(answer), wait_ms: wait });
    await options.sleep(wait);
  }
}

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
    // fetch rejects only when there is no complete reply: connection, name resolution, time-out.
    return { answer: { kind: 'unreachable', why: reasonOf(error) }, retryAfter: null };
  } finally {
    clearTimeout(timer);
  }
}

/** A redirect would turn the POST into a GET, or carry the key elsewhere. */
function respond(url: URL, init: RequestInit, signal: AbortSignal, options: TransportOptions): Promise<Response> {
  return options.fetch(url, { ...init, redirect: 'manual', signal });
}

async function readWhole(response: Response): Promise<Tried<Answer>> {
  const text = await response.text();
  const contentType = response.headers.get('content-type') ?? '';
  const answer = { kind: 'reply' as const, status: response.status, body: parseJson(text), contentType };
  return { answer, retryAfter: response.headers.get('retry-after') };
}

/** `undefined` where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Why there was no reply, in few words. */
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

/** Milliseconds until the next attempt, or `null` if there should be none. */
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
  // A little later than asked, each caller by another bit, so that they do not all come back at once.
  return asked > LONGEST_RETRY_AFTER_MS ? null : asked + random() * FIRST_WAIT_MS;
}

/** `Retry-After` is a number of seconds or a date. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

function describe(answer: Answer): string {
  if (answer.kind === 'unreachable') return answer.why;
  const { body, status } = answer;
  const named = typeof body === 'object' && body !== null && 'reason' in body && typeof body.reason === 'string';
  return named ? `${status} ${body.reason}` : `${status}`;
}
