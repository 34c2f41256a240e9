/** What rewards differ by inside groups, and whether they follow another number. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PartsOfGroups, partsInWords } from '../../../src/runs/paying-parts.ts';
import { addRanks, NO_RANKS, rankCorrelation, rankSums } from '../../../src/runs/rank-correlation.ts';

describe('the paying parts', () => {
  it('are shares of the covariance inside groups, and not of differences between groups', () => {
    const parts = new PartsOfGroups();
    parts.add([
      { citation: 5, rubric: 1 },
      { citation: 1, rubric: 2 },
    ]);
    // A group that earns more than the other one, but whose rewards are equal.
    parts.add([
      { citation: 0, rubric: 9 },
      { citation: 0, rubric: 9 },
    ]);
    // Deviations of the reward are 1.5, of citation 2, of rubric -0.5: 2 / 1.5 and -0.5 / 1.5.
    expect(parts.paying?.by).toBe('covariance');
    const shares = new Map(parts.paying?.parts.map(({ name, share }) => [name, share]));
    expect(shares.get('citation')).toBeCloseTo(4 / 3);
    expect(shares.get('rubric')).toBeCloseTo(-1 / 3);
  });

  it('are shares of the mean where nothing differs, and nothing where nothing is earned', () => {
    const parts = new PartsOfGroups();
    expect(parts.paying).toBeNull();
    parts.add([{ citation: 0 }, { citation: 0 }]);
    expect(parts.paying).toBeNull();
    parts.add([
      { citation: 1, negative_1: 3 },
      { citation: 1, negative_1: 3 },
    ]);
    expect(parts.paying).toEqual({
      by: 'mean',
      parts: [
        { name: 'negative_1', share: 0.75 },
        { name: 'citation', share: 0.25 },
      ],
    });
  });

  it('are the same from merged groups, and add up to 1', () => {
    const number = fc.double({ min: 0, max: 10, noNaN: true });
    const group = fc.array(fc.record({ citation: number, positive_1: number, static_1: number }), { minLength: 2 });
    fc.assert(
      fc.property(fc.array(group, { minLength: 1 }), (groups) => {
        const [all, half] = [new PartsOfGroups(), new PartsOfGroups()];
        for (const one of groups) all.add(one);
        for (const one of groups) {
          const own = new PartsOfGroups();
          own.add(one);
          half.merge(own);
        }
        const sum = (parts: PartsOfGroups) => parts.paying?.parts.reduce((total, { share }) => total + share, 0);
        expect(half.paying?.by).toBe(all.paying?.by);
        if (all.paying !== null) expect(sum(all)).toBeCloseTo(1);
      }),
    );
  });

  it("have the row's own criteria as one in words", () => {
    const parts = ['positive_1', 'negative_1', 'negative_12', 'static_3', 'other_rules'].map((name) => ({ name }));
    expect(partsInWords(parts, () => 1)).toEqual([
      { name: 'own negative criteria', number: 2 },
      { name: 'own positive criteria', number: 1 },
      { name: 'static criterion 3', number: 1 },
      { name: 'other rules', number: 1 },
    ]);
  });
});

describe('the rank correlation inside groups', () => {
  const pooled = (groups: readonly (readonly (readonly [number, number])[])[]) => {
    const sums = { ...NO_RANKS };
    for (const group of groups) addRanks(sums, rankSums(group));
    return rankCorrelation(sums);
  };
  const same = [
    [1, 10],
    [2, 20],
    [3, 30],
  ] as const;

  it('is 1 for the same order, -1 for the opposite one, and pools groups', () => {
    const opposite = same.map(([first, second]) => [first, -second] as const);
    expect(pooled(Array(16).fill(same))).toBeCloseTo(1);
    expect(pooled(Array(16).fill(opposite))).toBeCloseTo(-1);
    expect(pooled([...Array(8).fill(same), ...Array(8).fill(opposite)])).toBeCloseTo(0);
  });

  it('shares the ranks of ties', () => {
    // Ranks 1.5, 1.5, 3 and 1, 2.5, 2.5: products 0.75 + 0 - 0.25... = 0.75, squares 1.5 and 1.5.
    const tied = [
      [1, 0],
      [1, 1],
      [2, 1],
    ] as const;
    expect(pooled(Array(16).fill(tied))).toBeCloseTo(0.5);
  });

  it('needs 16 groups in which both differ; a group whose rewards are equal counts nowhere', () => {
    const equal = [
      [1, 0],
      [1, 1],
    ] as const;
    expect(pooled(Array(15).fill(same))).toBeNull();
    expect(pooled([...Array(15).fill(same), ...Array(99).fill(equal)])).toBeNull();
    expect(pooled([...Array(16).fill(same), ...Array(99).fill(equal)])).toBeCloseTo(1);
    // Rewards that differ where the other number does not follow nothing.
    const flat = equal.map(([first, second]) => [second, first] as const);
    expect(pooled([...Array(16).fill(same), ...Array(16).fill(flat)])).toBeLessThan(1);
  });
});
