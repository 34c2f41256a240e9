/**
 * Long passes in slices, so that the page stays alive: a run of thousands of rollouts is done within one, a larger one
 * goes on in the next frames. A pass that was begun is finished, also while the slider goes on; then the latest is done.
 */

export type Pass<T> = {
  /** Does a part. @returns false when there is none left. */
  step(): boolean;
  readonly figures: T;
};

export type Done<T> = {
  readonly figures: T;
  /** Of all slices together, without the pauses between them. */
  readonly milliseconds: number;
};

/** Leaves the browser time to draw within a frame of 16.7 ms. */
const SLICE_MS = 12;

export class Slices<T> {
  readonly #onDone: (done: Done<T>) => void;
  #waiting: (() => Pass<T>) | null = null;
  #isBusy = false;
  #isEnded = false;

  constructor(onDone: (done: Done<T>) => void) {
    this.#onDone = onDone;
  }

  /** Does this pass next; one that still waits for its turn is dropped. The first slice is done before this returns. */
  ask(start: () => Pass<T>): void {
    this.#waiting = start;
    if (!this.#isBusy) this.#begin();
  }

  /** Nothing is done or told from now on. */
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
    let goesOn = true;
    while (goesOn && performance.now() - began < SLICE_MS) goesOn = pass.step();
    if (goesOn) {
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
