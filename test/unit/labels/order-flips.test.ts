/** Random orders of criteria, and the verdicts that they change, by hand. */
import { describe, expect, test } from 'vitest';
import { FlipCounter, shuffledOrder } from '../../../src/labels/order-flips.ts';

describe('orders', () => {
  test('are permutations other than the given one, the same for a seed', () => {
    for (let seed = 0; seed < 200; seed++) {
      for (const length of [2, 3, 7]) {
        const order = shuffledOrder(length, seed);
        expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length }, (_, position) => position));
        expect(order.some((from, position) => from !== position)).toBe(true);
        expect(shuffledOrder(length, seed)).toEqual(order);
      }
    }
  });

  test('each of the five other orders of three criteria comes in a sixth to a quarter of the seeds', () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 3_000; seed++) {
      const order = shuffledOrder(3, seed).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(['021', '102', '120', '201', '210']);
    for (const count of counts.values()) expect(count > 500 && count < 750).toBe(true);
  });
});

describe('flips', () => {
  test('by kind, with intervals over questions', () => {
    const counter = new FlipCounter();
    for (let question = 0; question < 20; question++) {
      counter.add(`${question}`, 'positive', question < 5);
      counter.add(`${question}`, 'positive', false);
      counter.add(`${question}`, 'static', false);
    }
    const [all, positive, fixed, ...others] = counter.figures(0);
    expect(others).toEqual([]);
    expect(all).toMatchObject({ criteria: 'all', verdicts: 60, flipped: 5, share: 5 / 60 });
    expect(positive).toMatchObject({ criteria: 'positive', verdicts: 40, flipped: 5, share: 0.125 });
    const [low = 1, high = 0] = positive?.interval ?? [];
    expect(low > 0.02 && low < 0.125 && high > 0.125 && high < 0.25).toBe(true);
    // None of 20 questions: Clopper and Pearson's upper bound, 1 - 0.025^(1/20).
    expect(fixed?.share).toBe(0);
    expect(fixed?.interval?.[1]).toBeCloseTo(1 - 0.025 ** (1 / 20), 12);
    expect(counter.figures(0)).toEqual([all, positive, fixed]);
  });

  test('without a verdict there is no figure, and a single question has no interval', () => {
    expect(new FlipCounter().figures(0)).toEqual([]);
    const one = new FlipCounter();
    one.add('q', 'negative', true);
    one.add('q', 'negative', false);
    expect(one.figures(0)).toEqual([
      { criteria: 'all', verdicts: 2, flipped: 1, share: 0.5, interval: null },
      { criteria: 'negative', verdicts: 2, flipped: 1, share: 0.5, interval: null },
    ]);
  });
});
