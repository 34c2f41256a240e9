/** Brings a known run up to date from its last step on, so that who follows a run asks for no step twice. */
import type { RunStep } from './summary.ts';

/** What a page of a run says that decides whether the run has changed. */
type KnownRun = {
  /** Of the whole run, with all attempts. */
  readonly rollouts: number;
  readonly steps: readonly RunStep[];
  /** The first step of the next page; `null` = last page. */
  readonly next_step: number | null;
};

/** The step from which to ask for what is new. @param first the first step that is followed; default 0. */
export function lastStepOf({ steps }: Pick<KnownRun, 'steps'>, first = 0): number {
  return steps.at(-1)?.step ?? first;
}

/**
 * @param known a run with all steps that are followed.
 * @param tail the page of this run that begins at `lastStepOf(known, first)`.
 * @returns `known` itself if no step has changed, with the new steps if they explain the change, else `null`: the whole
 *   run must be loaded again, because an earlier step has changed too or the new steps are more than a page.
 */
export function advanceRun<R extends KnownRun>(known: R, tail: R, first = 0): R | null {
  const from = lastStepOf(known, first);
  const isOld = ({ step }: RunStep): boolean => step === null || step < from;
  const old = known.steps.filter((step) => !isOld(step));
  const hasGrownBy = tail.rollouts - known.rollouts;
  if (hasGrownBy === 0 && JSON.stringify(tail.steps) === JSON.stringify(old)) return known;
  // All attempts count in the run, and the latest ones in its steps: a difference means that other steps changed too.
  const isExplained = tail.next_step === null && hasGrownBy === rolloutsOf(tail.steps) - rolloutsOf(old);
  return isExplained ? { ...tail, steps: [...known.steps.filter(isOld), ...tail.steps] } : null;
}

function rolloutsOf(steps: readonly RunStep[]): number {
  return steps.reduce((sum, { rollouts }) => sum + rollouts, 0);
}
