/**
 * A clock that jumps from event to event, so that minutes of a loaded deployment take seconds. Code that awaits runs as
 * it is: before time moves on, everything that can run without time has run.
 */
import { setImmediate as settled } from 'node:timers/promises';

export class VirtualClock {
  #now_ms = 0;
  /** The events by whole millisecond. Events of one millisecond happen in the order in which they were added. */
  readonly #events = new Map<number, (() => void)[]>();

  /** Milliseconds since the clock began. */
  get now_ms(): number {
    return this.#now_ms;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#add(ms, wake));
  }

  /** Resolves with `late` if the work has not ended after `ms`. */
  within<T>(work: Promise<T>, ms: number): Promise<T | 'late'> {
    return new Promise((resolve, reject) => {
      this.#add(ms, () => resolve('late'));
      work.then(resolve, reject);
    });
  }

  #add(ms: number, event: () => void): void {
    const time = this.#now_ms + Math.max(0, Math.round(ms));
    const others = this.#events.get(time);
    if (others === undefined) this.#events.set(time, [event]);
    else others.push(event);
  }

  /** Runs all events before `end_ms`. */
  async runUntil(end_ms: number): Promise<void> {
    for (; this.#now_ms < end_ms; this.#now_ms++) {
      for (let due = this.#take(); due !== undefined; due = this.#take()) {
        for (const event of due) event();
        await settled();
      }
    }
  }

  #take(): (() => void)[] | undefined {
    const due = this.#events.get(this.#now_ms);
    this.#events.delete(this.#now_ms);
    return due;
  }
}
