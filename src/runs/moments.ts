/** Running statistics in constant memory: mean with standard deviation, and counts by name. Both can be merged. */

/** The state of `Moments`: number, mean, and sum of squared differences from the mean. */
export type MomentSums = { readonly count: number; readonly mean: number; readonly squares: number };

/**
 * Mean and sample standard deviation of a stream of numbers, by Welford's recurrence (Welford, "Note on a method for
 * calculating corrected sums of squares and products", Technometrics 4 (1962) 419-420):
 *
 *     mean_n = mean_(n-1) + (x_n - mean_(n-1)) / n
 *     S_n = S_(n-1) + (x_n - mean_(n-1)) * (x_n - mean_n)
 *     std = sqrt(S_n / (n - 1))
 *
 * The recurrence avoids the cancellation of a difference of large sums of squares. No finite number makes a figure
 * overflow: a sum of squares ends at the largest number.
 */
export class Moments {
  #count = 0;
  #mean = 0;
  #squares = 0;

  /** @throws RangeError for NaN and infinities. */
  add(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError('Moments: a number that is not finite');
    this.#count++;
    const difference = bounded(value - this.#mean);
    this.#mean += difference / this.#count;
    this.#squares = bounded(this.#squares + difference * (value - this.#mean));
  }

  /**
   * Adds other numbers, of which only the sums are known (Chan, Golub and LeVeque, "Updating formulae and a pairwise
   * algorithm for computing sample variances", 1979):
   *
   *     mean = mean_a + d * n_b / (n_a + n_b)                with d = mean_b - mean_a
   *     S    = S_a + S_b + d^2 * n_a * n_b / (n_a + n_b)
   */
  merge({ count, mean, squares }: MomentSums): void {
    if (count === 0) return;
    const all = this.#count + count;
    const difference = bounded(mean - this.#mean);
    const between = bounded(difference * difference) * ((this.#count * count) / all);
    this.#squares = bounded(this.#squares + squares + between);
    this.#mean += difference * (count / all);
    this.#count = all;
  }

  get sums(): MomentSums {
    return { count: this.#count, mean: this.#mean, squares: this.#squares };
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

/** The number nearest to a result that overflowed. */
function bounded(value: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
}

/** Counts occurrences by name. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, times = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
  }

  merge(counts: Readonly<Record<string, number>>): void {
    for (const [name, times] of Object.entries(counts)) this.add(name, times);
  }

  /** Counts by name in alphabetical order, so equal tallies serialize equally. */
  get counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
