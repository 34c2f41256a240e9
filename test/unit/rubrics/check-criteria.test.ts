/** Which criteria that a model wrote are left out, and why. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkCriteria } from '../../../src/rubrics/check-criteria.ts';
import type { PromptCriterion } from '../../../src/rubrics/rubric-set.ts';

const positive = (description: string): PromptCriterion => ({ polarity: 'positive', description });
const negative = (description: string): PromptCriterion => ({ polarity: 'negative', description });
const reasonOf = (made: PromptCriterion, ...existing: PromptCriterion[]) =>
  checkCriteria([made], existing).rejected[0]?.reason ?? null;

const DEPTH = positive('States that the lake is 1,642 metres deep.');

describe('criteria that a model wrote', () => {
  it.each([
    ['the same in other words', positive('Mentions that the lake is 1642 metres deep'), 'duplicate'],
    ['the same with another case and dots', positive('STATES THAT THE LAKE IS 1,642 METRES DEEP'), 'duplicate'],
    ['its fault', negative('Does not state that the lake is 1,642 metres deep.'), 'negation'],
    ['its fault, without "not"', negative('Fails to mention that the lake is 1,642 metres deep.'), 'negation'],
    ['the opposite as a merit', positive('Does not state that the lake is 1,642 metres deep.'), 'negation'],
    ['another number', positive('States that the lake is 1,462 metres deep.'), null],
    ['another fact', positive('Names the river that leaves the lake.'), null],
    ['a fault of its own', negative('Gives the depth in feet only.'), null],
    ['nothing', positive(' … '), 'empty'],
    ['a number of words', positive('Has at least 300 words.'), 'about_length'],
    ['a number of examples', positive('Gives at least three examples of tributaries.'), 'about_length'],
    ['being thorough', positive('Gives a comprehensive overview of the lake.'), 'about_length'],
    ['being long', negative('The answer is longer than necessary.'), 'about_length'],
    ['a length that the question asks for', positive('States that the length of the Aare is 288 km.'), null],
    ['a longer river', positive('Says that the Nile is longer than the Amazon.'), null],
    ['a comprehensive treaty', positive('Mentions the Comprehensive Nuclear-Test-Ban Treaty.'), null],
    ['who searched', positive('Deep Blue searched 200 million positions a second.'), null],
    ['more sources', positive('Cites 5 or more sources.'), 'about_length'],
    ['more examples', positive('Uses five or more examples.'), 'about_length'],
    ['many things', positive('Lists many tributaries.'), 'about_length'],
    ['several citations', positive('Contains several citations.'), 'about_length'],
    ['just long', positive('Is long.'), 'about_length'],
    ['other answers', positive('Is more specific than the other answers.'), 'not_in_the_answer'],
    ['the search', positive('Searches for the depth before answering.'), 'not_in_the_answer'],
  ])('%s', (_name, made, reason) => {
    expect(reasonOf(made, DEPTH)).toBe(reason);
  });

  it('say something else in another order of words', () => {
    expect(reasonOf(positive('Says that Bern is upstream of Thun.'), positive('Thun is upstream of Bern.'))).toBeNull();
  });

  it('are compared with one another, and the first of two counts', () => {
    const { criteria, rejected } = checkCriteria([DEPTH, positive('States the lake is 1642 metres deep'), DEPTH], []);
    expect(criteria).toEqual([DEPTH]);
    expect(rejected.map(({ reason, of }) => [reason, of])).toEqual([
      ['duplicate', DEPTH.description],
      ['duplicate', DEPTH.description],
    ]);
  });

  it.each([
    ['Nennt eine Tiefe von 1642 Metern.', 'Nennt die Länge des Sees.'],
    ['湖深1642米。', '湖长636公里。'],
  ])('stay apart in other languages: %s', (one, other) => {
    expect(checkCriteria([positive(one), positive(other)], []).rejected).toEqual([]);
    expect(reasonOf(positive(one), positive(one))).toBe('duplicate');
  });

  it('are all accounted for, whatever they say', () => {
    const criterion = fc.record({ polarity: fc.constantFrom('positive', 'negative'), description: fc.string() });
    fc.assert(
      fc.property(fc.array(criterion, { maxLength: 12 }), (made) => {
        const { criteria, rejected } = checkCriteria(made, []);
        expect([...criteria, ...rejected.map((one) => one.criterion)]).toHaveLength(made.length);
        // Checking again changes nothing.
        expect(checkCriteria(criteria, []).criteria).toEqual(criteria);
      }),
    );
  });
});
