/** The learner of the demo policy: its gradient is the slope of its objective, and it finds the best action. */
import { describe, expect, it } from 'vitest';
import { Adam } from '../../../scripts/demo-run/adam.ts';
import { createDraws } from '../../../scripts/demo-run/draws.ts';
import {
  type Experience,
  type Preferences,
  policyGradient,
  SoftmaxPolicy,
  softmax,
} from '../../../scripts/demo-run/softmax.ts';
import { advantages } from '../../../src/scoring/advantages.ts';

type Name = 'arm' | 'other';

const PREFERENCES: Preferences<Name> = { arm: [0.3, -1, 0.8], other: [0, 0.5] };
const EXPERIENCES: readonly Experience<Name>[] = [
  {
    choices: [
      { decision: 'arm', option: 0 },
      { decision: 'arm', option: 2 },
    ],
    advantage: 1.5,
  },
  { choices: [{ decision: 'arm', option: 1 }], advantage: -0.7 },
  {
    choices: [
      { decision: 'other', option: 1 },
      { decision: 'arm', option: 2 },
    ],
    advantage: 0.2,
  },
];

/** Mean over samples of advantage x log probability of the choices. */
function objective(preferences: Preferences<Name>): number {
  const sum = EXPERIENCES.reduce((total, { choices, advantage }) => {
    const logs = choices.map(({ decision, option }) => Math.log(softmax(preferences[decision])[option] ?? 0));
    return total + advantage * logs.reduce((a, b) => a + b, 0);
  }, 0);
  return sum / EXPERIENCES.length;
}

describe('softmax', () => {
  it('gives probabilities that a constant does not change, also for large preferences', () => {
    const probabilities = softmax([1, 2, 4]);
    expect(probabilities.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
    expect(probabilities[2]).toBeGreaterThan(probabilities[1] ?? 1);
    softmax([1001, 1002, 1004]).forEach((probability, n) => {
      expect(probability).toBeCloseTo(probabilities[n] ?? 0, 12);
    });
  });
});

describe('the policy gradient', () => {
  it.each(['arm', 'other'] as const)('is the slope of the objective in every preference of %s', (decision) => {
    const gradient = policyGradient(PREFERENCES, decision, EXPERIENCES);
    const by = 1e-5;
    PREFERENCES[decision].forEach((_, option) => {
      const moved = (distance: number): Preferences<Name> => ({
        ...PREFERENCES,
        [decision]: PREFERENCES[decision].map((value, n) => (n === option ? value + distance : value)),
      });
      const slope = (objective(moved(by)) - objective(moved(-by))) / (2 * by);
      expect(gradient[option]).toBeCloseTo(slope, 8);
    });
  });

  it('is 0 without experiences', () => {
    expect(policyGradient(PREFERENCES, 'arm', [])).toEqual([0, 0, 0]);
  });
});

describe('Adam', () => {
  it('takes a first step of the learning rate, whatever the size of the gradient', () => {
    for (const slope of [0.001, 1, 1000]) {
      const step = new Adam(2, { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-12 }).step([slope, -slope]);
      expect(step[0]).toBeCloseTo(0.1, 8);
      expect(step[1]).toBeCloseTo(-0.1, 8);
    }
  });

  it('climbs to the top of a parabola', () => {
    const adam = new Adam(1, { learningRate: 0.1, beta1: 0.8, beta2: 0.95, epsilon: 1e-8 });
    let x = 3;
    for (let n = 0; n < 300; n++) x += adam.step([-2 * (x + 1)])[0] ?? 0;
    expect(x).toBeCloseTo(-1, 1);
  });
});

describe('a bandit', () => {
  it.each([0, 1, 2])('whose best arm is %d: the policy finds the arm and leaves another decision alone', (best) => {
    const start: Preferences<Name> = { arm: [0, 0, 0], other: [0, 0] };
    const options = { learningRate: 0.2, beta1: 0.8, beta2: 0.95, epsilon: 0.01 };
    const policy = new SoftmaxPolicy(start, ['arm', 'other'], options);
    for (let step = 0; step < 40; step++) {
      const draws = createDraws('bandit', best, step);
      const probabilities = softmax(policy.preferences.arm);
      const arms = Array.from({ length: 16 }, (_, n) => (draws.share(n) < (probabilities[0] ?? 0) ? 0 : 1 + (n % 2)));
      const { value: group } = groupOf(arms.map((arm) => (arm === best ? 1 : 0)));
      policy.learn(
        arms.map((option, n) => ({
          choices: [{ decision: 'arm', option }],
          advantage: group.advantages[n]?.advantage ?? 0,
        })),
      );
    }
    expect(softmax(policy.preferences.arm)[best]).toBeGreaterThan(0.9);
    expect(policy.preferences.other).toEqual([0, 0]);
  });
});

function groupOf(rewards: readonly number[]) {
  const result = advantages(rewards, 'trl');
  if (!result.ok) throw new Error('no advantages');
  return result;
}
