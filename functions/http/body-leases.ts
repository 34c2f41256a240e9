/**
 * Leases on the request bodies that one isolate holds at the same time. Without a limit, parallel large bodies fill the
 * heap, and the isolate dies with everyone's requests. A lease ends with its request; a request that is torn down runs
 * no `finally`, so its lease ends at a deadline.
 */

export type BodyLease = {
  /** Reserves more bytes; returns false, and reserves nothing, if the isolate holds too many. */
  readonly grow: (bytes: number) => boolean;
  /** Frees the bytes. Idempotent. */
  readonly end: () => void;
};

type LeaseOptions = {
  readonly bytes: number;
  /** When a lease ends at the latest, after its begin. */
  readonly leaseMs: number;
};

type Held = { bytes: number; readonly until: number };

export class BodyLeases {
  readonly #options: LeaseOptions;
  readonly #now: () => number;
  /** In order of their deadlines, because all leases live equally long. */
  readonly #held = new Set<Held>();
  #bytes = 0;

  /** @param now a clock in milliseconds. */
  constructor(options: LeaseOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  begin(): BodyLease {
    const held: Held = { bytes: 0, until: this.#now() + this.#options.leaseMs };
    this.#held.add(held);
    return {
      grow: (bytes) => {
        this.#expire();
        // One body alone is admitted whatever its size: its own limit holds.
        if (this.#bytes > held.bytes && this.#bytes + bytes > this.#options.bytes) return false;
        // Past its deadline a lease counts no more: its bytes could not be freed twice.
        if (!this.#held.has(held)) return true;
        held.bytes += bytes;
        this.#bytes += bytes;
        return true;
      },
      end: () => this.#end(held),
    };
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
