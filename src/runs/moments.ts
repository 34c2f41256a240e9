/** Mean and standard deviation of numbers while they come, by Welford's recurrence (Technometrics 4 (1962) 419-420). */

/** Flat memory, and no large sums whose difference would lose the small ones, as a sum of squares would. */
export class Moments {
  #count = 0;
  #mean = 0;
  #squares = 0;

  /** @throws RangeError for a number that is not finite. */
  add(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError('Moments: a number that is not finite');
    this.#count++;
    const difference = value - this.#mean;
    this.#mean += difference / this.#count;
    this.#squares += difference * (value - this.#mean);
  }

  get count(): number {
    return this.#count;
  }

  /** `null` without numbers. */
  get mean(): number | null {
    return this.#count === 0 ? null : this.#mean;
  }

  /** Over n - 1; `null` for fewer than two numbers. */
  get std(): number | null {
    return this.#count < 2 ? null : Math.sqrt(this.#squares / (this.#count - 1));
  }
}

/** Counts by name. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** By name, in alphabetical order, so that equal tallies print equally. */
  get counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
