/**
 * The full replay of a run, group by group: the same figures, component shifts and largest changes as the API's replay.
 */
import type { Recipe } from '../../../src/families/composers.ts';
import { type PreparedGroup, replayPrepared } from '../../../src/runs/replay-group.ts';
import type { ReplayFigures, ReplayMover } from '../../../src/runs/replay-report.ts';
import { RunReplay } from '../../../src/runs/run-replay.ts';

export type SettledFigures = { readonly figures: ReplayFigures; readonly movers: readonly ReplayMover[] };

export class SettledPass {
  readonly #groups: readonly PreparedGroup[];
  readonly #after: ReadonlyMap<string, Recipe>;
  readonly #replay = new RunReplay();
  #next = 0;

  constructor(groups: readonly PreparedGroup[], after: ReadonlyMap<string, Recipe>) {
    this.#groups = groups;
    this.#after = after;
  }

  /** Processes one group. @returns false when no group is left. */
  step(): boolean {
    const group = this.#groups[this.#next];
    if (group === undefined) return false;
    this.#next++;
    this.#replay.add(replayPrepared(group, this.#after));
    return true;
  }

  get figures(): SettledFigures {
    return { figures: this.#replay.figures, movers: this.#replay.movers };
  }
}
