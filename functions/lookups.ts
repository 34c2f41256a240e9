/**
 * Bounds the database reads that callers cause before they are known: lookups of API keys and of webhook endpoints.
 * Wrong guesses count by address, and nobody's guesses keep a right key out: an address with many wrong ones waits for
 * a turn of its own, behind nobody else.
 */
import { createRecentlyUsed, type RecentlyUsed } from '../src/recently-used.ts';
import { Leases } from './leases.ts';

export type Lookup<T> =
  | { readonly status: 'found'; readonly value: T }
  | { readonly status: 'missing' }
  /** The address has guessed wrong too often, or too many requests wait for a lookup. */
  | { readonly status: 'refused'; readonly retry_after_s: number };

/** The connection of a caller who is not known yet. */
export type CallerConnection = {
  readonly address: string;
  /** Aborts when its connection breaks. */
  readonly signal: AbortSignal;
};

const WINDOW_MS = 60_000;
/** Wrong guesses of one address in a minute that are answered as such. */
const MAX_WRONG_OF_ADDRESS = 10;
/** Addresses whose wrong guesses are remembered. */
const MAX_ADDRESSES = 4_096;
/** Lookups at a time: for addresses in general, and for all that have guessed wrong too often. */
const LOOKUPS = 8;
const SUSPECT_LOOKUPS = 1;
/** Requests that wait for a lookup, in each of the two lanes, for how long, and how often they ask. */
const MAX_WAITING = 128;
const WAIT_MS = 5_000;
const POLL_MS = 50;
/** When a lookup whose request was torn down counts as ended. */
const LOOKUP_MS = 10_000;

export class Lookups {
  readonly #now: () => number;
  /** By address, with the number of the minute in front. */
  readonly #wrong: RecentlyUsed<number> = createRecentlyUsed({ entries: MAX_ADDRESSES, size: MAX_ADDRESSES });
  readonly #lane: Lane;
  readonly #suspects: Lane;

  /** @param now a clock in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
    this.#lane = new Lane(LOOKUPS, now);
    this.#suspects = new Lane(SUSPECT_LOOKUPS, now);
  }

  /**
   * Looks something up when the turn of its address has come. A caller whose connection breaks before its reply has
   * guessed wrong: nobody saves tries by leaving.
   * @param look returns null if what the caller names does not exist.
   * @throws what `look` throws.
   */
  async find<T>({ address, signal }: CallerConnection, look: () => Promise<T | null>): Promise<Lookup<T>> {
    const isSuspect = this.#wrongOf(address) >= MAX_WRONG_OF_ADDRESS;
    const onLeft = (): number => this.#countWrong(address);
    signal.addEventListener('abort', onLeft, { once: true });
    let value: T | null;
    try {
      const end = await (isSuspect ? this.#suspects : this.#lane).turn(signal);
      if (end === null) return { status: 'refused', retry_after_s: 1 };
      try {
        value = await look();
      } finally {
        end();
      }
    } finally {
      signal.removeEventListener('abort', onLeft);
    }
    if (value !== null) return { status: 'found', value };
    const wrong = this.#countWrong(address);
    if (wrong <= MAX_WRONG_OF_ADDRESS) return { status: 'missing' };
    return { status: 'refused', retry_after_s: Math.max(1, Math.ceil((WINDOW_MS - (this.#now() % WINDOW_MS)) / 1000)) };
  }

  /** Returns the wrong guesses of the address with this one. */
  #countWrong(address: string): number {
    const wrong = this.#wrongOf(address) + 1;
    this.#wrong.add(this.#keyOf(address), wrong, 1);
    return wrong;
  }

  #wrongOf(address: string): number {
    return this.#wrong.get(this.#keyOf(address)) ?? 0;
  }

  #keyOf(address: string): string {
    return `${Math.floor(this.#now() / WINDOW_MS)} ${address}`;
  }
}

/** A number of turns at a time, and a bounded number of requests that wait for one. */
class Lane {
  readonly #turns: Leases;
  readonly #waiting: Leases;

  constructor(turns: number, now: () => number) {
    this.#turns = new Leases({ limit: turns, leaseMs: LOOKUP_MS }, now);
    this.#waiting = new Leases({ limit: MAX_WAITING, leaseMs: LOOKUP_MS }, now);
  }

  /** Waits for a turn. Returns the function that ends it, or null if there is none. */
  async turn(caller: AbortSignal): Promise<(() => void) | null> {
    const turn = this.#turns.begin(caller);
    if (turn.grow(1)) return turn.end;
    const waiting = this.#waiting.begin(caller);
    try {
      if (!waiting.grow(1)) return null;
      // Polls, because requests cannot wake one another: each has its own I/O context.
      for (let waited = 0; waited < WAIT_MS; waited += POLL_MS) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        if (turn.grow(1)) return turn.end;
      }
      return null;
    } finally {
      waiting.end();
    }
  }
}
