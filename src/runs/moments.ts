/** Running statistics in constant memory: mean with standard deviation, and counts by name. */

/**
 * Mean and sample standard deviation of a stream of numbers, by Welford's recurrence (Welford, "Note on a method for
 * calculating corrected sums of squares and products", Technometrics 4 (1962) 419-420):
 *
 *     mean_n = mean_(n-1) + (x_n - mean_(n-1)) / n
 *     S_n = S_(n-1) + (x_n - mean_(n-1)) * (x_n - mean_n)
 *     std = sqrt(S_n / (n - 1))
 *
 * The recurrence avoids the cancellation of a difference of large sums of squares.
 */
export class Moments {
  #count = 0;
  #mean = 0;
  #squares = 0;

  /** @throws RangeError for NaN and infinities. */
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

  /** Sample standard deviation (divisor n - 1); `null` for fewer than two numbers. */
  get std(): number | null {
    return this.#count < 2 ? null : Math.sqrt(this.#squares / (this.#count - 1));
  }
}

/** Counts occurrences by name. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Counts by name in alphabetical order, so equal tallies serialize equally. */
  get counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
