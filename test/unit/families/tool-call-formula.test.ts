import { describe, expect, it } from 'vitest';
import { computeScore, computeScoreOutcomeReward } from '../../../src/families/tool-call/exact.ts';
import { shapeByTurns, TURN_SHAPING } from '../../../src/families/tool-call/formula.ts';

describe('shaping by turns', () => {
  it('does not change a reward of 0 or more', () => {
    expect([0, 0.25, 1].map((score) => shapeByTurns(score, 30))).toEqual([0, 0.25, 1]);
  });

  it('accepts other constants', () => {
    expect(shapeByTurns(-1, 6, { ...TURN_SHAPING, bonusPerRound: 0.125 })).toBe(-0.75);
    expect(shapeByTurns(-1, 6, { ...TURN_SHAPING, freeTurns: 6 })).toBe(-1);
    expect(shapeByTurns(-1, 60, { ...TURN_SHAPING, ceiling: -0.25 })).toBe(-0.25);
  });

  it('lowers a mild miss to the ceiling', () => expect(shapeByTurns(-0.1, 2)).toBe(-0.6));

  it.each([
    [Number.NaN, 2, TURN_SHAPING],
    [-1, Number.NaN, TURN_SHAPING],
    [1, Number.POSITIVE_INFINITY, TURN_SHAPING],
    [-1, 2, { ...TURN_SHAPING, ceiling: Number.NaN }],
    [-1, -1e308, { ...TURN_SHAPING, bonusPerRound: 1e308 }],
  ])('refuses %s after %s turns with %o', (score, turns, shaping) => {
    expect(() => shapeByTurns(score, turns, shaping)).toThrow(RangeError);
  });
});

describe('the exact functions', () => {
  const wrong = { data_source: 'math_dapo', solution_str: 'no box', ground_truth: '1' };

  it.each([
    [undefined, -1.1],
    [4, -0.9],
    [4.9, -0.9],
    [' 4 ', -0.9],
    ['+4', -0.9],
    ['1_0', -0.6],
    [true, -1.05],
  ])('read a turn count of %o as Python does', (turns, score) => {
    expect(computeScore({ ...wrong, extra_info: { num_turns: turns } }).score).toBeCloseTo(score, 12);
  });

  it.each([null, '', '4.0', 'four', '1__0', '4 5', Number.NaN, Number.POSITIVE_INFINITY, [4], {}])(
    'refuse a turn count of %o',
    (turns) => expect(() => computeScore({ ...wrong, extra_info: { num_turns: turns } })).toThrow(RangeError),
  );

  it('refuse code, which has to be run', () => {
    const code = { ...wrong, data_source: 'livecodebench', extra_info: { num_turns: 4 } };
    expect(() => computeScore(code)).toThrow(RangeError);
    expect(() => computeScoreOutcomeReward(code)).toThrow(RangeError);
  });

  it('give an empty prediction if there is none', () => {
    expect(computeScoreOutcomeReward({ ...wrong, extra_info: {} })).toEqual({ score: -1, acc: false, pred: '' });
  });
});
