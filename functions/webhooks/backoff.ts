/** Retry schedules of deliveries and scoring jobs. Pure: the caller passes the time and the random number. */

export type Backoff = {
  /** Wait after the first, second, … failure, in seconds, before jitter. The last one repeats. */
  readonly steps_s: readonly [number, ...number[]];
  /** Every try begins within this time of the first one, in milliseconds. */
  readonly window_ms: number;
};

const DAY_MS = 24 * 60 * 60 * 1000;
/** A failed delivery is retried for 24 hours. */
export const DELIVERY_BACKOFF: Backoff = { steps_s: [5, 30, 120, 600, 3_600, 14_400, 28_800], window_ms: DAY_MS };
/** A job whose judge is down is retried for 24 hours. */
export const JOB_BACKOFF: Backoff = { steps_s: [5, 15, 60, 300, 900, 1_800, 3_600], window_ms: DAY_MS };
/** Jitter lengthens a wait by up to this share, so that simultaneous failures do not retry at the same moment. */
const BACKOFF_JITTER = 0.2;

type FailedTry = {
  /** Number of failed tries since the window began, at least 1. */
  readonly failures: number;
  /** When the window began, and the time now, in milliseconds since 1970. */
  readonly began_ms: number;
  readonly now_ms: number;
  /**
   * `Retry-After` of the failed call, in seconds; `null` = none. It lengthens the wait, but never beyond the window.
   */
  readonly retry_after_s: number | null;
  /** A random number in [0, 1), for jitter. */
  readonly random: number;
};

/** Returns the time of the next try in milliseconds since 1970, or `null` once the window is over. */
export function nextTry({ steps_s, window_ms }: Backoff, failed: FailedTry): number | null {
  const { failures, began_ms, now_ms, retry_after_s, random } = failed;
  const step_s = steps_s[Math.min(failures, steps_s.length) - 1] ?? steps_s[0];
  const wait_s = Math.max(step_s * (1 + BACKOFF_JITTER * random), retry_after_s ?? 0);
  const at = Math.ceil(now_ms + wait_s * 1000);
  return at > began_ms + window_ms ? null : at;
}
