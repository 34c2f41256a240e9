/**
 * Who may call a backend now. A desk has its share of the backend's slots and gives them out in two classes: live calls
 * first, batch calls never into the last quarter, first come first served within a class. A batch call has its turn at
 * least after every sixteenth live one, as long as the quarter stays free, so that a batch is slow but never stands still.
 *
 * A share of one slot cannot be divided: a batch call then takes it when no live call waits.
 */
import type { CallClass } from '../../src/judgments/desk.ts';

/** After so many live calls in a row, one waiting batch call gets its turn, so that a batch never stands still. */
export const LIVE_CALLS_PER_BATCH_TURN = 16;

/** A call that waits or runs. `grant` is called once, when it may go. */
export type SlotTicket = { class: CallClass; readonly grant: () => void };

export type SlotOptions = {
  readonly slots: number;
  /** Share that batches leave free. */
  readonly liveReserve: number;
  readonly liveCallsPerBatchTurn: number;
};

export class CallSlots {
  readonly #slots: number;
  readonly #batchSlots: number;
  readonly #liveCallsPerBatchTurn: number;
  readonly #waiting: Readonly<Record<CallClass, Set<SlotTicket>>> = { live: new Set(), batch: new Set() };
  readonly #running = new Set<SlotTicket>();
  #liveInARow = 0;

  constructor({ slots, liveReserve, liveCallsPerBatchTurn }: SlotOptions) {
    this.#slots = slots;
    this.#batchSlots = Math.max(1, Math.floor(slots * (1 - liveReserve)));
    this.#liveCallsPerBatchTurn = liveCallsPerBatchTurn;
  }

  /** Puts a call in its queue; it may be granted before this returns. */
  enter(ticket: SlotTicket): void {
    this.#waiting[ticket.class].add(ticket);
    this.#grant();
  }

  /** Takes a call out, waiting or running. */
  leave(ticket: SlotTicket): void {
    this.#waiting[ticket.class].delete(ticket);
    this.#running.delete(ticket);
    this.#grant();
  }

  /** A live caller joined a waiting batch call: it becomes one. */
  raise(ticket: SlotTicket): void {
    if (ticket.class === 'live') return;
    const waited = this.#waiting.batch.delete(ticket);
    ticket.class = 'live';
    if (waited) this.enter(ticket);
  }

  get waiting(): number {
    return this.#waiting.live.size + this.#waiting.batch.size;
  }

  #grant(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting[next.class].delete(next);
      this.#running.add(next);
      this.#liveInARow = next.class === 'live' ? this.#liveInARow + 1 : 0;
      next.grant();
    }
  }

  #next(): SlotTicket | undefined {
    if (this.#running.size >= this.#slots) return undefined;
    const [live] = this.#waiting.live;
    const [batch] = this.#waiting.batch;
    const batchMayRun = batch !== undefined && this.#runningBatches() < this.#batchSlots;
    if (batchMayRun && (live === undefined || this.#liveInARow >= this.#liveCallsPerBatchTurn)) return batch;
    return live;
  }

  #runningBatches(): number {
    let count = 0;
    for (const { class: callClass } of this.#running) if (callClass === 'batch') count++;
    return count;
  }
}

/** A desk's part of the slots of a backend. Every desk has at least one, so fewer slots than desks are oversubscribed. */
export function shareOfSlots(slots: number, desk: number, desks: number): number {
  const extra = desk < slots % desks ? 1 : 0;
  return Math.max(1, Math.floor(slots / desks) + extra);
}
