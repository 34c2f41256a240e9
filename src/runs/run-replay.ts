/**
 * Collects the replay of a run group by group: figures of each step and of the whole run, the rollouts that moved most,
 * and those whose recorded reward differs. Memory is constant.
 */
import { FiguresOfGroups } from './figures.ts';
import type { PreparedGroup, ReplayedGroup, ReplayedSample } from './replay-group.ts';
import type { DifferentReward, ReplayFigures, ReplayMover } from './replay-report.ts';

const MAX_DIFFERENT_NAMED = 20;

type ReplayedStep = { readonly step: number | null; readonly figures: ReplayFigures };

export class RunReplay {
  readonly #whole = new FiguresOfGroups();
  readonly #movers = new Movers(MAX_REPLAY_MOVERS);
  readonly #different = new DifferentRewards();
  #step: { readonly number: number | null; readonly figures: FiguresOfGroups } | null = null;

  /**
   * Adds the next group; groups of a step are consecutive. @returns the previous step if this group begins another.
   */
  add(group: ReplayedGroup): ReplayedStep | null {
    const over = this.#step !== null && this.#step.number !== group.step ? this.endStep() : null;
    this.#step ??= { number: group.step, figures: new FiguresOfGroups() };
    this.#step.figures.add(group);
    this.#whole.add(group);
    this.#movers.add(group);
    for (const { row, recorded, before } of group.samples) {
      if (recorded === 'different') this.#different.add(row, before.reward);
    }
    return over;
  }

  /** Ends the current step and returns it; `null` if there is none. */
  endStep(): ReplayedStep | null {
    if (this.#step === null) return null;
    const { number, figures } = this.#step;
    this.#step = null;
    return { step: number, figures: figures.figures };
  }

  get figures(): ReplayFigures {
    return this.#whole.figures;
  }

  get movers(): readonly ReplayMover[] {
    return this.#movers.list;
  }

  get different(): readonly DifferentReward[] {
    return this.#different.list;
  }
}

/** The first rollouts whose recorded reward differs from the reward recomposed from their facts. */
export class DifferentRewards {
  readonly #list: DifferentReward[] = [];

  add({ step, group, sample, reward }: PreparedGroup['rows'][number], composed: number | null): void {
    if (this.#list.length < MAX_DIFFERENT_NAMED) this.#list.push({ step, group, sample, recorded: reward, composed });
  }

  get list(): readonly DifferentReward[] {
    return this.#list;
  }
}

/** Maximum number of rollouts listed as movers, and as most different between judges. */
export const MAX_REPLAY_MOVERS = 20;

/** Keeps the largest changes of rank. Ties: the larger change of reward, then the earlier rollout. */
class Movers {
  readonly #limit: number;
  #moved: ReplayMover[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(group: ReplayedGroup): void {
    // Same order with the same ties: no sample moved.
    if (group.tau === 1) return;
    const scored = group.samples.flatMap(scoredBoth);
    const before = ranksOf(scored.map(({ reward }) => reward.before));
    const after = ranksOf(scored.map(({ reward }) => reward.after));
    for (const [position, { sample, reward }] of scored.entries()) {
      const rank = { before: before[position] ?? Number.NaN, after: after[position] ?? Number.NaN };
      if (rank.before !== rank.after) this.#offer({ step: group.step, group: group.group, sample, rank, reward });
    }
  }

  get list(): readonly ReplayMover[] {
    return this.#moved;
  }

  #offer(mover: ReplayMover): void {
    const last = this.#moved.at(-1);
    if (this.#moved.length === this.#limit && (last === undefined || !isAhead(mover, last))) return;
    const position = this.#moved.findIndex((other) => isAhead(mover, other));
    this.#moved.splice(position === -1 ? this.#moved.length : position, 0, mover);
    this.#moved = this.#moved.slice(0, this.#limit);
  }
}

type Scored = Pick<ReplayMover, 'sample' | 'reward'>;

function scoredBoth({ row, before, after }: ReplayedSample): Scored[] {
  if (before.reward === null || after.reward === null) return [];
  return [{ sample: row.sample, reward: { before: before.reward, after: after.reward } }];
}

function isAhead(one: ReplayMover, other: ReplayMover): boolean {
  const [ranks, others] = [changeOf(one.rank), changeOf(other.rank)];
  return ranks === others ? changeOf(one.reward) > changeOf(other.reward) : ranks > others;
}

function changeOf({ before, after }: { readonly before: number; readonly after: number }): number {
  return Math.abs(after - before);
}

/** Ranks in descending order, 1 = the largest; equal numbers share the mean of their ranks. */
export function ranksOf(values: readonly number[]): number[] {
  const order = values.map((value, position) => ({ value, position })).sort((a, b) => b.value - a.value);
  const ranks = new Array<number>(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && order[end]?.value === order[start]?.value) end++;
    for (const { position } of order.slice(start, end)) ranks[position] = (start + 1 + end) / 2;
    start = end;
  }
  return ranks;
}
