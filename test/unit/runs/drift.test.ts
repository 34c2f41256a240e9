/** Canaries and audits: what counts as drift, and which groups an audit chooses. */
import { describe, expect, it } from 'vitest';
import { Audit, canaryCheck } from '../../../src/runs/drift.ts';
import { FiguresOfGroups } from '../../../src/runs/figures.ts';
import { sampledGroups } from '../../../src/runs/group-sample.ts';
import { isAlert, latestChecks } from '../../../src/runs/judge-check.ts';
import type { JudgeComparison } from '../../../src/runs/replay-report.ts';

const NOTHING = new FiguresOfGroups().figures;

function judges(same: number, pairs = 100): JudgeComparison {
  const question = {
    question: 'criteria' as const,
    pairs,
    same,
    kappa: null,
    weighted_kappa: null,
    mean_difference: 0.2,
    table: [],
  };
  return {
    judge: 'j',
    compared: 10,
    unmatched: 0,
    different: 5,
    as_member: 0,
    questions: [question],
    most_different: [],
  };
}

function flipped(share: number | null) {
  return { ...NOTHING, advantages: { ...NOTHING.advantages, compared: 100, flipped_share: share } };
}

describe('a canary', () => {
  it.each([
    ['the same verdicts', 1, 0, false],
    ['a tenth of other verdicts', 0.9, 0, false],
    ['more than a tenth', 0.89, 0, true],
    ['few flipped advantages', 1, 0.05, false],
    ['more flipped advantages', 1, 0.06, true],
  ])('%s', (_name, same, share, met) => {
    const check = canaryCheck(12, flipped(share), judges(same));
    expect(check).toMatchObject({ rule: 'canary_drift', judge: 'j', step: 12, advantages_flipped: share });
    expect(check !== null && isAlert(check)).toBe(met);
  });

  it('says nothing if the judge answered nothing', () => {
    expect(canaryCheck(12, flipped(null), judges(0, 0))).toBeNull();
  });

  it('leaves out the rewards of a panel, which come from its vote', () => {
    const check = canaryCheck(12, flipped(0.5), { ...judges(1), as_member: 10 });
    expect(check).toMatchObject({ verdicts_changed: 0, advantages_flipped: null, reward_shift: null });
    expect(check !== null && isAlert(check)).toBe(false);
  });

  it('is forgotten once a later one of the same judge is recorded', () => {
    const [early, late] = [canaryCheck(5, flipped(0), judges(0.5)), canaryCheck(9, flipped(0), judges(1))];
    expect(latestChecks([early, late].flatMap((check) => check ?? [])).map(({ step }) => step)).toEqual([9]);
  });
});

describe('an audit', () => {
  const auditOf = (gaps: readonly (number | null)[], std = 2) => {
    const audit = new Audit('second');
    for (const [step, gap] of gaps.entries()) {
      const compared = gap === null ? 0 : 10;
      audit.add(step, {
        shift: { compared, mean: gap === null ? null : -gap },
        before: { scored: 10, mean: 5, std },
      });
    }
    return audit;
  };

  const isAnAlert = (gaps: readonly number[]) => {
    const { check } = auditOf(gaps);
    return check !== null && isAlert(check);
  };

  it('is an alert if the gap grows by half a standard deviation, whatever it was', () => {
    expect(isAnAlert([1, 1, 1, 1, 2, 2, 2, 2])).toBe(true);
    expect(isAnAlert([1, 1, 1, 1, 1.9, 1.9, 1.9, 1.9])).toBe(false);
    expect(isAnAlert([3, 3, 3, 3, 3, 3, 3, 3])).toBe(false);
    expect(isAnAlert([-3, -3, -3, -3, 0, 0, 0, 0])).toBe(true);
  });

  it('says nothing about too few steps, and leaves out steps that its judge did not judge', () => {
    expect(auditOf([1, 1, 1, 1, 9, 9, 9]).check?.growth).toBeNull();
    expect(auditOf([1, null, 1, 1, 1, 9, 9, 9]).check?.growth).toBeNull();
    expect(auditOf([1, null, 1, 1]).check?.steps.map(({ step }) => step)).toEqual([0, 2, 3]);
    expect(auditOf([1, 1, 1, 1, 9, 9, 9, 9], 0).check?.growth).toBeNull();
    const failing = new Audit('second');
    failing.add(0, { shift: { compared: 8, mean: 0 }, before: { scored: 16, mean: 5, std: 2 } });
    expect(failing.check).toBeNull();
  });
});

describe('a share of the groups', () => {
  const groups = Array.from({ length: 2_000 }, (_, n) => [{ step: Math.floor(n / 10), group: `g${n}` }]);
  const chosen = async (share: number, seed: number, from = groups) => {
    const names: string[] = [];
    async function* all() {
      yield* from;
    }
    for await (const [row] of sampledGroups(all(), { share, seed })) names.push(row?.group ?? '');
    return names;
  };

  it('is the same for a seed, also of a longer run, and another for another seed', async () => {
    const own = await chosen(0.1, 3);
    expect(own.length).toBeGreaterThan(140);
    expect(own.length).toBeLessThan(260);
    const earlier = await chosen(0.1, 3, groups.slice(0, 700));
    expect(own.slice(0, earlier.length)).toEqual(earlier);
    expect(await chosen(0.1, 4)).not.toEqual(own);
    const more = new Set(await chosen(0.3, 3));
    expect(own.every((name) => more.has(name))).toBe(true);
    expect(await chosen(1, 3)).toHaveLength(groups.length);
  });
});
