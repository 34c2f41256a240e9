/**
 * Leases on what one isolate holds at the same time: bytes of bodies, claims of answers. Without a limit, parallel large
 * requests fill the heap, and the isolate dies with everyone's requests. A lease ends with its request. If the connection
 * breaks, the platform drops the request and what it holds, without its `finally`: then the signal of the request ends the
 * lease. A deadline ends what neither does.
 */

export type Lease = {
  /**
   * Reserves more and renews the deadline. Returns false, and reserves nothing, if the isolate holds too many. The lease
   * that has held something for the longest time may exceed the limit, so that leases which wait for more never all wait
   * for one another, and one request alone is admitted whatever it needs: its own limits hold.
   */
  readonly grow: (amount: number) => boolean;
  /** Frees a part of it, and renews the deadline. */
  readonly shrink: (amount: number) => void;
  /** Whether it could grow by that much now. */
  readonly fits: (amount: number) => boolean;
  /**
   * Keeps the lease beyond the end of its handler and of its connection, for a reply that is streamed and for work that
   * outlives its caller. Returns the function that ends it.
   */
  readonly hold: () => () => void;
  /** Frees all of it, unless something holds it. Idempotent. */
  readonly end: () => void;
};

type LeaseOptions = {
  readonly limit: number;
  /** When a lease ends at the latest, after its begin. */
  readonly leaseMs: number;
};

type Held = { amount: number; until: number; holds: number };

export class Leases {
  readonly #options: LeaseOptions;
  readonly #now: () => number;
  /** In order of their deadlines, because all leases live equally long and renewed ones move to the end. */
  readonly #held = new Set<Held>();
  /** Those with an amount, in the order in which they first got one. */
  readonly #growing = new Set<Held>();
  #amount = 0;

  /** @param now a clock in milliseconds. */
  constructor(options: LeaseOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  /** @param caller aborts when the connection of the request breaks. Absent: what is held belongs to no request. */
  begin(caller?: AbortSignal): Lease {
    const held: Held = { amount: 0, until: this.#now() + this.#options.leaseMs, holds: 0 };
    this.#held.add(held);
    let handled = false;
    const settle = (): void => {
      if (handled && held.holds === 0) this.#end(held);
    };
    const end = (): void => {
      handled = true;
      settle();
    };
    caller?.addEventListener('abort', end, { once: true });
    return {
      grow: (amount) => this.#grow(held, amount),
      shrink: (amount) => {
        this.#grow(held, -amount);
      },
      fits: (amount) => this.#fits(held, amount),
      hold: () => {
        held.holds++;
        let holds = true;
        return () => {
          if (holds) held.holds--;
          holds = false;
          settle();
        };
      },
      end,
    };
  }

  #fits(held: Held, amount: number): boolean {
    this.#expire();
    const [oldest = held] = this.#growing;
    return amount <= 0 || oldest === held || this.#amount + amount <= this.#options.limit;
  }

  #grow(held: Held, amount: number): boolean {
    if (!this.#fits(held, amount)) return false;
    // Past its deadline a lease counts no more: it could not be freed twice.
    if (!this.#held.delete(held)) return true;
    held.until = this.#now() + this.#options.leaseMs;
    this.#held.add(held);
    held.amount += amount;
    this.#amount += amount;
    if (held.amount > 0) this.#growing.add(held);
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
    if (this.#held.delete(held)) this.#amount -= held.amount;
    this.#growing.delete(held);
  }
}
