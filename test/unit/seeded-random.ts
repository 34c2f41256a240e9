/** Random choices that a seed determines, so that a failing run can be repeated. */

declare module 'vitest' {
  export interface ProvidedContext {
    /** Seed of the fuzz suites (vitest.config.ts). */
    fuzzSeed: number;
    /** Cases that a property test draws unless it says otherwise. */
    fuzzRuns: number;
    /** Whether the project tries all rows of each matrix (test/functions/matrix-rows.ts). */
    triesAllRows: boolean;
  }
}

/** Mulberry32: numbers in [0, 1); equal seeds give equal numbers. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class SeededChoices {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  /** An integer from 0 to `below` - 1. */
  below(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** True in `percent` of 100 calls. */
  chance(percent: number): boolean {
    return this.#random() * 100 < percent;
  }

  /** @throws RangeError if there is nothing to choose from. */
  of<T extends NonNullable<unknown> | null>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice !== undefined) return choice;
    throw new RangeError('SeededChoices: an empty list');
  }
}
