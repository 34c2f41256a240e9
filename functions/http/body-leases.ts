/**
 * Leases on the request bodies that one isolate holds at the same time. Without a limit, parallel large bodies fill the
 * heap, and the isolate dies with everyone's requests. A lease ends with its request; a request that is torn down runs
 * no `finally`, so its lease ends at a deadline.
 */

export type BodyLease = {
  /**
   * Reserves more bytes and renews the deadline. Returns false, and reserves nothing, if the isolate holds too many.
   */
  readonly grow: (bytes: number) => boolean;
  /** Keeps the lease beyond the end of its handler, for a reply that is streamed. Returns the function that ends it. */
  readonly hold: () => () => void;
  /** Frees the bytes, unless a stream holds them. Idempotent. */
  readonly end: () => void;
};

type LeaseOptions = {
  readonly bytes: number;
  /** When a lease ends at the latest, after its begin. */
  readonly leaseMs: number;
};

type Held = { bytes: number; until: number; streams: number };

export class BodyLeases {
  readonly #options: LeaseOptions;
  readonly #now: () => number;
  /** In order of their deadlines, because all leases live equally long and renewed ones move to the end. */
  readonly #held = new Set<Held>();
  #bytes = 0;

  /** @param now a clock in milliseconds. */
  constructor(options: LeaseOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  begin(): BodyLease {
    const held: Held = { bytes: 0, until: this.#now() + this.#options.leaseMs, streams: 0 };
    this.#held.add(held);
    let handled = false;
    const settle = (): void => {
      if (handled && held.streams === 0) this.#end(held);
    };
    return {
      grow: (bytes) => this.#grow(held, bytes),
      hold: () => {
        held.streams++;
        let holds = true;
        return () => {
          if (holds) held.streams--;
          holds = false;
          settle();
        };
      },
      end: () => {
        handled = true;
        settle();
      },
    };
  }

  #grow(held: Held, bytes: number): boolean {
    this.#expire();
    // One body alone is admitted whatever its size: its own limit holds.
    const isAlone = this.#bytes === held.bytes;
    if (bytes > 0 && !isAlone && this.#bytes + bytes > this.#options.bytes) return false;
    // Past its deadline a lease counts no more: its bytes could not be freed twice.
    if (!this.#held.delete(held)) return true;
    held.until = this.#now() + this.#options.leaseMs;
    this.#held.add(held);
    held.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  #expire(): void {
    const now = this.#now();
    for (const held of this.#held) {
      if (held.until > now) return;
      this.#end(held);
    }
  }

  #end(held: Held): void {
    if (this.#held.delete(held)) this.#bytes -= held.bytes;
  }
}
