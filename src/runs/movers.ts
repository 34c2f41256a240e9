/** The rollouts that a replay moved most within their groups: a list of bounded length, in an order of its own. */

import type { ReplayedGroup, ReplayedSample } from './replay-group.ts';
import type { ReplayMover } from './replay-report.ts';

/** Rollouts that a replay names: those that moved most, and those whose recorded reward is another. */
export const MAX_REPLAY_MOVERS = 20;

/** The largest changes of rank; among equal ones the largest change of reward, then the first that came. */
export class Movers {
  readonly #limit: number;
  #moved: ReplayMover[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(group: ReplayedGroup): void {
    // The same order with the same ties: nobody has moved.
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

/** 1 = the largest; equal numbers share the mean of their places. */
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
