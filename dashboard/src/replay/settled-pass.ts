/** The whole replay, group by group: the figures, the components' shifts and the movers that the API gives for a run. */
import type { Recipe } from '../../../src/families/recipes.ts';
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

  /** Does one group. @returns false when there is none left. */
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
