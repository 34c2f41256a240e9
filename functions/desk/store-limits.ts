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
/**
 * The most writes to KV at the same time. They enter the gate ahead of calls; with all of them one connection is left,
 * so a desk whose KV is slow makes judgments as fast as it can store them.
 */
export const MAX_KV_PUTS_AT_ONCE = 4;
/** What a write to KV takes until one has been measured, in milliseconds. */
const ASSUMED_KV_PUT_MS = 50;
/** The share of the last write in the measured time of a write. */
const LAST_PUT_SHARE = 0.25;
/** The longest turn of the alarm, in milliseconds; its progress is then saved, and the next turn follows. */
export const TURN_MS = 20_000;
/** Writes to KV in one turn of the alarm, below the operations that an invocation may make. The next turn follows. */
export const MAX_KV_PUTS_OF_A_TURN = 900;

/** Decides how many writes to KV a desk makes at the same time: as many as put its backlog within GATHER_MS. */
export class KvPace {
  #put_ms = ASSUMED_KV_PUT_MS;

  /** Notes how long a write took, in milliseconds. */
  measured(ms: number): void {
    this.#put_ms += LAST_PUT_SHARE * (ms - this.#put_ms);
  }

  /** @param backlog judgments that wait, each of which may take a write. */
  putsAtOnce(backlog: number): number {
    return Math.max(1, Math.min(MAX_KV_PUTS_AT_ONCE, Math.ceil((backlog * this.#put_ms) / GATHER_MS)));
  }
}
