/**
 * Runs long passes in time slices, so that the page stays responsive: thousands of rollouts fit into one slice, and a
 * larger run continues in the next frames. A started pass always finishes; then the latest requested pass starts.
 */

export type Pass<T> = {
  /** Processes one part. @returns false when no part is left. */
  step(): boolean;
  readonly figures: T;
};

export type Done<T> = {
  readonly figures: T;
  /** Total time of all slices, without the pauses between them. */
  readonly milliseconds: number;
};

/**
 * Leaves the browser most of a frame of 16.7 ms to lay out and draw, also on a slow machine: a run of 10,000 rollouts
 * takes two slices, and its figures follow the slider by a frame.
 */
const SLICE_MS = 6;

export class Slices<T> {
  readonly #onDone: (done: Done<T>) => void;
  #waiting: (() => Pass<T>) | null = null;
  #isBusy = false;
  #isEnded = false;

  constructor(onDone: (done: Done<T>) => void) {
    this.#onDone = onDone;
  }

  /** Queues a pass and drops the pass still in the queue. An idle queue runs the first slice before this returns. */
  ask(start: () => Pass<T>): void {
    this.#waiting = start;
    if (!this.#isBusy) this.#begin();
  }

  /** Stops: no further slice runs and `onDone` is not called again. */
  end(): void {
    this.#isEnded = true;
    this.#waiting = null;
  }

  #begin(): void {
    const start = this.#waiting;
    if (start === null) return;
    this.#waiting = null;
    this.#isBusy = true;
    const began = performance.now();
    this.#go(start(), began, 0);
  }

  #go(pass: Pass<T>, began: number, before: number): void {
    if (this.#isEnded) return;
    let hasMore = true;
    while (hasMore && performance.now() - began < SLICE_MS) hasMore = pass.step();
    if (hasMore) {
      const sofar = before + performance.now() - began;
      requestAnimationFrame(() => this.#go(pass, performance.now(), sofar));
      return;
    }
    this.#isBusy = false;
    const { figures } = pass;
    this.#onDone({ figures, milliseconds: before + performance.now() - began });
    this.#begin();
  }
}
