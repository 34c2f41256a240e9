/** The arithmetic of multi graders: values, precedence, refusals, and no way to run code. */
import { describe, expect, it } from 'vitest';
import {
  formulaValue,
  MAX_FORMULA_CHARS,
  parseFormula,
  variablesOf,
} from '../../../src/wire/compat/graders/formula.ts';

const VARIABLES = new Map([
  ['a', 0.5],
  ['b', 2],
  ['_c1', 3],
]);

function valueOfText(text: string): number | null {
  const parsed = parseFormula(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return formulaValue(parsed.value, VARIABLES);
}

describe('a formula', () => {
  it.each([
    ['1', 1],
    [' 0.5 * a + .5*b ', 1.25],
    ['a + b * _c1', 6.5],
    ['(a + b) * _c1', 7.5],
    ['10 - 4 - 3', 3],
    ['16 / 4 / 2', 2],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ^ 2', -4],
    ['2 ^ -1', 0.5],
    ['--a', 0.5],
    ['-a * -b', 1],
    ['+b', 2],
    ['1e3 + 2E-1', 1000.2],
    ['min(a, b, 0.25)', 0.25],
    ['max(a)', 0.5],
    ['abs(-3) + floor(1.7) + ceil(1.2)', 6],
    ['sqrt(16) + log(exp(1))', 5],
    ['max(min(a, 1), min(b, 1))', 1],
    ['((((1))))', 1],
  ])('%s is %d', (text, value) => {
    expect(valueOfText(text)).toBeCloseTo(value, 12);
  });

  it.each(['1 / 0', '0 / 0', 'log(0)', 'sqrt(-1)', '10 ^ 1000', 'a / (b - 2)'])('%s has no value', (text) => {
    expect(valueOfText(text)).toBeNull();
  });

  it.each([
    '',
    ' ',
    '1 +',
    '* 2',
    '1 2',
    '(1',
    '1)',
    'a b',
    'min()',
    'min(1,)',
    'abs(1, 2)',
    'a.b',
    'a[0]',
    '1 ** 2',
    '1 % 2',
    'a == 1',
    'pow(1, 2)',
    'constructor("return 1")',
    '__import__("os")',
    'eval(1)',
    'toString()',
    'a; b',
    '`a`',
    '１',
    `${'('.repeat(300)}1${')'.repeat(300)}`,
    '-'.repeat(1_000),
    '1'.repeat(MAX_FORMULA_CHARS + 1),
  ])('%s is refused', (text) => {
    expect(parseFormula(text)).toMatchObject({ ok: false, error: expect.any(String) });
  });

  it('takes any length up to the limit, and 60 levels of parentheses', () => {
    expect(valueOfText(`0${'+1'.repeat(1_900)}`)).toBe(1_900);
    expect(valueOfText(`${'('.repeat(60)}a${')'.repeat(60)}`)).toBe(0.5);
  });

  it('names its variables', () => {
    const parsed = parseFormula('min(a, b) + a ^ constructor');
    expect(parsed.ok && variablesOf(parsed.value)).toEqual(['a', 'b', 'a', 'constructor']);
  });
});
