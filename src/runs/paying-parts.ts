/**
 * Finds what a run's rewards differ by inside groups, and so what its advantages pay for: the share of each part of the
 * reward in the covariance. Sums of groups can be merged.
 */

/** What a part of the reward does, by its name. */
type PayingPart = { readonly name: string; readonly share: number };

export type PayingParts = {
  /**
   * `covariance`: shares of the differences inside groups. `mean`: shares of the mean reward, because no group has a
   * difference.
   */
  readonly by: 'covariance' | 'mean';
  /** The largest share first. */
  readonly parts: readonly PayingPart[];
};

/** Numbers of one rollout in reward units by name, which add up to its reward. */
export type RewardParts = Readonly<Record<string, number>>;

type PartSums = { products: number; sum: number };

/** The parts in words, with the row's own criteria of a kind as one, the largest number first. */
export function partsInWords<T extends { readonly name: string }>(
  parts: readonly T[],
  numberOf: (part: T) => number,
): { readonly name: string; readonly number: number }[] {
  const sums = new Map<string, number>();
  for (const part of parts) {
    const name = partInWords(part.name);
    sums.set(name, (sums.get(name) ?? 0) + numberOf(part));
  }
  return [...sums].map(([name, number]) => ({ name, number })).sort((one, other) => other.number - one.number);
}

function partInWords(name: string): string {
  if (name.startsWith('positive_')) return 'own positive criteria';
  if (name.startsWith('negative_')) return 'own negative criteria';
  if (name.startsWith('static_')) return `static criterion ${name.slice('static_'.length)}`;
  return name.replaceAll('_', ' ');
}

/** Accumulates the parts of groups. */
export class PartsOfGroups {
  readonly #parts = new Map<string, PartSums>();

  /** Adds the scored rollouts of a group. */
  add(rollouts: readonly RewardParts[]): void {
    const rewards = rollouts.map((parts) => Object.values(parts).reduce((sum, part) => sum + part, 0));
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    for (const [n, parts] of rollouts.entries()) {
      // sum((part - its mean) * (reward - mean)) = sum(part * (reward - mean)): the differences add up to 0.
      const difference = (rewards[n] ?? mean) - mean;
      for (const [name, part] of Object.entries(parts)) {
        const sums = this.#sumsOf(name);
        sums.products += part * difference;
        sums.sum += part;
      }
    }
  }

  merge(other: PartsOfGroups): void {
    for (const [name, { products, sum }] of other.#parts) {
      const sums = this.#sumsOf(name);
      sums.products += products;
      sums.sum += sum;
    }
  }

  /** `null` = no rollout has a reward other than 0. */
  get paying(): PayingParts | null {
    return this.#sharesBy('covariance') ?? this.#sharesBy('mean');
  }

  #sharesBy(by: PayingParts['by']): PayingParts | null {
    const numbers = [...this.#parts].map(([name, { products, sum }]) => ({
      name,
      number: by === 'covariance' ? products : sum,
    }));
    const whole = numbers.reduce((total, { number }) => total + number, 0);
    if (!(whole > ROUNDING)) return null;
    const parts = numbers
      .map(({ name, number }) => ({ name, share: number / whole }))
      .sort((one, other) => other.share - one.share);
    return { by, parts };
  }

  #sumsOf(name: string): PartSums {
    const known = this.#parts.get(name);
    if (known !== undefined) return known;
    const made = { products: 0, sum: 0 };
    this.#parts.set(name, made);
    return made;
  }
}

/** Covariances below this are rounding of equal rewards. */
const ROUNDING = 1e-9;
