/**
 * The corrected rubric term and final reward in cases that the golden rows lack: failures, and responses without an
 * answer.
 */
import { describe, expect, it } from 'vitest';
import {
  finalReward,
  PAYMENT_WITHOUT_CITATION,
  responseFacts,
} from '../../../src/families/dr-tulu/terms/final-reward.ts';
import { rubricTerm } from '../../../src/families/dr-tulu/terms/reward-terms.ts';

describe('rubric term', () => {
  it('pays 0, 0.5 and 1, over at least 1', () => {
    expect(rubricTerm([{ weight: 2, score: 1 }])).toBe(0.5);
    expect(rubricTerm([{ weight: 0.25, score: 2 }])).toBe(0.25);
    expect(rubricTerm([{ weight: 0.5, score: 0 }])).toBe(0);
    expect(rubricTerm([])).toBe(0);
  });

  it('lets a negative weight cost, below 0 too, and not divide', () => {
    expect(
      rubricTerm([
        { weight: 2, score: 2 },
        { weight: -1, score: 2 },
      ]),
    ).toBe(0.5);
    expect(rubricTerm([{ weight: -3, score: 2 }])).toBe(-3);
  });

  it('is no number where a judge failed, whatever the weight', () => {
    expect(
      rubricTerm([
        { weight: 1, score: 2 },
        { weight: -1, score: null },
      ]),
    ).toBeNull();
  });

  it('refuses weights that are no finite number', () => {
    expect(() => rubricTerm([{ weight: Number.NaN, score: 1 }])).toThrow(RangeError);
    expect(() => rubricTerm([{ weight: Number.POSITIVE_INFINITY, score: 1 }])).toThrow(RangeError);
  });
});

describe('final reward', () => {
  const ANSWERED =
    '<search>q</search><snippet id=S1>t</snippet><answer><cite id=S1>c</cite></answer><search>late</search>';
  const UNANSWERED = '<search>a</search><search>b</search><search>c</search><cite id=S1>c</cite>';

  it('adds up the four terms', () => {
    const { reward, terms } = finalReward(responseFacts(ANSWERED, 'search'), { rubric: 0.5, citation: 0.25 });
    expect(terms).toEqual({ rubric: 0.5, citation: 0.25, format: 1, searchTurns: 1 / 3 });
    expect(reward).toBeCloseTo(0.25 + 0.05 + 0.2 + 0.1 / 3, 12);
  });

  it('pays format and search turns without an answer, and nothing that was judged', () => {
    const { reward, terms } = finalReward(responseFacts(UNANSWERED, 'search'), { rubric: 1, citation: null });
    expect(terms).toEqual({ rubric: 0, citation: 0, format: 0.5, searchTurns: 1 });
    expect(reward).toBeCloseTo(0.2, 12);
  });

  it('is no number where a judge failed on a term that pays', () => {
    const facts = responseFacts(ANSWERED, 'search');
    expect(finalReward(facts, { rubric: null, citation: 1 }).reward).toBeNull();
    expect(finalReward(facts, { rubric: 1, citation: null }).reward).toBeNull();
    expect(finalReward(facts, { rubric: 1, citation: null }, PAYMENT_WITHOUT_CITATION).reward).toBeCloseTo(
      0.6 + 0.2 + 0.2 / 3,
      12,
    );
  });

  it('refuses a term that is no finite number', () => {
    const facts = responseFacts(ANSWERED, 'search');
    expect(() => finalReward(facts, { rubric: Number.NaN, citation: 1 })).toThrow(RangeError);
  });
});
