import { describe, expect, it } from 'vitest';
import { countContentTokens, markWords, needsCitation, scoreCriterion } from '../../../src/lexical/index.ts';

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
    expect(scoreCriterion({ description }, markWords(answer))).toBe(score);
  });

  it('reads the title if there is no description', () => {
    expect(scoreCriterion({ title: 'Alder Bridge', description: '' }, markWords(answer))).toBe(2);
  });
});

const FACTS = [
  ['States that the bridge opened in 1937', 'the bridge opened in 1937'],
  ['Says that Edith Crane designed the piers', 'Edith Crane designed the piers'],
  ['Mentions that the council paid 1,200 pounds', 'the council paid 1,200 pounds'],
  ['The answer should state that trains cross it every day', 'trains cross it every day'],
  ['Explains that granite was brought from Westmere', 'granite was brought from Westmere'],
  ['Notes that twelve lamps hang from the arches', 'twelve lamps hang from the arches'],
  ['Names Alder Creek as the river below', 'Alder Creek is the river below'],
] as const;

const DENIALS = [
  'It is not true that FACT.',
  "It isn't true that FACT.",
  'It is false that FACT.',
  'It is a myth that FACT.',
  'There is no evidence that FACT.',
  'The claim that FACT is wrong.',
  'That FACT is simply untrue.',
  'Some say that FACT. That is false.',
  'Some say that FACT. This is not correct.',
  'Contrary to reports, it was never the case that FACT.',
  'The archive denies that FACT.',
  'It is wrong to say that FACT.',
] as const;

describe('a criterion and its denial', () => {
  it.each(FACTS)('%s: stated, it is met', (description, fact) => {
    expect(scoreCriterion({ description }, markWords(`According to the archive, ${fact}.`))).toBe(2);
    expect(scoreCriterion({ description }, markWords(`It is not only old: ${fact}.`))).toBe(2);
    expect(scoreCriterion({ description }, markWords(`It was not closed, but ${fact}.`))).toBe(2);
    expect(scoreCriterion({ description }, markWords(`It is false that it fell. In fact, ${fact}.`))).toBe(2);
  });

  it.each(
    DENIALS.flatMap((frame) => FACTS.map(([description, fact]) => [frame.replace('FACT', fact), description] as const)),
  )('%s does not meet: %s', (answer, description) => {
    expect(scoreCriterion({ description }, markWords(answer))).toBe(0);
  });

  it.each([
    ['States that the treaty was never ratified', 'The treaty was never ratified.', 2],
    ['States that the treaty was never ratified', 'The treaty was not ratified.', 2],
    ['States that the treaty was never ratified', 'The treaty was ratified.', 0],
    ['States that no dam was built', 'A dam was not built.', 2],
    ['States that no dam was built', 'A dam was built in 1937.', 0],
    ['States that the sources do not say this', 'The sources do not say.', 2],
    ['States that the sources do not say this', 'None of the sources says when it opened.', 2],
    ['States that the sources do not say this', 'This cannot be answered from the sources.', 2],
    ['States that the sources do not say this', 'The sources lighthouse is 78 metres high.', 0],
    ['States that the sources do not say this', 'It is not old. The sources lighthouse is 78 metres high.', 0],
    ['Notes that the report does not give this figure', 'The report does not give the figure.', 2],
    ['Notes that the report does not give this figure', 'The report gives a figure of 12.', 0],
    ['Denies that the dam leaks', 'It is not true that the dam leaks.', 2],
    ['Denies that the dam leaks', 'The dam leaks.', 0],
    ['Sagt, dass die Brücke 1937 eröffnet wurde', 'Die Brücke wurde 1937 eröffnet.', 2],
    ['Sagt, dass die Brücke 1937 eröffnet wurde', 'Es ist nicht wahr, dass die Brücke 1937 eröffnet wurde.', 0],
    ['Sagt, dass die Brücke 1937 eröffnet wurde', 'Es ist falsch, dass die Brücke 1937 eröffnet wurde.', 0],
    ['Dit que le pont a ouvert en 1937', 'Le pont a ouvert en 1937.', 2],
    ['Dit que le pont a ouvert en 1937', 'Il est faux que le pont a ouvert en 1937.', 0],
    ['Dice que el puente abrió en 1937', 'El puente abrió en 1937.', 2],
    ['Dice que el puente abrió en 1937', 'Es falso que el puente abrió en 1937.', 0],
    ['Говорит, что мост открыт в 1937 году', 'Мост открыт в 1937 году.', 2],
    ['Говорит, что мост открыт в 1937 году', 'Это не верно, что мост открыт в 1937 году.', 0],
    ['Говорит, что мост открыт в 1937 году', 'Неправда, что мост открыт в 1937 году.', 0],
    ['说明桥于1937年建成', '桥于1937年建成。', 2],
    ['说明桥于1937年建成', '桥并非于1937年建成。', 0],
  ] as const)('%s by: %s: %d', (description, answer, score) => {
    expect(scoreCriterion({ description }, markWords(answer))).toBe(score);
  });

  it.each([
    ['Omits the year 1937', 'The bridge opened in 1937.', 0],
    ['Omits the year 1937', 'The bridge opened before the war.', 2],
    ['Fails to mention Edith Crane', 'Edith Crane opened it.', 0],
    ['Fails to mention Edith Crane', 'A mayor opened it.', 2],
    ['Does not state the toll of two pennies', 'The toll is two pennies.', 0],
    ['Does not state the toll of two pennies', 'It is old.', 2],
  ] as const)('what an answer leaves out: %s by: %s: %d', (description, answer, score) => {
    expect(scoreCriterion({ description }, markWords(answer))).toBe(score);
  });
});
