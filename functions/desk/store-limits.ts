/** How the judgments of a desk go to KV, and how far they may lag behind. */
import { MAX_TIMEOUT_S } from '../../service/desk/call-limits.ts';

/**
 * Judgments that wait for KV before a desk refuses new work. A desk finishes about 135 judgments/s, so it works through
 * six minutes of an outage of KV; their keys take 10 MB of memory, the records 100 MB of SQLite.
 */
export const MAX_BACKLOG = 50_000;
/** How long a judgment waits for others that a desk stores in the same transaction. */
export const STORE_TOGETHER_MS = 4;
/** How long a judgment waits for others that go to KV in the same turn of the alarm. Each turn writes four rows. */
export const GATHER_MS = 2_000;
/**
 * How long a judgment waits for running calls of its partition, so that one write takes both: as long as a judge may
 * take.
 */
export const WAIT_FOR_OTHERS_MS = MAX_TIMEOUT_S * 1000;
/** Writes to KV at the same time. They enter the gate ahead of calls and leave it two connections. */
export const KV_PUTS_AT_ONCE = 3;
