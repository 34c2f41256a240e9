import { describe, expect, it } from 'vitest';
import { groupCorrelation, MIN_VARYING_GROUPS, type RankedSample } from '../../../src/runs/group-correlation.ts';

const group = (...pairs: readonly (readonly [number | null, number | null])[]): RankedSample[] =>
  pairs.map(([reward, figure]) => ({ reward, figure }));

const times = (count: number, one: RankedSample[]): RankedSample[][] => Array.from({ length: count }, () => one);

describe('groupCorrelation', () => {
  const rising = group([1, 10], [2, 20], [3, 40]);
  const falling = group([1, 40], [2, 20], [3, 10]);

  it('is 1 where the figure rises with the reward in every group, and -1 where it falls', () => {
    expect(groupCorrelation(times(16, rising))).toEqual({ correlation: 1, groups: 16 });
    expect(groupCorrelation(times(16, falling))).toEqual({ correlation: -1, groups: 16 });
    expect(groupCorrelation([...times(8, rising), ...times(8, falling)]).correlation).toBe(0);
  });

  it('is null below 16 groups in which both vary', () => {
    expect(MIN_VARYING_GROUPS).toBe(16);
    const flat = group([1, 5], [2, 5]);
    const unpaid = group([1, 5], [1, 6]);
    expect(groupCorrelation([...times(15, rising), ...times(9, flat), ...times(9, unpaid)])).toEqual({
      correlation: null,
      groups: 15,
    });
  });

  it('is lowered by groups in which only the reward varies, and not by groups without signal', () => {
    const flat = group([1, 5], [2, 5], [3, 5]);
    expect(groupCorrelation([...times(16, rising), ...times(16, flat)]).correlation).toBeCloseTo(Math.SQRT1_2, 12);
    const unpaid = group([1, 5], [1, 6], [1, 7]);
    expect(groupCorrelation([...times(16, rising), ...times(16, unpaid)]).correlation).toBe(1);
  });

  it('gives equal values the mean of their ranks', () => {
    // Ranks of the rewards: 1.5, 1.5, 3, 4; of the figures: 1, 2, 3, 4. 4.5 / sqrt(4.5 * 5).
    const tied = group([1, 1], [1, 2], [2, 3], [9, 4]);
    expect(groupCorrelation(times(16, tied)).correlation).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12);
  });

  it('leaves out samples of which one value is not known', () => {
    const partly = group([1, 10], [2, null], [null, 5], [3, 40]);
    expect(groupCorrelation(times(16, partly))).toEqual({ correlation: 1, groups: 16 });
  });

  it('does not compare prompts', () => {
    const easy = group([9, 1], [10, 2]);
    const hard = group([1, 8], [2, 9]);
    expect(groupCorrelation([...times(8, easy), ...times(8, hard)]).correlation).toBe(1);
  });
});
