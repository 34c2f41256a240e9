/**
 * What limits the calls of a desk: its share of each backend's slots, and the prompt text that its isolate holds.
 *
 * Slots are granted in two classes, first come first served within a class. Live calls go first; batch calls leave a
 * quarter of the slots free. After sixteen live calls in a row one waiting batch call is granted, as long as the
 * quarter stays free, so a batch is never starved. A share of one slot cannot be divided: a batch call gets it when no
 * live call waits.
 */
import type { CallClass } from '../../src/judgments/desk.ts';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { LONGEST_CALL_MS } from './call-limits.ts';

/**
 * Maximum size of all requests that wait or run in the desks of one isolate, in bytes of UTF-8. Desks may share an
 * isolate, and locally one isolate also holds the bodies (MAX_BODY_BYTES_IN_FLIGHT), each of which makes two prompts.
 */
export const MAX_PROMPT_BYTES_IN_FLIGHT = 24 * 1024 * 1024;
/** The share of a judge's slots that a plan keeps busy on average: bursts of groups need the rest. */
export const BUSY_SLOTS = 0.8;

/** The share of slots and prompt memory that batches leave to live calls. */
export const LIVE_RESERVE_SHARE = 1 / 4;
/** Longer than any call, with its questions to earlier owners. A reset object frees nothing. */
export const PROMPT_LEASE_MS = 2 * LONGEST_CALL_MS;

type PromptMemoryOptions = {
  readonly bytes: number;
  readonly liveReserve: number;
  /** When a prompt counts no more at the latest, after it was taken. */
  readonly leaseMs: number;
};

type HeldPrompt = { readonly bytes: number; readonly until: number };

/** Bounds the prompts that the desks of one isolate hold. */
export class PromptMemory {
  readonly #options: PromptMemoryOptions;
  readonly #now: () => number;
  /** In order of their deadlines, because all live equally long. */
  readonly #held = new Set<HeldPrompt>();
  #bytes = 0;

  /** @param now a clock in milliseconds. */
  constructor(options: PromptMemoryOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  /** Reserves memory for a prompt; returns the function that frees it, or `null` if there is not enough. */
  take(bytes: number, callClass: CallClass): (() => void) | null {
    this.#expire();
    const { bytes: all, liveReserve, leaseMs } = this.#options;
    const limit = callClass === 'batch' ? all * (1 - liveReserve) : all;
    if (this.#bytes + bytes > limit) return null;
    const held = { bytes, until: this.#now() + leaseMs };
    this.#held.add(held);
    this.#bytes += bytes;
    return () => this.#release(held);
  }

  #expire(): void {
    const now = this.#now();
    for (const held of this.#held) {
      if (held.until > now) return;
      this.#release(held);
    }
  }

  #release(held: HeldPrompt): void {
    if (this.#held.delete(held)) this.#bytes -= held.bytes;
  }

  /** Bytes that are reserved now. */
  get held(): number {
    return this.#bytes;
  }
}

/** The size of a request's texts in bytes of UTF-8; half a surrogate pair counts as three. */
export function promptBytes(request: JudgmentRequest): number {
  return bytesOf(request);
}

/** The sizes of lists, because the requests of a message share their sources. */
const listBytes = new WeakMap<readonly unknown[], number>();

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return 0;
  const known = Array.isArray(value) ? listBytes.get(value) : undefined;
  if (known !== undefined) return known;
  let bytes = 0;
  for (const member of Object.values(value)) bytes += bytesOf(member);
  if (Array.isArray(value)) listBytes.set(value, bytes);
  return bytes;
}

function textBytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) bytes += unit > 0x7ff ? 2 : 1;
  }
  return bytes;
}

/** After this many live calls in a row, one waiting batch call is granted. */
export const LIVE_CALLS_PER_BATCH_TURN = 16;

/** A waiting or running call. `grant` is called once, when the call may start. */
export type SlotTicket = { class: CallClass; readonly grant: () => void };

type SlotOptions = {
  readonly slots: number;
  /** The share of slots that batches leave free. */
  readonly liveReserve: number;
  readonly liveCallsPerBatchTurn: number;
};

export class CallSlots {
  readonly #slots: number;
  readonly #batchSlots: number;
  readonly #liveCallsPerBatchTurn: number;
  readonly #waiting: Readonly<Record<CallClass, Set<SlotTicket>>> = { live: new Set(), batch: new Set() };
  readonly #running = new Set<SlotTicket>();
  /** How many of those that run are batch calls. */
  #runningBatches = 0;
  #liveInARow = 0;

  constructor({ slots, liveReserve, liveCallsPerBatchTurn }: SlotOptions) {
    this.#slots = slots;
    this.#batchSlots = Math.max(1, Math.floor(slots * (1 - liveReserve)));
    this.#liveCallsPerBatchTurn = liveCallsPerBatchTurn;
  }

  /** Queues a call; it may be granted before this method returns. */
  enter(ticket: SlotTicket): void {
    this.#waiting[ticket.class].add(ticket);
    this.#grant();
  }

  /** Removes a call, waiting or running. */
  leave(ticket: SlotTicket): void {
    this.#waiting[ticket.class].delete(ticket);
    if (this.#running.delete(ticket) && ticket.class === 'batch') this.#runningBatches--;
    this.#grant();
  }

  /** Turns a batch call that a live caller has joined into a live call. */
  raise(ticket: SlotTicket): void {
    if (ticket.class === 'live') return;
    const waited = this.#waiting.batch.delete(ticket);
    ticket.class = 'live';
    if (waited) this.enter(ticket);
    else if (this.#running.has(ticket)) {
      this.#runningBatches--;
      this.#grant();
    }
  }

  get waiting(): number {
    return this.#waiting.live.size + this.#waiting.batch.size;
  }

  /** The slots, how many are taken, and the calls that wait by class. */
  get figures(): { readonly slots: number; readonly running: number; readonly waiting: Record<CallClass, number> } {
    const { live, batch } = this.#waiting;
    return { slots: this.#slots, running: this.#running.size, waiting: { live: live.size, batch: batch.size } };
  }

  #grant(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting[next.class].delete(next);
      this.#running.add(next);
      if (next.class === 'batch') this.#runningBatches++;
      this.#liveInARow = next.class === 'live' ? this.#liveInARow + 1 : 0;
      next.grant();
    }
  }

  #next(): SlotTicket | undefined {
    if (this.#running.size >= this.#slots) return undefined;
    const [live] = this.#waiting.live;
    const [batch] = this.#waiting.batch;
    const batchMayRun = batch !== undefined && this.#runningBatches < this.#batchSlots;
    if (batchMayRun && (live === undefined || this.#liveInARow >= this.#liveCallsPerBatchTurn)) return batch;
    return live;
  }
}

/**
 * A desk's share of a judge's slots. The shares of the owners add up to the slots. A desk that owns none of the judge's
 * judgments has no share.
 * @param owners the number of desks that own judgments of the judge, at most as many as it has slots.
 */
export function shareOfSlots(slots: number, desk: number, owners: number): number {
  if (desk >= owners) return 0;
  const extra = desk < slots % owners ? 1 : 0;
  return Math.floor(slots / owners) + extra;
}
