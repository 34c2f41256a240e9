import { describe, expect, it } from 'vitest';
import { countContentTokens, needsCitation, scoreCriterion } from '../../../src/lexical/index.ts';

describe('countContentTokens', () => {
  it.each([
    ['', 0],
    ['It is of the.', 0],
    ["It doesn't open.", 1],
    ['The bridge opened in 1937', 3],
    ['Zürich grew fast', 3],
    ["José's river", 2],
    ['猫が好き', 4],
    ['— “” …', 0],
  ])('%j has %d', (text, count) => {
    expect(countContentTokens(text)).toBe(count);
  });

  it('counts a range only', () => {
    expect(countContentTokens('red green blue', 4, 9)).toBe(1);
    expect(countContentTokens('the theory', 0, 7)).toBe(0);
  });
});

describe('needsCitation', () => {
  it.each([
    'The bridge opened in 1937.',
    'Solar capacity grew by 40% in Spain.',
    'Most of the large glaciers have been melting quickly for several decades.',
  ])('yes: %s', (statement) => {
    expect(needsCitation(statement)).toBe(true);
  });

  it.each([
    'When did the bridge open in 1937?',
    '## Results for Spain in 2020',
    'Here are the main points for Spain:',
    'In summary, several points deserve attention here.',
    'The sources do not say when the Alder Bridge opened.',
    'I could not find a date for the Alder Bridge.',
    'However, this is so.',
    '   ',
  ])('no: %s', (statement) => {
    expect(needsCitation(statement)).toBe(false);
  });

  it('reads the range only', () => {
    const text = 'Is it so? The bridge opened in 1937.';
    expect(needsCitation(text, 0, 9)).toBe(false);
    expect(needsCitation(text, 10)).toBe(true);
  });
});

describe('scoreCriterion', () => {
  const answer = 'The Alder Bridge was opened in 1937 by the mayor. It carries 12 trains a day.';
  it.each([
    ['States that the bridge opened in 1937', 2],
    ['The answer should mention that twelve trains use the bridge each day', 2],
    ['States that the bridge opened in 1938', 1],
    ['Mentions the Alder Bridge, its architect and its granite piers', 1],
    ['Explains how glaciers form', 0],
    ['The answer should state and mention', 0],
  ] as const)('%s: %d', (description, score) => {
    expect(scoreCriterion({ description }, answer)).toBe(score);
  });

  it('reads the title if there is no description', () => {
    expect(scoreCriterion({ title: 'Alder Bridge', description: '' }, answer)).toBe(2);
  });
});
