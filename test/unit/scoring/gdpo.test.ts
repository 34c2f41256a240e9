/** GDPO: members without a score, groups without signal, and what is refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advantages } from '../../../src/scoring/advantages.ts';
import {
  GDPO_PRESET_NAMES,
  type GdpoOptions,
  type GdpoStep,
  gdpoAdvantages,
  gdpoGroup,
  type StepMember,
} from '../../../src/scoring/gdpo.ts';
import { stepAdvantages, stepRequestSchema } from '../../../src/wire/advantages.ts';

function stepOf(groups: readonly (readonly StepMember[])[], options: GdpoOptions): GdpoStep {
  const result = gdpoAdvantages(groups, options);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const member = (rubric: number, citation: number, response_tokens = 10): StepMember => ({
  components: { rubric, citation },
  response_tokens,
});
const UNSCORED: StepMember = { components: null };

const GROUP = [member(6, 0), member(2, 2), member(4, 1.5)];
const OTHER = [member(1, 1), member(5, 2, 30), member(3, 0)];

const numbersOf = ({ groups }: GdpoStep) =>
  groups.map(({ members }) => members.map(({ advantage }) => Number(advantage.toFixed(9))));

describe.each([...GDPO_PRESET_NAMES, { preset: 'nemo-gdpo', use_leave_one_out_baseline: false } as const])(
  '%s',
  (rule) => {
    it('leaves an unscored member out of the group and of the batch, and masks it', () => {
      const with_ = stepOf([[GROUP[0] ?? UNSCORED, UNSCORED, ...GROUP.slice(1)], OTHER], rule);
      const without = stepOf([GROUP, OTHER], rule);
      expect(with_.groups[0]?.members[1]).toEqual({ advantage: 0, masked: true, weighted_sum: null });
      expect(with_.groups[0]?.members.filter(({ masked }) => !masked)).toEqual(without.groups[0]?.members);
      expect(with_.groups[1]).toEqual(without.groups[1]);
      expect(with_.batch).toEqual(without.batch);
      expect(with_.groups[0]?.valid).toBe(3);
    });

    it('has the same weighted sums for a group alone, as nothing of the step is in them', () => {
      const alone = gdpoGroup(GROUP, rule);
      const sums = stepOf([GROUP, OTHER], rule).groups[0]?.members.map(({ weighted_sum }) => weighted_sum);
      expect(alone.ok && alone.value.members.map(({ weighted_sum }) => weighted_sum)).toEqual(sums);
    });

    it('sees no signal where the components cancel, although none of them is constant', () => {
      const mirrored = [0.1, 0.2, 0.3, 0.4].map((value, n, all) => member(value, all[3 - n] ?? 0));
      const { groups } = stepOf([mirrored], rule);
      expect(groups[0]?.degenerate).toEqual({ reason: 'all_equal' });
      expect(numbersOf({ groups, batch: null })[0]?.map(Math.abs)).toEqual([0, 0, 0, 0]);
      expect(stepOf([GROUP], rule).groups[0]?.degenerate).toBeNull();
    });

    it('says why a group gives no signal', () => {
      const { groups, batch } = stepOf([[UNSCORED], [UNSCORED, member(1, 1)], [member(1, 1), member(1, 1)]], rule);
      expect(groups.map(({ degenerate }) => degenerate?.reason)).toEqual([
        'no_valid_reward',
        'too_few_valid',
        'all_equal',
      ]);
      expect(batch).not.toBeNull();
      expect(stepOf([[UNSCORED]], rule).batch).toBeNull();
    });

    it('gives the same bits in every order of the names, and finite numbers for all components', () => {
      const value = fc.oneof(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.constantFrom(0, 1e-300, 1e100));
      const members = fc.array(fc.tuple(value, value, fc.integer({ min: 1, max: 50 })), { minLength: 1, maxLength: 6 });
      fc.assert(
        fc.property(fc.array(members, { minLength: 1, maxLength: 4 }), (drawn) => {
          const groups = drawn.map((group) =>
            group.map(([a, b, tokens]) => ({ components: { a, b }, response_tokens: tokens + 1 })),
          );
          const turned = drawn.map((group) =>
            group.map(([a, b, tokens]) => ({ components: { b, a }, response_tokens: tokens + 1 })),
          );
          const step = stepOf(groups, rule);
          expect(stepOf(turned, rule)).toEqual(step);
          for (const { members: own } of step.groups) {
            for (const { advantage } of own) expect(Number.isFinite(advantage)).toBe(true);
          }
        }),
      );
    });
  },
);

it('takes a component that is named like a member of Object.prototype', () => {
  const named = (value: number): StepMember => ({ components: { constructor: value, toString: 1 } });
  const { groups } = stepOf([[named(1), named(3)]], 'trl-gdpo');
  const [first, second] = groups[0]?.members ?? [];
  expect(first?.weighted_sum).toBeCloseTo(-Math.SQRT1_2, 3);
  expect(second?.advantage).toBeGreaterThan(0);
});

describe('a step that is refused', () => {
  const problemsOf = (groups: readonly (readonly StepMember[])[], options: GdpoOptions) => {
    const result = gdpoAdvantages(groups, options);
    return result.ok ? [] : result.error.map(({ path, message }) => `${path.join('.')}: ${message}`);
  };

  it('has members with different components: an absent one would be a 0 that nobody earned', () => {
    expect(problemsOf([[member(1, 0), { components: { rubric: 1 } }]], 'nemo-gdpo').join()).toContain(
      'same components',
    );
  });

  it('has a weight for a component that no member has, or a number that is not finite', () => {
    expect(problemsOf([GROUP], { preset: 'trl-gdpo', weights: { ruric: 2 } })).toEqual([
      'rule.weights.ruric: expected one of citation, rubric',
    ]);
    expect(problemsOf([GROUP], { preset: 'trl-gdpo', weights: { rubric: 1e7 } })[0]).toContain('rule.weights.rubric');
    expect(problemsOf([[member(Number.NaN, 0)]], 'trl-gdpo')[0]).toContain('groups.0.members.0.components.rubric');
  });

  it('lacks the tokens that verl averages over', () => {
    expect(problemsOf([[{ components: { rubric: 1 } }]], 'verl-gdpo')[0]).toContain(
      'groups.0.members.0.response_tokens: required by verl-gdpo',
    );
    expect(problemsOf([[member(1, 0, 1)]], 'verl-gdpo')[0]).toContain('more than one response token');
    expect(problemsOf([[UNSCORED]], 'verl-gdpo')).toEqual([]);
  });
});

describe('the request', () => {
  const parse = (body: unknown) => stepRequestSchema.parse(body);

  it('takes rewards, or components that are added up, for the rules of one group', () => {
    const groups = [{ id: 'a', members: [{ reward: 6 }, { components: { x: 1, y: 2 } }, { reward: null }] }];
    const step = stepAdvantages(parse({ rule: 'trl', groups }));
    const own = advantages([6, 3, null], 'trl');
    expect(step.ok && step.value).toEqual({
      groups: [{ id: 'a', advantages: own.ok ? own.value.advantages : null, valid: 2, degenerate: null }],
      batch: null,
      final: true,
    });
    expect(stepAdvantages(parse({ rule: 'trl-gdpo', groups })).ok).toBe(false);
  });

  it('names the field of a wrong number', () => {
    const far = stepAdvantages(
      parse({ rule: 'trl', groups: [{ members: [{ reward: 1 }] }, { members: [{ reward: 1e200 }] }] }),
    );
    expect(far.ok ? [] : far.error.map(({ path }) => path)).toEqual([['groups', 1, 'members', 0, 'reward']]);
    expect(stepRequestSchema.safeParse({ rule: 'trl', groups: [{ members: [{}] }] }).success).toBe(false);
  });
});

describe('the rules of one group', () => {
  const of = (rewards: (number | null)[], preset: 'trl-async' | 'openrlhf' | 'nemo-grpo') => {
    const result = advantages(rewards, preset);
    return result.ok ? result.value.advantages.map(({ advantage }) => Number(advantage.toFixed(6))) : null;
  };

  it('divide by the std over n (TRL async) or n - 1 (OpenRLHF)', () => {
    expect(of([0, 2, 4, 6], 'trl-async')).toEqual([-1.341641, -0.447214, 0.447214, 1.341641]);
    expect(of([0, 2, 4, 6], 'openrlhf')).toEqual([-1.161895, -0.387298, 0.387298, 1.161895]);
  });

  it('leave the sample out of its baseline (NeMo RL), and do not divide by a spread of 0', () => {
    expect(of([0, 2, 4, 6], 'nemo-grpo')).toEqual([-1.999999, -0.436436, 0.436436, 1.999999]);
    expect(of([1, 0, 0, 0], 'nemo-grpo')).toEqual([1, -0.577349, -0.577349, -0.577349]);
    expect(of([3, null, 1], 'nemo-grpo')).toEqual([2, 0, -2]);
    expect(of([1, 1], 'nemo-grpo')).toEqual([0, 0]);
  });
});
