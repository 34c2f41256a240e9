/**
 * The only place that retries. Routes are tried in order; a retry waits with full jitter and never before the time that
 * the server named; everything ends, with a completion or a typed failure, before the caller's deadline and within
 * MAX_ROUTING_MS. All routes have the same judge identity (settings.ts): a reward never changes its judge unseen.
 * Capacity and the circuit breaker are the JudgeDesk's.
 */

import type { ChatBackend, CompletionOutcome, CompletionRequest } from '../../../src/judgments/chat-backend.ts';
import type { JudgeFailure, JudgeFailureReason } from '../../../src/judgments/types.ts';
import { backendFailure, failed } from './failures.ts';

/** A judgment is had or not within this, whatever the caller would wait for (proxies give up after 100 s of silence). */
export const MAX_ROUTING_MS = 100_000;
/** Calls for one completion, over all routes. */
export const MAX_ATTEMPTS = 4;
/** The wait before the n-th retry of a route is random between 0 and this, doubled each time. */
const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 8_000;
/** Less time than this is not worth a call. */
const MIN_ATTEMPT_MS = 500;
/** A route that has just failed comes after the others for this long. */
const REST_MS = 10_000;

export type RouterClock = {
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
};

export type RouterOptions = {
  /** The judge's name. */
  readonly name: string;
  /** In the order they are tried: at least one, all with the same `model`, which is what their judgments are pinned to. */
  readonly routes: readonly ChatBackend[];
  readonly clock: RouterClock;
};

type RouteState = {
  readonly chat: ChatBackend;
  failures: number;
  /** When it may be asked again. */
  readyAt: number;
  /** It cannot serve this request, now or later. */
  dropped: boolean;
};

/** A chat backend that stands for all routes. Remembers, for as long as it lives, which of them failed last. */
export function createRouter({ name, routes, clock }: RouterOptions): ChatBackend {
  const [first] = routes;
  if (first === undefined || routes.some(({ model, dialect }) => model !== first.model || dialect !== first.dialect)) {
    throw new Error('createRouter: a judge needs routes, and all with the same identity');
  }
  const failedAt = new Map<ChatBackend, number>();
  const isResting = (chat: ChatBackend): boolean =>
    clock.now() - (failedAt.get(chat) ?? Number.NEGATIVE_INFINITY) < REST_MS;
  return {
    name,
    model: first.model,
    context_tokens: smallestContext(routes),
    ...(first.dialect === undefined ? {} : { dialect: first.dialect }),
    async complete(request, { deadline_ms }) {
      const order = [...routes.filter((chat) => !isResting(chat)), ...routes.filter(isResting)];
      const states = order.map((chat): RouteState => ({ chat, failures: 0, readyAt: 0, dropped: false }));
      return runRoutes(states, request, Math.min(deadline_ms, MAX_ROUTING_MS), clock, (chat, ok) => {
        if (ok) failedAt.delete(chat);
        else failedAt.set(chat, clock.now());
      });
    },
  };
}

async function runRoutes(
  states: readonly RouteState[],
  request: CompletionRequest,
  deadline_ms: number,
  clock: RouterClock,
  onOutcome: (chat: ChatBackend, ok: boolean) => void,
): Promise<CompletionOutcome> {
  const end = clock.now() + deadline_ms;
  let reported: JudgeFailure | null = null;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const route = nextRoute(states, clock.now());
    if (route === null) break;
    const wait = Math.max(0, route.readyAt - clock.now());
    if (clock.now() + wait + MIN_ATTEMPT_MS > end) break;
    if (wait > 0) await clock.sleep(wait);

    const others = states.some((state) => state !== route && !state.dropped);
    const outcome = await route.chat.complete(request, { deadline_ms: shareOf(end - clock.now(), others) });
    onOutcome(route.chat, outcome.ok);
    if (outcome.ok) return outcome;
    reported = moreHopeful(reported, outcome.failure);
    if (endsRouting(outcome.failure.reason)) return outcome;
    noteFailure(route, outcome.failure, clock);
  }
  return failed(reported ?? backendFailure('judge_timeout', 'there was no time left for a call'));
}

/** The smallest context of the routes that have a limit; `null` = none has. */
function smallestContext(routes: readonly ChatBackend[]): number | null {
  const limits = routes.flatMap(({ context_tokens }) => context_tokens ?? []);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** The first route in order that may be asked now, or the one that may be asked soonest; `null` if none is left. */
function nextRoute(states: readonly RouteState[], now: number): RouteState | null {
  let soonest: RouteState | null = null;
  for (const state of states) {
    if (state.dropped) continue;
    if (state.readyAt <= now) return state;
    if (soonest === null || state.readyAt < soonest.readyAt) soonest = state;
  }
  return soonest;
}

/** While there is another route to go to, a call that hangs must leave time for it. */
function shareOf(left: number, others: boolean): number {
  return others ? Math.max(MIN_ATTEMPT_MS, left / 2) : left;
}

function noteFailure(route: RouteState, failure: JudgeFailure, clock: RouterClock): void {
  if (!failure.retryable) {
    route.dropped = true;
    return;
  }
  const ceiling = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** route.failures);
  const jitter = clock.random() * ceiling;
  route.failures++;
  // Jitter on top of the named time, or all who were told the same time would come back together.
  route.readyAt = clock.now() + (failure.retry_after_s ?? 0) * 1000 + jitter;
}

/** Of two failures the one that leaves the caller more hope; of equals the later. */
function moreHopeful(known: JudgeFailure | null, next: JudgeFailure): JudgeFailure {
  return known?.retryable === true && !next.retryable ? known : next;
}

/** Whether a failure lies in the request or the reply, so that another call, here or elsewhere, would only pay again. */
function endsRouting(reason: JudgeFailureReason): boolean {
  switch (reason) {
    case 'judge_timeout':
    case 'judge_unreachable':
    case 'judge_interrupted':
    case 'judge_rate_limited':
    case 'judge_overloaded':
    case 'judge_error':
    // A wrong key, address or model is the route's fault: not asked again, but another route may do.
    case 'judge_unauthorized':
    case 'judge_request_refused':
    case 'judge_not_an_api':
    case 'judge_model_mismatch':
      return false;
    case 'judge_prompt_too_long':
    case 'judge_reply_cut':
    case 'judge_refusal':
    // The model judge asks once more by itself, under another seed.
    case 'judge_reply_invalid':
    // These do not come from a backend.
    case 'judge_unconfigured':
    case 'judge_unknown':
    case 'judge_capacity':
    case 'judge_circuit_open':
    case 'judgment_missing':
    case 'judgment_skipped':
    case 'judgment_store_failed':
    case 'judgment_record_invalid':
    case 'sandbox_unconfigured':
    case 'sandbox_unreachable':
    case 'sandbox_timeout':
    case 'sandbox_overloaded':
    case 'sandbox_unauthorized':
    case 'sandbox_error':
    case 'sandbox_reply_invalid':
    case 'equivalence_undecided':
      return true;
  }
}
