/** What the sandbox reads in place of an answer and its reference. */
import { describe, expect, it } from 'vitest';
import { respelled } from '../../../src/tools/math-spelling.ts';

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

describe('an inequality beside an interval', () => {
  it.each([
    ['n \\geq \\sqrt{3}', '[\\sqrt{3}, \\infty)'],
    ['\\sqrt{3} \\le n', '[\\sqrt{3}, \\infty)'],
    ['n < 4', '(-\\infty, 4)'],
    ['2 < n \\leqslant 4', '(2, 4]'],
    ['4 \\ge n > 2', '(2, 4]'],
    ['2<=n<4', '[2, 4)'],
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
  for (const piece of ['1 ', '<', '\\le', '[1,', '½', '12 3/', ' ']) {
    const text = piece.repeat(Math.floor(1_000_000 / piece.length));
    expect(respelled({ answer: text, reference: '[0, 1]' }).answer).toBe(text);
    expect(respelled({ answer: '[0, 1]', reference: text }).reference).toBe(text);
  }
});
