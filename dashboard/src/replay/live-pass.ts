/**
 * What is shown while a slider moves: rewards and advantages of every rollout under the changed recipe, by the same
 * `compose` and `advantages` as on the server, gathered into sums on the way. What takes longer (order within groups, who
 * moved most) is made by settled-pass.ts once the slider rests.
 */
import type { Recipe } from '../../../src/recipes/families.ts';
import { createGapFinder } from '../../../src/replay/gaps.ts';
import { Moments } from '../../../src/replay/moments.ts';
import type { PreparedGroup } from '../../../src/replay/replay-group.ts';
import type { AdvantageOptions } from '../../../src/rewards/advantage-presets.ts';
import { advantages } from '../../../src/rewards/advantages.ts';
import { compose, voteOf } from '../../../src/rewards/compose.ts';
import type { Facts } from '../../../src/rewards/facts.ts';

export type LiveFigures = {
  readonly scored: number;
  readonly mean: number | null;
  readonly std: number | null;
  readonly degenerate: number;
  /** Advantages that changed sign, and how many could be compared. */
  readonly flipped: number;
  readonly compared: number;
  readonly rewards: Float64Array<ArrayBuffer>;
  /** Mean reward of each step, in the order of `stepsOf`. */
  readonly stepMeans: readonly (number | null)[];
};

type Context = { readonly recipe: Recipe; readonly isOpen: (facts: Facts) => boolean };

/** One pass over the groups, which may be cut anywhere between two of them. */
export class LivePass {
  readonly #groups: readonly PreparedGroup[];
  readonly #contexts: ReadonlyMap<string, Context>;
  readonly #options: AdvantageOptions;
  readonly #rewards: Float64Array<ArrayBuffer>;
  readonly #all = new Moments();
  readonly #steps: { readonly step: number | null; readonly moments: Moments }[] = [];
  #next = 0;
  #row = 0;
  #degenerate = 0;
  #flipped = 0;
  #compared = 0;

  /** @param rollouts of all groups together. */
  constructor(
    groups: readonly PreparedGroup[],
    rollouts: number,
    before: ReadonlyMap<string, Recipe>,
    after: ReadonlyMap<string, Recipe>,
    options: AdvantageOptions,
  ) {
    this.#groups = groups;
    this.#options = options;
    this.#rewards = new Float64Array(rollouts);
    this.#contexts = new Map(
      [...after].map(([digest, recipe]) => {
        const old = before.get(digest);
        if (old === undefined) throw new RangeError('LivePass: a recipe that was not recorded');
        const gaps = createGapFinder(old, recipe);
        return [digest, { recipe, isOpen: (facts) => gaps(facts).length > 0 }];
      }),
    );
  }

  /** Does one group. @returns false when there is none left. */
  step(): boolean {
    const group = this.#groups[this.#next];
    if (group === undefined) return false;
    this.#next++;
    const rewards = this.#rewardsOf(group);
    const result = advantages(rewards, this.#options);
    if (!result.ok) throw new RangeError('LivePass: rewards without advantages');
    if (result.group.degenerate !== null) this.#degenerate++;
    const moments = this.#momentsOf(group.rows[0]?.step ?? null);
    for (const [position, { advantage, masked }] of result.group.advantages.entries()) {
      const reward = rewards[position] ?? null;
      this.#rewards[this.#row++] = reward ?? Number.NaN;
      if (reward !== null) {
        this.#all.add(reward);
        moments.add(reward);
      }
      const old = group.before.scores[position];
      if (masked || old === undefined || old.masked) continue;
      this.#compared++;
      if (advantage * old.advantage < 0) this.#flipped++;
    }
    return true;
  }

  #rewardsOf({ rows }: PreparedGroup): (number | null)[] {
    const contexts = rows.map(({ recipe, facts }) => {
      const context = this.#contexts.get(recipe);
      if (context === undefined) throw new RangeError('LivePass: a row of a recipe that the run does not have');
      return { recipe: context.recipe, facts, isOpen: context.isOpen(facts) };
    });
    let max: number | null = null;
    for (const { recipe, facts, isOpen } of contexts) {
      const vote = isOpen ? null : voteOf(facts, recipe);
      if (vote !== null && (max === null || vote > max)) max = vote;
    }
    const votes = { max };
    return contexts.map(({ recipe, facts, isOpen }) => (isOpen ? null : compose(facts, recipe, votes).reward));
  }

  #momentsOf(step: number | null): Moments {
    const last = this.#steps.at(-1);
    if (last !== undefined && last.step === step) return last.moments;
    const moments = new Moments();
    this.#steps.push({ step, moments });
    return moments;
  }

  get figures(): LiveFigures {
    const { count: scored, mean, std } = this.#all;
    return {
      scored,
      mean,
      std,
      degenerate: this.#degenerate,
      flipped: this.#flipped,
      compared: this.#compared,
      rewards: this.#rewards,
      stepMeans: this.#steps.map(({ moments }) => moments.mean),
    };
  }
}

/** The steps of groups that come step by step. */
export function stepsOf(groups: readonly PreparedGroup[]): (number | null)[] {
  const steps: (number | null)[] = [];
  for (const { rows } of groups) {
    const step = rows[0]?.step ?? null;
    if (steps.length === 0 || steps.at(-1) !== step) steps.push(step);
  }
  return steps;
}
