/** When what failed is tried again. Pure: the clock and the dice are passed in. */
import {
  BACKOFF_JITTER,
  DELIVERY_BACKOFF_S,
  DELIVERY_WINDOW_MS,
  JOB_BACKOFF_S,
  JOB_WINDOW_MS,
} from '../../src/limits.ts';

export type Backoff = {
  /** Waits after the first, second, … failure, in seconds; the last one repeats. */
  readonly steps_s: readonly [number, ...number[]];
  /** All tries begin within this time of the first. */
  readonly window_ms: number;
};

export const DELIVERY_BACKOFF: Backoff = { steps_s: DELIVERY_BACKOFF_S, window_ms: DELIVERY_WINDOW_MS };
export const JOB_BACKOFF: Backoff = { steps_s: JOB_BACKOFF_S, window_ms: JOB_WINDOW_MS };

export type Failed = {
  /** Failed tries of this window, at least 1. */
  readonly failures: number;
  /** When the window began, and now, in milliseconds since 1970. */
  readonly began_ms: number;
  readonly now_ms: number;
  /** What the other side asked for; `null` = nothing. Waited for, but never beyond the window. */
  readonly retry_after_s: number | null;
  /** In [0, 1). */
  readonly random: number;
};

/** When to try again, in milliseconds since 1970; `null` = not any more, as the window is over. */
export function nextTry({ steps_s, window_ms }: Backoff, failed: Failed): number | null {
  const { failures, began_ms, now_ms, retry_after_s, random } = failed;
  const step_s = steps_s[Math.min(failures, steps_s.length) - 1] ?? steps_s[0];
  const wait_s = Math.max(step_s * (1 + BACKOFF_JITTER * random), retry_after_s ?? 0);
  const at = Math.ceil(now_ms + wait_s * 1000);
  return at > began_ms + window_ms ? null : at;
}
