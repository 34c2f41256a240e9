/** What the rollouts that show a rule of the alerts earn, and which of them show it best. */
import type { RewardParts } from './paying-parts.ts';

/** A rollout that shows a rule. */
export type AlertExample = {
  readonly step: number | null;
  readonly group: string;
  readonly sample: string;
  readonly reward: number | null;
  /** Its reward under the reference recipe; `null` = unscored there, or there is no reference. */
  readonly reference: number | null;
};

/** The rollouts of a window that show a rule. Rewards are means in the unit of the recipe. */
export type ShownRollouts = {
  readonly rollouts: number;
  /** `null` = none is scored. */
  readonly reward: number | null;
  /** Parts of their reward, the largest first. */
  readonly parts: readonly { readonly name: string; readonly reward: number }[];
};

/** Rollouts that an alert names. */
const MAX_EXAMPLES = 3;

/** Accumulates the rollouts of a step that show a rule. */
export class RolloutsThatShow {
  readonly #examples: { readonly clarity: number; readonly rollout: AlertExample }[] = [];
  #rollouts = 0;
  #scored = 0;
  #reward = 0;
  readonly #parts = new Map<string, number>();

  add(clarity: number, rollout: AlertExample, parts: RewardParts | null): void {
    this.#rollouts++;
    const position = this.#examples.findIndex((other) => other.clarity < clarity);
    const at = position === -1 ? this.#examples.length : position;
    if (at < MAX_EXAMPLES) this.#examples.splice(at, 0, { clarity, rollout });
    this.#examples.length = Math.min(this.#examples.length, MAX_EXAMPLES);
    if (rollout.reward === null || parts === null) return;
    this.#scored++;
    this.#reward += rollout.reward;
    for (const [name, part] of Object.entries(parts)) this.#parts.set(name, (this.#parts.get(name) ?? 0) + part);
  }

  merge(other: RolloutsThatShow): void {
    this.#rollouts += other.#rollouts;
    this.#scored += other.#scored;
    this.#reward += other.#reward;
    for (const [name, part] of other.#parts) this.#parts.set(name, (this.#parts.get(name) ?? 0) + part);
  }

  /** The clearest first. */
  get examples(): readonly AlertExample[] {
    return this.#examples.map(({ rollout }) => rollout);
  }

  /** `null` = there are none. */
  get summary(): ShownRollouts | null {
    if (this.#rollouts === 0) return null;
    const count = this.#scored;
    const parts = [...this.#parts].map(([name, sum]) => ({ name, reward: sum / count }));
    parts.sort((one, other) => other.reward - one.reward);
    return { rollouts: this.#rollouts, reward: count === 0 ? null : this.#reward / count, parts };
  }
}
