/** The times of a batch and its numbers of tries: how long the object waits, and when it gives up. */

/**
 * Chunks of one batch that are in the queue or with a consumer at the same time, so that no message waits there long.
 */
export const MAX_CHUNKS_IN_FLIGHT = 32;
/** A claim gives a task to a consumer for this long. The consumer extends its lease with a heartbeat. */
export const TASK_LEASE_MS = 20_000;
export const TASK_HEARTBEAT_MS = 6_000;
/** A message that no consumer claims within this time counts as lost and is sent again. */
export const MESSAGE_TRUST_MS = 120_000;
/** The alarm of a running batch goes off this often. */
export const BATCH_WATCH_MS = 5_000;

/** A consumer takes no further line of a chunk after this time, and hands the rest on: the platform ends it at 15 minutes. */
export const CHUNK_WORK_MS = 12 * 60 * 1000;
/** While a chunk is scored, its results are stored this often. */
export const CHUNK_STORE_MS = 30_000;

/** A chunk whose judge is down waits this long, doubled each round up to the maximum. */
export const CHUNK_BACKOFF_MS = 5_000;
export const CHUNK_MAX_BACKOFF_MS = 10 * 60 * 1000;
/** If a wait would pass the end of the window, the last round starts this long before the end. */
export const LAST_ROUND_MS = 2 * 60 * 1000;
/**
 * Maximum tries of a line whose judge answers, but without a usable judgment. While the judge is down, only the batch's
 * completion window limits the tries.
 */
export const MAX_LINE_TRIES = 5;
/** A chunk becomes a dead letter after this many failures that its lines did not cause (storage). */
export const MAX_CHUNK_FAILURES = 8;
/**
 * A chunk becomes a dead letter after it has lost this many consumers without a report (crashes, memory). The number is
 * high, because restarts of machines count too.
 */
export const MAX_CHUNK_LOSSES = 20;
/** Results of chunks are deleted this long after the end. A finaliser that still reads them has at most 15 minutes. */
export const CHUNK_RESULTS_KEPT_MS = 60 * 60 * 1000;
