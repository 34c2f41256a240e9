/**
 * How much of a rollout could not be had: 0 where everything was. The same content scored again replaces what was recorded
 * where less is lacking, so that a judge that was down leaves no hole, and never the other way round.
 */
import type { Facts, Observed } from '../family/facts.ts';

/** More than any rollout has parts: a rollout with a reward always counts before one without. */
const NO_REWARD = 100;

/** @param reward as it was answered. */
export function lackingOf(facts: Facts, reward: number | null): number {
  const parts = partsOf(facts).filter(({ status }) => status === 'unscored').length;
  return reward === null ? NO_REWARD + parts : parts;
}

function partsOf(facts: Facts): Observed<unknown>[] {
  switch (facts.family) {
    case 'refiner':
    case 'dr-tulu':
      return [facts.rubric, facts.citation];
    case 'long-trace':
      return [facts.outcome];
    case 'tool-call':
      return [facts.outcome.kind === 'math' ? facts.outcome.equivalent : facts.outcome.tests];
  }
}
