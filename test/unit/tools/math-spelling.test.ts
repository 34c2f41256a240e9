/** What the sandbox reads in place of an answer and its reference. */
import { describe, expect, it } from 'vitest';
import { comparedNumbers } from '../../../src/tools/exact-number.ts';
import { comparedWords, respelled } from '../../../src/tools/math-spelling.ts';

const answerOf = (answer: string) => respelled({ answer, reference: '1' }).answer;

describe('mixed numbers and vulgar fractions', () => {
  it.each([
    ['12 3/7', '12\\frac{3}{7}'],
    ['+12 3/7', '12\\frac{3}{7}'],
    ['-12 3/7', '-12\\frac{3}{7}'],
    ['0 3/7', '\\frac{3}{7}'],
    ['12 0/7', '12'],
    ['2 000 3/7', '2000\\frac{3}{7}'],
    ['12 3/7 percent', '\\frac{87}{7}\\%'],
    ['-12 3/7\\%', '-\\frac{87}{7}\\%'],
    ['¾', '\\frac{3}{4}'],
    ['5¾', '5\\frac{3}{4}'],
  ])('%s is read as %s', (text, read) => {
    expect(answerOf(text)).toBe(read);
  });

  it.each([
    '12 7/7',
    '12 9/7',
    '12 3/0',
    '12 0/0',
    '12\n3/7',
    '12 + 3/7',
    '12.0 3/7',
    '(12) 3/7',
    '1 3/7 2',
    '3/7',
    '12',
  ])('%j stays as it is', (text) => {
    expect(answerOf(text)).toBe(text);
  });
});

describe('numbers as people write them', () => {
  it.each([
    ['7 300', '7300'],
    ['€7.50', '7.50'],
    ['7,300 dollars', '7300'],
    ['12 km', '12'],
    ['7.5 m²', '7.5'],
    ['40 percent', '40\\%'],
    ['7,\\! 300', '7300'],
    ['2 : 7', '2/7'],
    ['8 \\mathrm{~m}^2', '8 \\mathrm{~m}'],
    ['2\\mathrm{e}', '2e '],
    ['\\mathbb{R}', '(-\\infty, \\infty)'],
  ])('%s is read as %s', (text, read) => {
    expect(answerOf(text)).toBe(read);
  });

  it.each(['7, 300', '7 30', '2:05', '7 x', '7 apples', '5\\text{ or }6', '$7.50', '7,300', '40\\%', 'km', '1 2 3'])(
    '%j stays as it is',
    (text) => {
      expect(answerOf(text)).toBe(text);
    },
  );
});

describe('percent', () => {
  it.each([
    ['40\\%', '40'],
    ['40%', '40.0'],
    ['40 percent', '40'],
  ])('%s beside %s is the same number', (percentage, other) => {
    for (const pair of [
      { answer: percentage, reference: other },
      { answer: other, reference: percentage },
    ]) {
      const read = respelled(pair);
      expect(comparedNumbers(read.answer, read.reference)).toBe(true);
    }
  });

  it.each([
    ['40\\%', '0.4', true],
    ['40\\%', '4', false],
    ['40\\%', '0.40\\%', false],
    ['0.4', '40', false],
  ])('%s beside %s: %s', (answer, reference, equal) => {
    const read = respelled({ answer, reference });
    expect(comparedNumbers(read.answer, read.reference)).toBe(equal);
  });
});

describe('an equation beside a value', () => {
  it.each([
    ['= 3', ' 3'],
    ['|AB| = 3', ' 3'],
    ['\\frac{AB}{CD} = 3', ' 3'],
    ['\\approx 3', ' 3'],
    ['n \\approx 3', ' 3'],
    ['n \\in [1, 2]', ' [1, 2]'],
  ])('%s is read as %s', (text, read) => {
    expect(answerOf(text)).toBe(read);
  });

  it.each(['n = 3', 'f(n) = 3', 'x + y = 3', '3 = 2a', 'a < b', 'n \\ne 3', '2 \\in [1, 2]'])(
    '%s stays as it is',
    (text) => {
      expect(answerOf(text)).toBe(text);
    },
  );

  it('an equation beside an equation stays as it is', () => {
    const pair = { answer: '|AB| = 3', reference: '2|AB| = 6' };
    expect(respelled(pair)).toEqual(pair);
  });
});

describe('words', () => {
  it.each([
    ['\\text{Tuesday}', 'tuesday', true],
    ['Tuesday.', '\\textbf{Tuesday}', true],
    ['\\text{(B)}', 'B', true],
    ['no', '\\text{No}', true],
    ['Monday', 'Tuesday', false],
    ['AB', 'ab', null],
    ['beta', '\\alpha', null],
    ['alpha', 'beta', null],
    ['inf', 'infinity', null],
    ['7', 'Tuesday', null],
    ['every second Tuesday evening', 'every second Tuesday evening', null],
  ])('%s beside %s: %s', (answer, reference, same) => {
    const read = respelled({ answer, reference });
    expect(comparedWords(read.answer, read.reference)).toBe(same);
  });
});

describe('an inequality beside an interval', () => {
  it.each([
    ['n \\geq \\sqrt{3}', '[\\sqrt{3}, \\infty)'],
    ['\\sqrt{3} \\le n', '[\\sqrt{3}, \\infty)'],
    ['n < 4', '(-\\infty, 4)'],
    ['2 < n \\leqslant 4', '(2, 4]'],
    ['4 \\ge n > 2', '(2, 4]'],
    ['2<=n<4', '[2, 4)'],
    ['2 < f(n) < 4', '(2, 4)'],
    ['n < 2 \\text{ or } n \\ge 4', '(-\\infty, 2) \\cup [4, \\infty)'],
  ])('%s is read as %s', (relation, interval) => {
    expect(respelled({ answer: '(2,4]', reference: relation }).reference).toBe(interval);
    expect(respelled({ answer: relation, reference: '\\left(2, 4\\right]' }).answer).toBe(interval);
  });

  it.each(['n + 1 > 2', 'n \\ne 2', 'n > 2 > m', '2 < n > 4', '5'])('%s stays as it is', (relation) => {
    expect(respelled({ answer: '(2,4]', reference: relation }).reference).toBe(relation);
  });

  it('an inequality beside an inequality stays as it is', () => {
    const pair = { answer: 'n > 2', reference: '2 < n' };
    expect(respelled(pair)).toEqual(pair);
  });
});

it('takes linear time', () => {
  for (const piece of ['1 ', ' 000', '=', '\\in', '\\approx', 'a ', '<', '\\le', '[1,', '½', '12 3/', ' ']) {
    const text = piece.repeat(Math.floor(1_000_000 / piece.length));
    expect(respelled({ answer: text, reference: '[0, 1]' }).answer).toBe(text);
    expect(respelled({ answer: '[0, 1]', reference: text }).reference).toBe(text);
  }
});
