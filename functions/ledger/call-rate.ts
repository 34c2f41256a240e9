/** Counts the calls of one object, to compare them with what the platform lets an object take. */

/** Calls per second that one Durable Object takes, by the platform's own rule. */
export const MAX_OBJECT_CALLS_PER_S = 1_000;

const WINDOW_S = 10;

/** The rate of calls in windows of 10 seconds. */
export class CallRate {
  /** Number of the window, counted from 1970. */
  #window = 0;
  #calls = 0;
  #before = 0;

  /** @param now in milliseconds since 1970. */
  count(now: number): void {
    this.#move(now);
    this.#calls++;
  }

  /** Calls per second, over the last full window or the one that runs, whichever has more. */
  perSecond(now: number): number {
    this.#move(now);
    return Math.max(this.#before, this.#calls) / WINDOW_S;
  }

  #move(now: number): void {
    const window = Math.floor(now / (1000 * WINDOW_S));
    if (window === this.#window) return;
    this.#before = window === this.#window + 1 ? this.#calls : 0;
    this.#window = window;
    this.#calls = 0;
  }
}
