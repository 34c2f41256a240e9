/** Plain numbers, compared as the sandbox compares them. */
import { expect, it } from 'vitest';
import { comparedNumbers } from '../../../src/tools/exact-number.ts';

it.each([
  ['0.5', '\\frac{1}{2}'],
  ['.50', '\\frac12'],
  ['2\\frac{1}{2}', '5/2'],
  ['-2\\frac{1}{2}', '-2.5'],
  ['1,234', '1{,}234'],
  ['\\$10\\,000', '10000.'],
  ['50\\%', '\\dfrac{1}{2}'],
  ['90^{\\circ}', '90^\\circ'],
  ['3 / 4', '\\frac{3}{4}\\text{ cm}'],
  ['-0', '0'],
])('%s is %s', (one, other) => {
  expect(comparedNumbers(one, other)).toBe(true);
});

it.each([
  ['0.5', '0.51'],
  ['1/3', '0.333333333333'],
  ['-1', '1'],
  ['50\\%', '50'],
  ['9007199254740993', '9007199254740992'],
])('%s is not %s', (one, other) => {
  expect(comparedNumbers(one, other)).toBe(false);
});

it.each([
  '',
  '-',
  '1/0',
  '\\frac{1}{0}',
  '2\\frac{3}{2}',
  '2\\frac{0}{1}',
  '1/2\\%',
  '2\\frac{1}{2}\\%',
  '1.5/2',
  '0,123',
  '1 000',
  '1,2',
  '5\\text{ or }',
  'x',
  '2^3',
  '1e3',
])('%j is left to the sandbox', (text) => {
  expect(comparedNumbers(text, '1')).toBeNull();
  expect(comparedNumbers('1', text)).toBeNull();
});

it('takes linear time', () => {
  for (const piece of ['1', '1,', ' ', '000', '\\text{', '~', '$']) {
    expect(comparedNumbers(piece.repeat(Math.floor(1_000_000 / piece.length)), '1')).toBeNull();
  }
});
