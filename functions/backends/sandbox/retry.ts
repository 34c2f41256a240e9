/**
 * Retries of sandbox runs, as the router's are of model calls: the only place for them. A run has no effect but its reply,
 * so it may be repeated. Full jitter, never before the time that the server named, and nothing begins that the deadline
 * leaves no time for. There is one sandbox behind a name, so there is nothing to go to in its place.
 */
import type { JudgeFailure } from '../../../src/judgments/types.ts';
import type { RouterClock } from '../router.ts';

/** Tries of one run. */
export const MAX_ATTEMPTS = 3;
/** The wait before the n-th retry is random between 0 and this, doubled each time. */
const BACKOFF_BASE_MS = 500;
/** Less time than this is not worth a run. */
const MIN_ATTEMPT_MS = 500;

type Tried = { readonly ok: true } | { readonly ok: false; readonly failure: JudgeFailure };

/**
 * The first outcome of `attempt` that is good or cannot be mended, or the last one.
 * @param end_ms on the clock of `clock.now`.
 */
export async function withRetries<T extends Tried>(
  attempt: () => Promise<T>,
  end_ms: number,
  clock: RouterClock,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    const outcome = await attempt();
    if (outcome.ok || !outcome.failure.retryable || retry + 1 >= MAX_ATTEMPTS) return outcome;
    const wait = (outcome.failure.retry_after_s ?? 0) * 1000 + clock.random() * BACKOFF_BASE_MS * 2 ** retry;
    if (clock.now() + wait + MIN_ATTEMPT_MS > end_ms) return outcome;
    await clock.sleep(wait);
  }
}
