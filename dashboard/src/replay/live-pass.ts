/**
 * Recomputes a run while a slider moves: rewards and advantages of every rollout under the changed recipe, with the
 * server's own `compose` and `advantages`, summed up in one pass. Once the slider rests, settled-pass.ts computes the
 * slower figures: rank correlation and the largest changes.
 */

import type { Recipe } from '../../../src/families/composers.ts';
import { compose, groupVotes } from '../../../src/families/composers.ts';
import { createGapFinder, mayLeaveGaps } from '../../../src/runs/gaps.ts';
import { Moments } from '../../../src/runs/moments.ts';
import type { PreparedGroup } from '../../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import type { AdvantageOptions } from '../../../src/scoring/advantage-presets.ts';
import { advantages } from '../../../src/scoring/advantages.ts';

/** The groups of a run under one preset, and the recipes that replace the recorded ones, by digest. */
export type ReplayRequest = {
  readonly prepared: readonly PreparedGroup[];
  readonly after: ReadonlyMap<string, Recipe>;
};

export type LiveFigures = {
  readonly request: ReplayRequest;
  readonly scored: number;
  readonly mean: number | null;
  readonly std: number | null;
  readonly degenerate: number;
  /** Number of advantages that changed sign, out of `compared`. */
  readonly flipped: number;
  readonly compared: number;
  readonly rewards: Float64Array<ArrayBuffer>;
  /** Mean reward of each step, in the order of `stepsOf`. */
  readonly stepMeans: readonly (number | null)[];
};

/** `gaps`: finds what the recipe reads and a rollout lacks; `null` where no rollout can lack anything. */
type Context = { readonly recipe: Recipe; readonly gaps: ReturnType<typeof createGapFinder> | null };

type StepSum = { readonly step: number | null; scored: number; sum: number };

/** One pass over the groups; can pause after any group. Uses plain loops, so that it fits into a frame. */
export class LivePass {
  readonly #request: ReplayRequest;
  readonly #contexts: ReadonlyMap<string, Context>;
  readonly #options: AdvantageOptions;
  readonly #rewards: Float64Array<ArrayBuffer>;
  readonly #steps: StepSum[] = [];
  #next = 0;
  #row = 0;
  #degenerate = 0;
  #flipped = 0;
  #compared = 0;

  /** @param rollouts number of rollouts in all groups. */
  constructor(
    request: ReplayRequest,
    rollouts: number,
    before: ReadonlyMap<string, Recipe>,
    options: AdvantageOptions,
  ) {
    this.#request = request;
    this.#options = options;
    this.#rewards = new Float64Array(rollouts);
    this.#contexts = new Map(
      [...request.after].map(([digest, recipe]) => {
        const old = before.get(digest);
        if (old === undefined) throw new RangeError('LivePass: a recipe that was not recorded');
        return [digest, { recipe, gaps: mayLeaveGaps(old, recipe) ? createGapFinder(old, recipe) : null }];
      }),
    );
  }

  /** Processes one group. @returns false when no group is left. */
  step(): boolean {
    const group = this.#request.prepared[this.#next];
    if (group === undefined) return false;
    this.#next++;
    const rewards = this.#rewardsOf(group);
    const result = advantages(rewards, this.#options);
    if (!result.ok) throw new RangeError('LivePass: rewards without advantages');
    const { advantages: own, degenerate } = result.value;
    if (degenerate !== null) this.#degenerate++;
    const sum = this.#sumOf(group.rows[0]?.step ?? null);
    for (let position = 0; position < rewards.length; position++) {
      const reward = rewards[position] ?? null;
      this.#rewards[this.#row++] = reward ?? Number.NaN;
      if (reward === null) continue;
      sum.scored++;
      sum.sum += reward;
      const old = group.before.scores[position];
      const one = own[position];
      if (old === undefined || one === undefined) throw new RangeError('LivePass: a sample was lost');
      if (old.masked) continue;
      this.#compared++;
      if (one.advantage * old.advantage < 0) this.#flipped++;
    }
    return true;
  }

  #rewardsOf({ rows }: PreparedGroup): (number | null)[] {
    const members = rows.map((row) => ({
      facts: this.#isOpen(row) ? null : row.facts,
      recipe: this.#contextOf(row).recipe,
    }));
    const votes = groupVotes(members);
    return members.map(({ facts, recipe }) => (facts === null ? null : compose(facts, recipe, votes).reward));
  }

  #contextOf({ recipe }: LedgerRow): Context {
    const context = this.#contexts.get(recipe);
    if (context === undefined) throw new RangeError('LivePass: a row of a recipe that the run does not have');
    return context;
  }

  #isOpen(row: LedgerRow): boolean {
    const { gaps } = this.#contextOf(row);
    return gaps !== null && gaps(row.facts).length > 0;
  }

  #sumOf(step: number | null): StepSum {
    const last = this.#steps.at(-1);
    if (last !== undefined && last.step === step) return last;
    const sum: StepSum = { step, scored: 0, sum: 0 };
    this.#steps.push(sum);
    return sum;
  }

  get figures(): LiveFigures {
    const all = new Moments();
    for (const reward of this.#rewards) if (!Number.isNaN(reward)) all.add(reward);
    return {
      request: this.#request,
      scored: all.count,
      mean: all.mean,
      std: all.std,
      degenerate: this.#degenerate,
      flipped: this.#flipped,
      compared: this.#compared,
      rewards: this.#rewards,
      stepMeans: this.#steps.map(({ scored, sum }) => (scored === 0 ? null : sum / scored)),
    };
  }
}

/** The distinct steps of groups that are sorted by step. */
export function stepsOf(groups: readonly PreparedGroup[]): (number | null)[] {
  const steps: (number | null)[] = [];
  for (const { rows } of groups) {
    const step = rows[0]?.step ?? null;
    if (steps.length === 0 || steps.at(-1) !== step) steps.push(step);
  }
  return steps;
}

/** The figures of the recorded rewards. `rewards` holds the scored ones. */
export type RecordedFigures = Pick<LiveFigures, 'scored' | 'mean' | 'std' | 'degenerate' | 'stepMeans'> & {
  readonly rewards: readonly number[];
};

export function recordedFigures(prepared: readonly PreparedGroup[]): RecordedFigures {
  const all = new Moments();
  const rewards: number[] = [];
  const steps: { readonly step: number | null; readonly moments: Moments }[] = [];
  let degenerate = 0;
  for (const { rows, before } of prepared) {
    const step = rows[0]?.step ?? null;
    if (steps.length === 0 || steps.at(-1)?.step !== step) steps.push({ step, moments: new Moments() });
    if (before.degenerate !== null) degenerate++;
    for (const { reward } of before.scores) {
      if (reward === null) continue;
      all.add(reward);
      steps.at(-1)?.moments.add(reward);
      rewards.push(reward);
    }
  }
  const stepMeans = steps.map(({ moments }) => moments.mean);
  return { scored: all.count, mean: all.mean, std: all.std, degenerate, stepMeans, rewards };
}
