/** The summary of a run's steps, from one rollout at a time. */
import { describe, expect, it } from 'vitest';
import type { RunStep } from '../../../src/runs/summary.ts';
import { RunSummary, runStepSchema, type SummarisedRollout } from '../../../src/runs/summary.ts';

const rollout = (changes: Partial<SummarisedRollout>): SummarisedRollout => ({
  step: 0,
  group: 'g',
  inferred: false,
  reward: 1,
  reason: null,
  components: {},
  judgments: 2,
  cached: 0,
  ...changes,
});

function stepsOf(rollouts: readonly SummarisedRollout[]): RunStep[] {
  const summary = new RunSummary();
  const steps = [...rollouts.map((one) => summary.add(one)), summary.end()].filter((step) => step !== null);
  return steps.map((step) => runStepSchema.parse(step));
}

describe('the summary of a run', () => {
  it('has an entry per step, and one for rollouts without a step', () => {
    const steps = stepsOf([
      rollout({ step: null, inferred: true }),
      rollout({}),
      rollout({ step: 3 }),
      rollout({ step: 3 }),
    ]);
    expect(steps.map(({ step, rollouts, inferred }) => [step, rollouts, inferred])).toEqual([
      [null, 1, 1],
      [0, 1, 0],
      [3, 2, 0],
    ]);
    expect(new RunSummary().end()).toBeNull();
  });

  it('counts unscored rollouts, and leaves them out of the mean', () => {
    const [step] = stepsOf([
      rollout({ reward: 0.5 }),
      rollout({ reward: null, reason: 'judge_timeout' }),
      rollout({ reward: null, reason: 'judgment_skipped', group: 'h' }),
      rollout({ reward: null, reason: 'nothing_to_score', group: 'h' }),
    ]);
    expect(step).toMatchObject({ rollouts: 4, scored: 1, judge_failures: 1 });
    expect(step?.reward).toEqual({ mean: 0.5, min: 0.5, max: 0.5, std: null });
    expect(step?.unscored).toEqual({ judge_timeout: 1, judgment_skipped: 1, nothing_to_score: 1 });
    expect(step?.degenerate).toEqual({ groups: 2, share: 1, reasons: { no_valid_reward: 1, too_few_valid: 1 } });
    expect(step?.spread).toEqual({ groups: 0, mean_std: null });
  });

  it('averages the spread within groups, and components that have a value', () => {
    const [step] = stepsOf([
      rollout({ group: 'a', reward: 0, components: { rubric: 0.5, citation: null } }),
      rollout({ group: 'a', reward: 2, components: { rubric: 1, citation: null } }),
      rollout({ group: 'b', reward: 1, components: { rubric: 0, citation: 1 }, cached: 2 }),
      rollout({ group: 'b', reward: 1, components: { rubric: 0, citation: 1 }, cached: 2 }),
    ]);
    expect(step?.spread.groups).toBe(2);
    expect(step?.spread.mean_std).toBeCloseTo(Math.SQRT2 / 2, 12);
    expect(step?.components).toEqual({ rubric: { rollouts: 4, mean: 0.375 }, citation: { rollouts: 2, mean: 1 } });
    expect(step?.degenerate).toEqual({ groups: 1, share: 0.5, reasons: { all_equal: 1 } });
    expect(step?.judgments).toEqual({ had: 8, cached: 4, hit_rate: 0.5 });
  });
});
