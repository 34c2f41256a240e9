/**
 * How long a judge call may take at a desk. The call outlives its callers: a caller that has waited for its own deadline
 * gets `judge_running`, and a retry joins the call.
 */

/** Seconds that a judge call may take once it has its slot, where its backend sets no `timeout_s`. */
export const DEFAULT_TIMEOUT_S = 300;
/** The largest `timeout_s`: with it a call still ends within a deployment's `max_delay` of 900 s (wrangler.toml). */
export const MAX_TIMEOUT_S = 840;
/** How much longer than its deadline a call may take, and a caller waits for a desk. */
export const CALL_GRACE_MS = 5_000;
/** The longest time that a call waits for a slot; calls of queued batches may wait this long. */
export const MAX_SLOT_WAIT_MS = 15 * 60 * 1000;
/** The longest time from asking for a slot to the end of the call, waits for connections not counted. */
export const LONGEST_CALL_MS = MAX_SLOT_WAIT_MS + MAX_TIMEOUT_S * 1000 + CALL_GRACE_MS;
