/**
 * Respells a mathematical answer and its reference for the comparison in the sandbox, which reads LaTeX: vulgar fractions
 * (½), mixed numbers (11 5/6), and an inequality where the other side is an interval. Any other text stays as it is, so
 * that its judgment keeps its key. The reading agrees with Math-Verify's tests of mixed numbers.
 */

/** Two answers to compare. */
export type MathPair = { readonly answer: string; readonly reference: string };

const VULGAR: ReadonlyMap<string, string> = new Map(
  '½ 1/2,⅓ 1/3,⅔ 2/3,¼ 1/4,¾ 3/4,⅕ 1/5,⅖ 2/5,⅗ 3/5,⅘ 4/5,⅙ 1/6,⅚ 5/6,⅐ 1/7,⅛ 1/8,⅜ 3/8,⅝ 5/8,⅞ 7/8,⅑ 1/9,⅒ 1/10'
    .split(',')
    .map((one) => {
      const [sign = '', fraction = ''] = one.split(' ');
      const [numerator, denominator] = fraction.split('/');
      return [sign, `\\frac{${numerator}}{${denominator}}`];
    }),
);
const VULGAR_SIGN = /[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒]/g;

/** The longest text that is respelled: a boxed answer is shorter. */
const MAX_CHARS = 200;

/** A whole answer that is a mixed number: sign, whole, numerator, denominator, percent. */
const MIXED =
  /^([+-]?)(\d{1,3}(?: \d{3}){1,3}|\d{1,15}) {1,3}(\d{1,9})\/(\d{1,9})( ?(?:\\?%|percent|percentage|pct))?$/;

/** Returns both texts as the sandbox reads them. */
export function respelled({ answer, reference }: MathPair): MathPair {
  const [one, other] = [spelled(answer), spelled(reference)];
  if (isInterval(one)) return { answer: one, reference: asInterval(other) ?? other };
  if (isInterval(other)) return { answer: asInterval(one) ?? one, reference: other };
  return { answer: one, reference: other };
}

function spelled(text: string): string {
  if (text.length > MAX_CHARS) return text;
  const mixed = MIXED.exec(text.trim());
  if (mixed === null) return text.replace(VULGAR_SIGN, (sign) => VULGAR.get(sign) ?? sign);
  const [, sign = '', whole = '', numerator = '', denominator = '', percent] = mixed;
  const [top, bottom] = [Number(numerator), Number(denominator)];
  // No mixed number: 11 7/6, 4 4/0. The sandbox reads no product of two numbers either, so it equals nothing.
  if (top >= bottom) return text;
  const digits = whole.replaceAll(' ', '').replace(/^0+(?=\d)/, '');
  const minus = sign === '-' ? '-' : '';
  // A percent sign after a mixed number belongs to all of it.
  if (percent !== undefined) {
    return `${minus}\\frac{${BigInt(digits) * BigInt(bottom) + BigInt(top)}}{${bottom}}\\%`;
  }
  const fraction = top === 0 ? '' : `\\frac{${top}}{${bottom}}`;
  const value = digits === '0' && fraction !== '' ? fraction : `${digits}${fraction}`;
  return `${minus}${value}`;
}

const BRACKETED = /^(?:\\left)?[[(][^[\]()]{1,100},[^[\]()]{1,100}(?:\\right)?[\])]$/;

/** Whether the text is an interval: two ends in brackets. A pair of numbers looks alike, and is no inequality. */
function isInterval(text: string): boolean {
  return text.length <= MAX_CHARS && BRACKETED.test(text.trim());
}

const OPERATORS: readonly (readonly [spelling: string, operator: '<' | '<=' | '>' | '>='])[] = [
  ['\\leqslant', '<='],
  ['\\geqslant', '>='],
  ['\\leq', '<='],
  ['\\geq', '>='],
  ['\\le', '<='],
  ['\\ge', '>='],
  ['\\lt', '<'],
  ['\\gt', '>'],
  ['<=', '<='],
  ['>=', '>='],
  ['≤', '<='],
  ['≥', '>='],
  ['<', '<'],
  ['>', '>'],
];

type Relation = { readonly sides: readonly string[]; readonly operators: readonly string[] };

/** Splits `0 < x \le 1` at its operators. `\left` is none. */
function relationOf(text: string): Relation {
  const sides: string[] = [];
  const operators: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const found = OPERATORS.find(
      ([spelling]) =>
        text.startsWith(spelling, at) &&
        !(spelling.startsWith('\\') && /[a-z]/i.test(text.charAt(at + spelling.length))),
    );
    if (found === undefined) continue;
    sides.push(text.slice(from, at).trim());
    operators.push(found[1]);
    from = at + found[0].length;
    at = from - 1;
  }
  sides.push(text.slice(from).trim());
  return { sides, operators };
}

const isVariable = (side: string | undefined): boolean => side !== undefined && /^[a-z]$/i.test(side);

/** The interval of the solutions of `m \geq a`, `a < m` or `a < m \le b`; `null` for any other text. */
function asInterval(text: string): string | null {
  if (text.length > MAX_CHARS) return null;
  const { sides, operators } = relationOf(text);
  const [first = '', middle = '', last] = sides;
  const [operator = '', second = ''] = operators;
  if (sides.length === 2 && isVariable(first) !== isVariable(middle)) {
    const end = isVariable(first) ? middle : first;
    // `a < m` says `m > a`.
    const isAbove = operator.startsWith('>') === isVariable(first);
    const isClosed = operator.endsWith('=');
    if (end === '') return null;
    return isAbove ? `${isClosed ? '[' : '('}${end}, \\infty)` : `(-\\infty, ${end}${isClosed ? ']' : ')'}`;
  }
  if (sides.length !== 3 || !isVariable(middle) || first === '' || !last || operator[0] !== second[0]) return null;
  const ends = operator.startsWith('<') ? [first, last] : [last, first];
  const closed = operator.startsWith('<') ? [operator, second] : [second, operator];
  return `${closed[0]?.endsWith('=') ? '[' : '('}${ends.join(', ')}${closed[1]?.endsWith('=') ? ']' : ')'}`;
}
