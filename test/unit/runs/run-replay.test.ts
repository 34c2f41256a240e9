/** Figures accumulated group by group, compared with the same figures computed over all groups at once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECIPES, type Recipe } from '../../../src/families/composers.ts';
import { prepareGroup, type ReplayedGroup, type ReplayedSample, replayGroup } from '../../../src/runs/replay-group.ts';
import type { ReplayFigures } from '../../../src/runs/replay-report.ts';
import { replayFiguresSchema } from '../../../src/runs/replay-report.ts';
import { RunReplay, ranksOf } from '../../../src/runs/run-replay.ts';
import { parseSweep, SweepReplay } from '../../../src/runs/sweep.ts';
import { FAMILIES_OF_FACTS, rowsOf, syntheticRun } from './synthetic-rows.ts';

const RECIPE = RECIPES['refiner-gpt54-instance-rubric'];
const OTHER: Recipe = { ...RECIPE, citation_weight: 0.6, judge_static: false };

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function std(values: readonly number[]): number | null {
  const middle = mean(values);
  if (middle === null || values.length < 2) return null;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

function near(value: number | null): unknown {
  return value === null ? null : expect.closeTo(value, 9);
}

function rewards(samples: readonly ReplayedSample[], side: 'before' | 'after') {
  const known = samples.flatMap((sample) => sample[side].reward ?? []);
  return { scored: known.length, mean: near(mean(known)), std: near(std(known)) };
}

function reasons(samples: readonly ReplayedSample[], side: 'before' | 'after'): Record<string, number> {
  const lost = samples.flatMap((sample) => (sample[side].reward === null ? [sample[side].reason ?? ''] : []));
  return Object.fromEntries(lost.map((reason) => [reason, lost.filter((one) => one === reason).length]));
}

function shiftOf(samples: readonly ReplayedSample[], name: string) {
  const parts = samples.flatMap(({ before, after }) => {
    const [own, other] = [before.components[name], after.components[name]];
    return own === undefined || other === undefined ? [] : [{ own, other }];
  });
  const contributions = parts.flatMap(({ own, other }) =>
    own.contribution === null || other.contribution === null ? [] : [other.contribution - own.contribution],
  );
  const values = parts.flatMap(({ own, other }) =>
    own.value === null || other.value === null ? [] : [other.value - own.value],
  );
  const after = samples.flatMap((sample) => sample.after.components[name]?.value ?? []);
  return {
    compared: contributions.length,
    mean: near(mean(after)),
    value: near(mean(values)),
    contribution: near(mean(contributions)),
  };
}

/** Computes each figure over all groups, in its own pass. */
function figuresAtOnce(groups: readonly ReplayedGroup[]): unknown {
  const samples = groups.flatMap((group) => group.samples);
  const count = (sign: ReplayedSample['sign']) => samples.filter((sample) => sample.sign === sign).length;
  const both = samples.flatMap(({ before, after }) =>
    before.reward === null || after.reward === null ? [] : [after.reward - before.reward],
  );
  const taus = groups.flatMap(({ tau }) => tau ?? []);
  const silent = (side: 'before' | 'after', other: 'before' | 'after' | null = null) =>
    groups.filter(({ degenerate }) => degenerate[side] !== null && (other === null || degenerate[other] === null))
      .length;
  const names = [...new Set(samples.flatMap(({ after }) => Object.keys(after.components)))];
  const gaps = samples.flatMap((sample) => sample.gaps);
  const compared = samples.length - count('not_compared');
  return {
    groups: groups.length,
    rollouts: samples.length,
    before: rewards(samples, 'before'),
    after: rewards(samples, 'after'),
    shift: { compared: both.length, mean: near(mean(both)) },
    components: Object.fromEntries(names.map((name) => [name, shiftOf(samples, name)])),
    advantages: {
      compared,
      flipped: count('flipped'),
      silenced: count('silenced'),
      awakened: count('awakened'),
      flipped_share: compared === 0 ? null : count('flipped') / compared,
    },
    tau: { groups: taus.length, mean: near(mean(taus)), least: taus.length === 0 ? null : Math.min(...taus) },
    degenerate: {
      before: silent('before'),
      after: silent('after'),
      became: silent('after', 'before'),
      ceased: silent('before', 'after'),
    },
    unscored: { before: reasons(samples, 'before'), after: reasons(samples, 'after') },
    gaps: Object.fromEntries(gaps.map((gap) => [gap, gaps.filter((one) => one === gap).length])),
    recorded: { equal: samples.length, alone: 0, different: 0 },
  };
}

it('accumulates the same figures as a computation over all groups, for every family', () => {
  for (const { recipe, facts } of FAMILIES_OF_FACTS) {
    const other: Recipe = recipe.family === 'refiner' ? OTHER : recipe;
    fc.assert(
      fc.property(fc.array(fc.array(facts, { minLength: 1, maxLength: 5 }), { maxLength: 8 }), (members) => {
        const groups = members.map((group) => replayGroup(rowsOf(group, recipe), recipe, other));
        const replay = new RunReplay();
        for (const group of groups) replay.add(group);
        expect(replayFiguresSchema.parse(replay.figures)).toEqual(figuresAtOnce(groups));
      }),
      { numRuns: 30 },
    );
  }
});

describe('RunReplay', () => {
  const groups = [...syntheticRun(1_000, 64)].map((rows) =>
    replayGroup(rows, RECIPE, { ...RECIPE, citation_weight: 0.5 }),
  );

  it('returns each step at its end, and the steps add up to the whole', () => {
    const replay = new RunReplay();
    const steps = groups.flatMap((group) => replay.add(group) ?? []);
    const last = replay.endStep();
    if (last !== null) steps.push(last);
    expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: 16 }, (_, step) => step));
    const sum = (figure: (figures: ReplayFigures) => number) =>
      steps.reduce((all, { figures }) => all + figure(figures), 0);
    expect(sum(({ rollouts }) => rollouts)).toBe(1_000);
    expect(sum(({ advantages }) => advantages.flipped)).toBe(replay.figures.advantages.flipped);
    for (const { step, figures } of steps) {
      expect(figures).toEqual(figuresAtOnce(groups.filter((group) => group.step === step)));
    }
    expect(replay.endStep()).toBeNull();
  });

  it('lists the rollouts that moved most, by rank and then by reward', () => {
    const replay = new RunReplay();
    for (const group of groups) replay.add(group);
    const all = groups.flatMap((group) => {
      const scored = group.samples.flatMap(({ before, after }) =>
        before.reward === null || after.reward === null ? [] : [{ before: before.reward, after: after.reward }],
      );
      const before = ranksOf(scored.map((one) => one.before));
      const after = ranksOf(scored.map((one) => one.after));
      return scored.map((one, n) => ({
        rank: Math.abs((after[n] ?? Number.NaN) - (before[n] ?? Number.NaN)),
        reward: Math.abs(one.after - one.before),
      }));
    });
    all.sort((one, other) => other.rank - one.rank || other.reward - one.reward);
    expect(
      replay.movers.map(({ rank, reward }) => ({
        rank: Math.abs(rank.after - rank.before),
        reward: Math.abs(reward.after - reward.before),
      })),
    ).toEqual(all.slice(0, 20));
  });

  it('lists recorded rewards that differ from the composed ones, and counts them all', () => {
    const replay = new RunReplay();
    for (const rows of syntheticRun(64)) {
      replay.add(
        replayGroup(
          rows.map((row) => ({ ...row, reward: 11 })),
          RECIPE,
          RECIPE,
        ),
      );
    }
    expect(replay.figures.recorded).toEqual({ equal: 0, alone: 0, different: 64 });
    expect(replay.different).toHaveLength(20);
    expect(replay.different[0]).toMatchObject({ step: 0, group: 'g00000000', sample: 's0', recorded: 11 });
  });
});

it('gives tied values the mean of their ranks', () => {
  expect(ranksOf([5, 9, 5, 1])).toEqual([2.5, 1, 2.5, 4]);
  expect(ranksOf([])).toEqual([]);
});

describe('a sweep', () => {
  it('gives for each value the figures of its own replay', () => {
    const values = [0, 0.25, 1];
    const sweep = new SweepReplay(values.map((value) => ({ value, after: { ...RECIPE, citation_weight: value } })));
    for (const rows of syntheticRun(400)) sweep.add([prepareGroup(rows, RECIPE)]);
    for (const { value, figures } of sweep.points) {
      const replay = new RunReplay();
      for (const rows of syntheticRun(400)) {
        replay.add(replayGroup(rows, RECIPE, { ...RECIPE, citation_weight: Number(value) }));
      }
      expect(figures).toEqual(replay.figures);
    }
    expect(sweep.points.map(({ value }) => value)).toEqual(values);
  });

  it.each([
    ['citation_weight=0:1:0.1', [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]],
    ['eta=0.05:0.2:0.05', [0.05, 0.1, 0.15, 0.2]],
    ['w=-1:1:1', [-1, 0, 1]],
    ['w=0:1:0.3', [0, 0.3, 0.6, 0.9]],
    ['w=0.5:0.5:1', [0.5]],
    ['instance_rubrics_only=false,true', [false, true]],
    ['citation_metric=answer_f1,claim_f1', ['answer_f1', 'claim_f1']],
    ['non_stop_penalty.value=0,-1,-2.5', [0, -1, -2.5]],
  ])('reads %s', (text, values) => {
    const parsed = parseSweep(text);
    expect(parsed).toEqual({ ok: true, value: { field: text.slice(0, text.indexOf('=')), values } });
  });

  it.each([
    '',
    'w',
    'w=',
    '=1',
    'a..b=1',
    'w=0:1',
    'w=0..1',
    'w=0.1-0.5',
    'w=0:1:0',
    'w=1:0:0.1',
    'w=0:1:x',
    'w=0:1:0.001',
    'w=1,,2',
    'w=0:1e9:1',
  ])('refuses %s', (text) => {
    expect(parseSweep(text).ok).toBe(false);
  });
});
