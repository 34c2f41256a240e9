/** The chart of a sweep, and the comparison of two judges. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECIPES } from '../../../src/families/composers.ts';
import type { RefinerFacts } from '../../../src/families/refiner/facts.ts';
import { type ChartPoint, sweepChart } from '../../../src/runs/chart.ts';
import { FiguresOfGroups } from '../../../src/runs/figures.ts';
import { prepareGroup } from '../../../src/runs/replay-group.ts';
import { SweepReplay } from '../../../src/runs/sweep.ts';
import { TwoJudges } from '../../../src/runs/two-judges.ts';
import { FAMILIES_OF_FACTS, syntheticRun } from './synthetic-rows.ts';

const RECIPE = RECIPES['refiner-gpt54-instance-rubric'];

function points(values: readonly (number | boolean | string)[]): ChartPoint[] {
  const sweep = new SweepReplay(
    values.map((value) => ({ value, after: { ...RECIPE, citation_weight: typeof value === 'number' ? value : 0.5 } })),
  );
  for (const rows of syntheticRun(160)) sweep.add([prepareGroup(rows, RECIPE)]);
  return sweep.points;
}

describe('sweepChart', () => {
  it('draws one line per figure, from left to right', () => {
    const svg = sweepChart('citation_weight', points([0, 0.25, 0.5, 1]));
    const lines = [...svg.matchAll(/points="([^"]+)"/g)].map(([, list]) => (list ?? '').split(' '));
    expect(lines.map((line) => line.length)).toEqual([4, 4, 4, 4]);
    const xs = (lines[0] ?? []).map((place) => Number(place.split(',')[0]));
    expect(xs).toEqual([64, 204, 344, 624]);
    expect(svg).not.toContain('NaN');
    expect(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"')).toBe(true);
  });

  it('contains nothing executable, whatever the names are', () => {
    const svg = sweepChart('<script>alert(1)</script>', points(['"><image href=x>', true]));
    expect(svg).not.toMatch(/<script|<image/);
    expect(svg).toContain('&lt;script&gt;');
  });

  it('leaves a gap for an undefined figure', () => {
    const nothing = { value: 0.5, figures: new FiguresOfGroups().figures };
    const [first, last] = points([0, 1]);
    if (first === undefined || last === undefined) throw new Error('no points');
    expect(sweepChart('w', [first, nothing, last])).not.toContain('<polyline');
    expect(sweepChart('w', [nothing])).toContain('not defined');
  });
});

describe('TwoJudges', () => {
  const facts = (score: 0 | 1 | 2, support: 0 | 0.5 | 1, needs: boolean): RefinerFacts => ({
    v: 1,
    family: 'refiner',
    has_answer: true,
    format: { answer_only: 1, full: 1 },
    finish_reason: 'stop',
    rubric: { status: 'scored', observed: [{ origin: 'instance', polarity: 'positive', weight: 1, score }] },
    citation: {
      status: 'scored',
      observed: [
        { cited: true, support, relevant: [true, support > 0] },
        { cited: false, needs_citation: needs },
      ],
    },
  });

  it('counts verdicts, and measures agreement beyond chance', () => {
    const judges = new TwoJudges();
    expect(judges.add(facts(2, 1, true), facts(2, 1, true))).toBe(0);
    expect(judges.add(facts(0, 0, false), facts(0, 0, false))).toBe(0);
    expect(judges.add(facts(0, 0.5, true), facts(2, 0, true))).toBe(3);
    expect(judges.rollouts).toEqual({ compared: 3, unmatched: 0 });
    const of = new Map(judges.agreement.map((one) => [one.question, one]));
    // Rows 0, 0, 2 against 0, 2, 2: p_o = 2/3, p_e = (2 * 1 + 1 * 2) / 9.
    expect(of.get('criteria')).toMatchObject({ pairs: 3, same: 2 / 3, mean_difference: 2 / 3 });
    expect(of.get('criteria')?.kappa).toBeCloseTo((2 / 3 - 4 / 9) / (1 - 4 / 9), 12);
    expect(of.get('criteria')?.table).toEqual([
      [1, 0, 1],
      [0, 0, 0],
      [0, 0, 1],
    ]);
    expect(of.get('support')?.table[1]).toEqual([1, 0, 0]);
    expect(of.get('relevance')?.pairs).toBe(6);
    expect(of.get('needs_citation')).toMatchObject({ same: 1, kappa: 1, weighted_kappa: 1 });
  });

  it('leaves out rollouts whose verdicts do not match up, and counts them', () => {
    const judges = new TwoJudges();
    const lost: RefinerFacts = { ...facts(2, 1, true), rubric: { status: 'unscored', reason: 'judge_timeout' } };
    expect(judges.add(facts(2, 1, true), lost)).toBeNull();
    expect(judges.add(facts(2, 1, true), { ...facts(2, 1, true), has_answer: false })).toBeNull();
    expect(judges.rollouts).toEqual({ compared: 0, unmatched: 2 });
    expect(judges.agreement).toEqual([]);
  });

  it('finds full agreement of a judge with itself', () => {
    for (const family of FAMILIES_OF_FACTS) {
      const judges = new TwoJudges();
      fc.assert(
        fc.property(family.facts, (one) => {
          expect([0, null]).toContain(judges.add(one, structuredClone(one)));
        }),
        { numRuns: 50 },
      );
      for (const { same, kappa } of judges.agreement) expect([same, kappa ?? 1]).toEqual([1, 1]);
    }
  });
});
