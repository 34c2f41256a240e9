/** How a command over rows ends: the summary, what made the results, and whether all of it is there. */
import { EXIT_INCOMPLETE, EXIT_OK } from '../command.ts';
import type { Screen } from './screen.ts';

export type RowsTally = {
  readonly isComplete: boolean;
  readonly summary: (seconds: number) => string;
  /** Empty if nothing made anything. */
  readonly madeBy: () => string;
};

/** @param started_ms of `performance.now()`. @returns the exit code. */
export function sayEnd(screen: Screen, tally: RowsTally, started_ms: number): number {
  screen.message(tally.summary((performance.now() - started_ms) / 1000), 'bold');
  const madeBy = tally.madeBy();
  if (madeBy !== '') screen.message(madeBy, 'dim');
  return tally.isComplete ? EXIT_OK : EXIT_INCOMPLETE;
}
