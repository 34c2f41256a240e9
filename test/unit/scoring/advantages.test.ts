/** Group advantages: which samples count, when a group gives no signal, and the invariances of every preset. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ADVANTAGE_PRESET_NAMES,
  ADVANTAGE_PRESETS,
  type AdvantageOptions,
} from '../../../src/scoring/advantage-presets.ts';
import { advantages, type GroupAdvantages, REWARD_LIMIT } from '../../../src/scoring/advantages.ts';

function groupOf(rewards: readonly (number | null)[], options?: AdvantageOptions): GroupAdvantages {
  const result = advantages(rewards, options);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const values = (group: GroupAdvantages) => group.advantages.map(({ advantage }) => advantage);

const preset = fc.constantFrom(...ADVANTAGE_PRESET_NAMES);
/** Dyadic, so that a shift is exact and every spread is far above any epsilon. */
const reward = fc.integer({ min: -640, max: 640 }).map((n) => n / 64);
const group = fc.array(reward, { minLength: 2, maxLength: 16 });

describe('formulas without golden rows', () => {
  it('centres only, unless told otherwise', () => {
    expect(groupOf([1, 2, 6])).toEqual({
      advantages: [-2, -1, 3].map((advantage) => ({ advantage, masked: false })),
      mean: 3,
      std: Math.sqrt(7),
      valid: 3,
      degenerate: null,
    });
  });

  it('scales by the std over n - 1 plus 1e-4 for TRL', () => {
    const scaled = values(groupOf([1, 2, 6], 'trl'));
    expect(scaled[2]).toBeCloseTo(3 / (Math.sqrt(7) + 1e-4), 12);
  });

  it('takes the margin as baseline: above the mean, capped at nine tenths, never below the mean', () => {
    const std = Math.sqrt(14 / 3);
    const margin = (bias: number) =>
      values(groupOf([1, 2, 6], { preset: 'open-instruct-margin', bias, verification_reward: 10 }));
    expect(margin(0.2)[0]).toBeCloseTo((1 - 5) / (std + 1e-8), 12);
    expect(margin(0.8)[0]).toBeCloseTo((1 - 9) / (std + 1e-8), 12);
    expect(margin(0)).toEqual(values(groupOf([1, 2, 6], 'open-instruct')));
    const high = { preset: 'open-instruct-margin', bias: 0.5, verification_reward: 1 } as const;
    expect(values(groupOf([1, 2, 6], high))).toEqual(values(groupOf([1, 2, 6], 'open-instruct')));
  });
});

describe('an unscored sample', () => {
  it('has advantage 0, is masked, and does not move the others', () => {
    fc.assert(
      fc.property(group, preset, fc.nat(), (rewards, name, at) => {
        const position = at % (rewards.length + 1);
        const withNull = groupOf([...rewards.slice(0, position), null, ...rewards.slice(position)], name);
        const without = groupOf(rewards, name);
        expect(withNull.advantages[position]).toEqual({ advantage: 0, masked: true });
        expect(withNull.advantages.filter((_, n) => n !== position)).toEqual(without.advantages);
        expect({ ...withNull, advantages: [] }).toEqual({ ...without, advantages: [] });
      }),
    );
  });

  it('is not the zero that a failure would have been', () => {
    expect(groupOf([1, 3, 2, null]).mean).toBe(2);
    expect(groupOf([1, 3, 2, 0]).mean).toBe(1.5);
  });
});

describe('no signal', () => {
  it.each(ADVANTAGE_PRESET_NAMES)('%s: nobody scored, too few, all equal', (name) => {
    const dropped_by_filter = ADVANTAGE_PRESETS[name].filter !== null;
    const none = groupOf([null, null], name);
    expect(none).toMatchObject({ mean: null, std: null, valid: 0 });
    expect(none.degenerate).toEqual({ reason: 'no_valid_reward', dropped_by_filter });

    const lone = groupOf([null, 7, null], name);
    expect(values(lone)).toEqual([0, 0, 0]);
    expect(lone.advantages.map(({ masked }) => masked)).toEqual([true, false, true]);
    expect(lone.degenerate).toEqual({ reason: 'too_few_valid', dropped_by_filter });

    // The mean of three tenths rounds away from a tenth.
    const equal = groupOf([0.1, 0.1, 0.1], name);
    expect(values(equal)).toEqual([0, 0, 0]);
    expect(equal).toMatchObject({ mean: 0.1, std: 0 });
    expect(equal.degenerate).toEqual({ reason: 'all_equal', dropped_by_filter });
  });

  it('has no margin to fall short of in a group without spread', () => {
    const options = { preset: 'open-instruct-margin', bias: 0.5, verification_reward: 10 } as const;
    expect(values(groupOf([1, 1], options))).toEqual([0, 0]);
  });

  it('hands the reward of a group of one on for verl, and gives 0 for the others', () => {
    for (const name of ADVANTAGE_PRESET_NAMES) {
      const single = groupOf([0.5], name);
      if (name === 'verl' || name === 'verl-no-std') {
        expect(single).toMatchObject({ mean: 0, std: 1, valid: 1, degenerate: null });
        expect(values(single)[0]).toBeCloseTo(0.5, 5);
      } else {
        expect(values(single)).toEqual([0]);
        expect(single.degenerate?.reason).toBe('too_few_valid');
      }
    }
    expect(groupOf([null], 'verl').degenerate?.reason).toBe('no_valid_reward');
  });

  it('says where a filter drops a spread that its formula would still scale', () => {
    const narrow = groupOf([0.5, 0.5, 0.5, 0.5000005], 'slime');
    expect(narrow.degenerate).toEqual({ reason: 'spread_too_small', dropped_by_filter: true });
    expect(values(narrow)[3]).toBeGreaterThan(0.1);
    expect(groupOf([0.5, 0.5, 0.5, 0.5000005], 'open-instruct').degenerate).toBeNull();
  });

  it('asks for as many scored samples as the rule does', () => {
    const rule = { ...ADVANTAGE_PRESETS.mean, min_valid: 3 };
    expect(groupOf([1, 2, null], rule).degenerate?.reason).toBe('too_few_valid');
    expect(groupOf([1, 2, 3], rule).degenerate).toBeNull();
  });
});

describe('every preset', () => {
  it('follows the samples wherever they stand, to the last bit', () => {
    const any = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 16 });
    const shuffled = any.chain((rewards) =>
      fc.tuple(
        fc.constant(rewards),
        fc.shuffledSubarray([...rewards.keys()], { minLength: rewards.length, maxLength: rewards.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, preset, ([rewards, order], name) => {
        const straight = values(groupOf(rewards, name));
        const moved = values(
          groupOf(
            order.map((n) => rewards[n] ?? null),
            name,
          ),
        );
        expect(moved.map((value) => value + 0)).toEqual(order.map((n) => (straight[n] ?? Number.NaN) + 0));
      }),
    );
  });

  it('gives equal rewards equal advantages, to the last bit', () => {
    for (const name of ADVANTAGE_PRESET_NAMES) {
      const [one, other] = values(groupOf([8.4e-323, 8.4e-323, 9.1657525711286e-310], name));
      expect(one).toBe(other);
    }
  });

  it('does not see a constant added to all rewards', () => {
    fc.assert(
      fc.property(group, preset, fc.integer({ min: -1000, max: 1000 }), (rewards, name, shift) => {
        const straight = values(groupOf(rewards, name));
        const shifted = values(
          groupOf(
            rewards.map((value) => value + shift),
            name,
          ),
        );
        straight.forEach((value, n) => {
          expect(shifted[n]).toBeCloseTo(value, 9);
        });
      }),
    );
  });

  it('gives finite advantages for whatever it accepts', () => {
    const extreme = fc.array(
      fc.oneof(
        fc.double({ min: -REWARD_LIMIT, max: REWARD_LIMIT, noNaN: true }),
        fc.constantFrom(0, 5e-324, -5e-324, 1e-200, REWARD_LIMIT, -REWARD_LIMIT),
        fc.constant(null),
      ),
      { minLength: 1, maxLength: 16 },
    );
    fc.assert(
      fc.property(extreme, preset, (rewards, name) => {
        expect(values(groupOf(rewards, name)).every(Number.isFinite)).toBe(true);
      }),
    );
  });

  it('keeps a spread that squares would lose, and a mean that a plain sum would', () => {
    const { std } = groupOf([0, 4e-200], 'open-instruct');
    expect((std ?? 0) / 2e-200).toBeCloseTo(1, 12);
    expect(groupOf([1e16, 1, -1e16]).mean).toBeCloseTo(1 / 3, 12);
  });
});

describe('refused, not thrown', () => {
  it('an empty group and rewards that are no finite number', () => {
    expect(advantages([])).toEqual({
      ok: false,
      error: [{ path: ['rewards'], message: 'expected at least one sample' }],
    });
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 * REWARD_LIMIT]) {
      const result = advantages([1, bad, 2], 'slime');
      expect(result).toMatchObject({ ok: false, error: [{ path: ['rewards', 1] }] });
    }
  });

  it('a rule out of its bounds, at the field that is', () => {
    const rule = ADVANTAGE_PRESETS.slime;
    const margin = { preset: 'open-instruct-margin', bias: 1.5, verification_reward: 0 } as const;
    const paths = (options: AdvantageOptions) => {
      const result = advantages([1, 2], options);
      return result.ok ? [] : result.error.map(({ path }) => path.join('.'));
    };
    expect(paths({ ...rule, epsilon: 0, min_valid: 1.5 })).toEqual(['options.epsilon', 'options.min_valid']);
    expect(paths({ ...rule, filter: { std: 'unbiased', above: Number.NaN } })).toEqual(['options.filter.above']);
    expect(paths(margin)).toEqual(['options.bias', 'options.verification_reward']);
    expect(paths({ ...rule, baseline: { bias: 2, verification_reward: 10 } })).toEqual(['options.baseline.bias']);
    expect(paths({ ...ADVANTAGE_PRESETS.mean, epsilon: 0 })).toEqual([]);
  });
});
