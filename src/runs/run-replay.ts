/**
 * Replay of a run, group by group as it is read: figures of each step when the step is over, of the whole at the end, and
 * the few rollouts worth a look. Memory does not grow with the run.
 */

import { FiguresOfGroups } from './figures.ts';
import { MAX_REPLAY_MOVERS, Movers } from './movers.ts';
import type { PreparedGroup, ReplayedGroup } from './replay-group.ts';
import type { DifferentReward, ReplayFigures, ReplayMover } from './replay-report.ts';

const MAX_DIFFERENT_NAMED = 20;

export type ReplayedStep = { readonly step: number | null; readonly figures: ReplayFigures };

export class RunReplay {
  readonly #whole = new FiguresOfGroups();
  readonly #movers = new Movers(MAX_REPLAY_MOVERS);
  readonly #different = new DifferentRewards();
  #step: { readonly number: number | null; readonly figures: FiguresOfGroups } | null = null;

  /** @param group the groups of a step one after the other. @returns the step before, when this one is of another. */
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

  /** The step that is under way, which ends with this; `null` without any. */
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

/** The first rollouts whose recorded reward is not what their facts compose to. */
export class DifferentRewards {
  readonly #list: DifferentReward[] = [];

  add({ step, group, sample, reward }: PreparedGroup['rows'][number], composed: number | null): void {
    if (this.#list.length < MAX_DIFFERENT_NAMED) this.#list.push({ step, group, sample, recorded: reward, composed });
  }

  get list(): readonly DifferentReward[] {
    return this.#list;
  }
}
