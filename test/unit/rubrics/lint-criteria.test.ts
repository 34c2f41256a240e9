/** Which faults of criteria are found before a run pays for them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type LintedCriterion, lintCriteria } from '../../../src/rubrics/lint-criteria.ts';

type Polarity = LintedCriterion['polarity'];
const criterion = (description: string, polarity: Polarity = 'positive', scores: number[] = []): LintedCriterion => ({
  ...{ polarity, description, scores },
});
const reasonsOf = (...criteria: LintedCriterion[]) =>
  lintCriteria(criteria).map(({ position, reason, of }) => [position, reason, of]);

const LENGTH = 'States that the Aare is 288 km long';

describe('a finding names the criterion, and the other one', () => {
  it('of what says the same, or negates it', () => {
    expect(reasonsOf(criterion(LENGTH), criterion('Mentions that the Aare is 288 km long.'))).toEqual([
      [1, 'duplicate', LENGTH],
    ]);
    expect(reasonsOf(criterion(LENGTH), criterion('Does not state that the Aare is 288 km long', 'negative'))).toEqual([
      [1, 'negation', LENGTH],
    ]);
  });

  it('of what another one says beside more, wherever it is', () => {
    const wide = 'States that the river Aare is 288 km long, from the glaciers to the Rhine';
    expect(reasonsOf(criterion(LENGTH), criterion(wide))).toEqual([[0, 'overlap', wide]]);
    expect(reasonsOf(criterion(wide), criterion(LENGTH))).toEqual([[1, 'overlap', wide]]);
    // Another number is another fact, and a fault is not its merit.
    expect(reasonsOf(criterion(LENGTH), criterion(wide.replace('288', '295')))).toEqual([]);
    expect(reasonsOf(criterion(LENGTH), criterion(wide, 'negative'))).toEqual([]);
    // The subject alone is no overlap.
    expect(reasonsOf(criterion('Names the river Aare'), criterion(wide))).toEqual([]);
  });

  it.each([
    ['States that it opened in 1937 and names the engineer', true],
    ['States that it opened in 1937, and that Strauss built it', true],
    ['Says when it was measured and who measured it', true],
    ['Names the source of the river and also gives its length', true],
    ['Names Florey and Chain', false],
    ['Lists the cost and dates', false],
    ['Explains that cases were searched for and the people around them vaccinated', false],
    ['States that she shared the prize for research on radioactivity and polonium', false],
    ['Says which of the two is longer', false],
    ['Mentions the states and names of the Union', false],
  ])('of what asks for two things: %s', (description, isFound) => {
    expect(reasonsOf(criterion(description))).toEqual(isFound ? [[0, 'two_things', null]] : []);
  });

  it('of what pays for every answer, of four or more', () => {
    expect(reasonsOf(criterion(LENGTH, 'positive', [2, 2, 2, 2]))).toEqual([[0, 'always_met', null]]);
    expect(reasonsOf(criterion(LENGTH, 'negative', [0, 0, 0, 0]))).toEqual([[0, 'always_met', null]]);
    for (const scores of [[2, 2, 2], [2, 2, 2, 1], [0, 0, 0, 0], []]) {
      expect(reasonsOf(criterion(LENGTH, 'positive', scores))).toEqual([]);
    }
  });

  it('several times, if there are several faults', () => {
    const both = criterion('Has at least 300 words and names the river', 'positive', [2, 2, 2, 2]);
    expect(reasonsOf(both).map(([, reason]) => reason)).toEqual(['about_length', 'two_things', 'always_met']);
  });
});

it('is rare in criteria that were written with care: 1 of 99 of the examples', () => {
  const rows = readFileSync('examples/rollouts.jsonl', 'utf8').trim().split('\n');
  const found = rows.flatMap((text) => {
    const { positive_rubrics = [], negative_rubrics = [] } = JSON.parse(text);
    const of = (polarity: Polarity) => (one: string | { description: string }) =>
      criterion(typeof one === 'string' ? one : one.description, polarity);
    const criteria = [...positive_rubrics.map(of('positive')), ...negative_rubrics.map(of('negative'))];
    return reasonsOf(...criteria).map(([, reason]) => reason);
  });
  expect(found).toEqual(['two_things']);
});
