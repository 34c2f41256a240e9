/**
 * Routes a judge's completions over its backends and retries them; nothing else retries model calls. It tries the
 * routes in order, waits with full jitter and at least as long as `Retry-After` says, and ends with a completion or a
 * typed failure before the caller's deadline. All routes have the same judge identity, so a reward never changes its
 * judge silently. The JudgeDesk limits concurrency and has the circuit breaker.
 */

import type { ChatBackend, CompletionOutcome, CompletionRequest } from '../../../src/judgments/chat-backend.ts';
import type { CallOptions } from '../../../src/judgments/connections.ts';
import type { ThinkingMode } from '../../../src/judgments/protocol/asking.ts';
import { type JudgeFailure, judgeReason } from '../../../src/judgments/protocol/failure.ts';
import { backendFailure, failed } from './failures.ts';

/** Calls per completion, over all routes. */
export const MAX_ATTEMPTS = 4;
/** The wait before the n-th retry of a route is random between 0 and this value, doubled each time up to the cap. */
const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 8_000;
/**
 * Retries start within this time. A longer `Retry-After` is for the callers: a call that waited for it would hold a slot
 * for nothing.
 */
const RETRY_WINDOW_MS = 60_000;
/** No call starts if less than this much time is left before the deadline. */
const MIN_ATTEMPT_MS = 500;
/** A route that has failed is tried after the others for this long. */
const DEMOTION_MS = 10_000;

export type RouterClock = {
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
};

type RouterOptions = {
  /** The judge's name. */
  readonly name: string;
  /**
   * The backends to try, in order of preference: at least one, all with the same `model`, which is part of the identity
   * of their judgments.
   */
  readonly routes: readonly ChatBackend[];
  readonly clock: RouterClock;
};

type RouteState = {
  readonly chat: ChatBackend;
  failures: number;
  /** The time of `RouterClock.now` from which the route may be called again. */
  readyAt: number;
  /** The route is not tried again for this request. */
  dropped: boolean;
};

/** What the routes of a judge have in common. */
function identityOf({ model, dialect = 'vllm', refuses = [] }: ChatBackend): string {
  return JSON.stringify([model, dialect, [...refuses].sort()]);
}

/** Creates a chat backend in front of all routes. It remembers which of them failed recently. */
export function createRouter({ name, routes, clock }: RouterOptions): ChatBackend {
  const [first] = routes;
  if (first === undefined || routes.some((route) => identityOf(route) !== identityOf(first))) {
    throw new Error('createRouter: a judge needs at least one route, and all routes the same identity');
  }
  const failedAt = new Map<ChatBackend, number>();
  const isDemoted = (chat: ChatBackend): boolean =>
    clock.now() - (failedAt.get(chat) ?? Number.NEGATIVE_INFINITY) < DEMOTION_MS;
  return {
    name,
    model: first.model,
    context_tokens: smallestContext(routes),
    ...(first.dialect === undefined ? {} : { dialect: first.dialect }),
    ...(first.refuses === undefined ? {} : { refuses: first.refuses }),
    thinking: thinkingOf(first).filter((mode) => routes.every((route) => thinkingOf(route).includes(mode))),
    async complete(request, options) {
      const order = [...routes.filter((chat) => !isDemoted(chat)), ...routes.filter(isDemoted)];
      const states = order.map((chat): RouteState => ({ chat, failures: 0, readyAt: 0, dropped: false }));
      return runRoutes(states, request, options, clock, (chat, ok) => {
        if (ok) failedAt.delete(chat);
        else failedAt.set(chat, clock.now());
      });
    },
  };
}

const thinkingOf = ({ thinking = ['off'] }: ChatBackend): readonly ThinkingMode[] => thinking;

async function runRoutes(
  states: readonly RouteState[],
  request: CompletionRequest,
  options: CallOptions,
  clock: RouterClock,
  onOutcome: (chat: ChatBackend, ok: boolean) => void,
): Promise<CompletionOutcome> {
  const end = clock.now() + options.deadline_ms;
  const lastRetry = Math.min(end - MIN_ATTEMPT_MS, clock.now() + RETRY_WINDOW_MS);
  let reported: JudgeFailure | null = null;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const route = nextRoute(states, clock.now());
    if (route === null) break;
    const wait = Math.max(0, route.readyAt - clock.now());
    if (clock.now() + wait > (attempt === 0 ? end - MIN_ATTEMPT_MS : lastRetry)) break;
    if (wait > 0) await clock.sleep(wait);

    const others = states.some((state) => state !== route && !state.dropped);
    const outcome = await route.chat.complete(request, { ...options, deadline_ms: shareOf(end - clock.now(), others) });
    onOutcome(route.chat, outcome.ok);
    if (outcome.ok) return outcome;
    reported = preferredFailure(reported, outcome.failure);
    if (judgeReason(outcome.failure.reason).elsewhere !== true) return outcome;
    noteFailure(route, outcome.failure, clock);
  }
  return failed(reported ?? backendFailure('judge_timeout', 'there was no time left for a call'));
}

/** The smallest context of the routes that have a limit; `null` = none has. */
function smallestContext(routes: readonly ChatBackend[]): number | null {
  const limits = routes.flatMap(({ context_tokens }) => context_tokens ?? []);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Returns the first route that is ready, or else the one that is ready soonest; `null` if all are dropped. */
function nextRoute(states: readonly RouteState[], now: number): RouteState | null {
  let soonest: RouteState | null = null;
  for (const state of states) {
    if (state.dropped) continue;
    if (state.readyAt <= now) return state;
    if (soonest === null || state.readyAt < soonest.readyAt) soonest = state;
  }
  return soonest;
}

/**
 * Returns the time limit of one call: half of the remaining time if another route could be tried, so that a hanging
 * call leaves time for that route.
 */
function shareOf(left: number, others: boolean): number {
  return others ? Math.max(MIN_ATTEMPT_MS, left / 2) : left;
}

function noteFailure(route: RouteState, failure: JudgeFailure, clock: RouterClock): void {
  // A server that has let one call time out would hold the slot for another.
  if (!failure.retryable || failure.reason === 'judge_timeout') {
    route.dropped = true;
    return;
  }
  const ceiling = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** route.failures);
  const jitter = clock.random() * ceiling;
  route.failures++;
  // Jitter is added to `Retry-After`, because many callers get the same value.
  route.readyAt = clock.now() + (failure.retry_after_s ?? 0) * 1000 + jitter;
}

/** Prefers a retryable failure; of two equal ones the later. */
function preferredFailure(known: JudgeFailure | null, next: JudgeFailure): JudgeFailure {
  return known?.retryable === true && !next.retryable ? known : next;
}
