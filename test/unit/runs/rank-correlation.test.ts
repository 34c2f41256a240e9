import { describe, expect, it } from 'vitest';
import { addRanks, NO_RANKS, rankCorrelation, rankSums } from '../../../src/runs/rank-correlation.ts';

type Group = readonly (readonly [reward: number, figure: number])[];

const times = (count: number, one: Group): Group[] => Array.from({ length: count }, () => one);

function correlated(groups: readonly Group[]): { readonly correlation: number | null; readonly groups: number } {
  const sums = { ...NO_RANKS };
  for (const group of groups) addRanks(sums, rankSums(group));
  return { correlation: rankCorrelation(sums), groups: sums.groups };
}

describe('rankCorrelation', () => {
  const rising: Group = [
    [1, 10],
    [2, 20],
    [3, 40],
  ];
  const falling: Group = [
    [1, 40],
    [2, 20],
    [3, 10],
  ];

  it('is 1 where the figure rises with the reward in every group, and -1 where it falls', () => {
    expect(correlated(times(16, rising))).toEqual({ correlation: 1, groups: 16 });
    expect(correlated(times(16, falling))).toEqual({ correlation: -1, groups: 16 });
    expect(correlated([...times(8, rising), ...times(8, falling)]).correlation).toBe(0);
  });

  it('is null below 16 groups in which both vary', () => {
    const flat: Group = [
      [1, 5],
      [2, 5],
    ];
    const unpaid: Group = [
      [1, 5],
      [1, 6],
    ];
    expect(correlated([...times(15, rising), ...times(9, flat), ...times(9, unpaid)])).toEqual({
      correlation: null,
      groups: 15,
    });
  });

  it('is lowered by groups in which only the reward varies, and not by groups without signal', () => {
    const flat: Group = [
      [1, 5],
      [2, 5],
      [3, 5],
    ];
    expect(correlated([...times(16, rising), ...times(16, flat)]).correlation).toBeCloseTo(Math.SQRT1_2, 12);
    const unpaid: Group = [
      [1, 5],
      [1, 6],
      [1, 7],
    ];
    expect(correlated([...times(16, rising), ...times(16, unpaid)]).correlation).toBe(1);
  });

  it('gives equal values the mean of their ranks', () => {
    // Ranks of the rewards: 1.5, 1.5, 3, 4; of the figures: 1, 2, 3, 4. 4.5 / sqrt(4.5 * 5).
    const tied: Group = [
      [1, 1],
      [1, 2],
      [2, 3],
      [9, 4],
    ];
    expect(correlated(times(16, tied)).correlation).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12);
  });

  it('does not compare prompts', () => {
    const easy: Group = [
      [9, 1],
      [10, 2],
    ];
    const hard: Group = [
      [1, 8],
      [2, 9],
    ];
    expect(correlated([...times(8, easy), ...times(8, hard)]).correlation).toBe(1);
  });
});
