/**
 * A softmax policy over independent decisions, trained by policy gradient. Each option has a preference (a logit), and
 * its probability is the softmax of the preferences of its decision (Sutton and Barto, Reinforcement Learning, 2nd
 * edition, section 13.1).
 */
import { Adam, type AdamOptions } from './adam.ts';

/** One number for each option of each decision. */
export type Preferences<D extends string> = { readonly [Name in D]: readonly number[] };

/** A decision that was made: the position of the chosen option. */
export type Choice<D extends string> = { readonly decision: D; readonly option: number };

/** What one sample contributes to a training step. */
export type Experience<D extends string> = { readonly choices: readonly Choice<D>[]; readonly advantage: number };

/** Probabilities of options with these preferences; they add up to 1. Adding a constant to all changes nothing. */
export function softmax(preferences: readonly number[]): number[] {
  const largest = Math.max(...preferences);
  const powers = preferences.map((preference) => Math.exp(preference - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/**
 * The gradient of `mean over samples of advantage x log probability of the sample's choices` by the preferences. This
 * is the objective of GRPO (Shao et al. 2024, arXiv:2402.03300) for one update on fresh samples, where the probability
 * ratio is 1 and nothing is clipped; there is no KL term, and long answers are not weighted down.
 */
export function policyGradient<D extends string>(
  preferences: Preferences<D>,
  decision: D,
  experiences: readonly Experience<D>[],
): number[] {
  const probabilities = softmax(preferences[decision]);
  const gradient = probabilities.map(() => 0);
  for (const { choices, advantage } of experiences) {
    for (const choice of choices) {
      if (choice.decision !== decision) continue;
      // d log softmax(chosen) / d preference = 1 for the chosen option, minus the option's probability.
      for (const [option, probability] of probabilities.entries()) {
        const chosen = option === choice.option ? 1 : 0;
        gradient[option] = (gradient[option] ?? 0) + advantage * (chosen - probability);
      }
    }
  }
  return gradient.map((sum) => sum / Math.max(1, experiences.length));
}

/** A policy that learns: its preferences, and the optimizer of each decision. */
export class SoftmaxPolicy<D extends string> {
  #preferences: Preferences<D>;
  readonly #decisions: readonly D[];
  readonly #optimizers: ReadonlyMap<D, Adam>;

  constructor(start: Preferences<D>, decisions: readonly D[], options: AdamOptions) {
    this.#preferences = start;
    this.#decisions = decisions;
    this.#optimizers = new Map(decisions.map((name) => [name, new Adam(start[name].length, options)]));
  }

  get preferences(): Preferences<D> {
    return this.#preferences;
  }

  /** Takes one step up the policy gradient. Leave masked samples out: they have no advantage. */
  learn(experiences: readonly Experience<D>[]): void {
    const before = this.#preferences;
    const after: Record<D, readonly number[]> = { ...before };
    for (const name of this.#decisions) {
      const step = this.#optimizers.get(name)?.step(policyGradient(before, name, experiences)) ?? [];
      after[name] = before[name].map((preference, option) => preference + (step[option] ?? 0));
    }
    this.#preferences = after;
  }
}
