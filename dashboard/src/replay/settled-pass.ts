/**
 * The full replay of a run, group by group: the same figures, component shifts and largest changes as the API's replay.
 */
import { replayPrepared } from '../../../src/runs/replay-group.ts';
import type { ReplayFigures, ReplayMover } from '../../../src/runs/replay-report.ts';
import { RunReplay } from '../../../src/runs/run-replay.ts';
import type { ReplayRequest } from './live-pass.ts';

export type SettledFigures = {
  readonly figures: ReplayFigures;
  readonly movers: readonly ReplayMover[];
  readonly request: ReplayRequest;
};

export class SettledPass {
  readonly #request: ReplayRequest;
  readonly #replay = new RunReplay();
  #next = 0;

  constructor(request: ReplayRequest) {
    this.#request = request;
  }

  /** Processes one group. @returns false when no group is left. */
  step(): boolean {
    const group = this.#request.prepared[this.#next];
    if (group === undefined) return false;
    this.#next++;
    this.#replay.add(replayPrepared(group, this.#request.after));
    return true;
  }

  get figures(): SettledFigures {
    return { figures: this.#replay.figures, movers: this.#replay.movers, request: this.#request };
  }
}
