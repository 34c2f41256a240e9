/**
 * Respells a mathematical answer and its reference for the comparison in the sandbox, which reads LaTeX: vulgar fractions
 * (½), mixed numbers (11 5/6), grouped digits and currency (\$18 000), units, percent, ratios, `\text{Yes}`, an equation
 * beside a value, and an inequality beside an interval. Any other text stays as it is, so that its judgment keeps its
 * key. The reading agrees with Math-Verify's tests; where several readings are usual, the cases are in
 * test/unit/tools/math-spelling.test.ts.
 */
import { comparedNumbers } from './exact-number.ts';

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

/** Returns both texts as the sandbox reads them. */
export function respelled({ answer, reference }: MathPair): MathPair {
  if (answer.length > MAX_CHARS || reference.length > MAX_CHARS) return { answer, reference };
  const [one, other] = [spelled(valueBeside(answer, reference)), spelled(valueBeside(reference, answer))];
  if (areSameWords(one, other)) return { answer: other, reference: other };
  if (isIntervals(one)) return { answer: one, reference: asIntervals(other) ?? other };
  if (isIntervals(other)) return { answer: asIntervals(one) ?? one, reference: other };
  return isPercentOf(one, other) || isPercentOf(other, one)
    ? { answer: one.replace(PERCENT, ''), reference: other.replace(PERCENT, '') }
    : { answer: one, reference: other };
}

/** A whole answer that is a mixed number: sign, whole, numerator, denominator, percent. */
const MIXED =
  /^([+-]?)(\d{1,3}(?: \d{3}){1,3}|\d{1,15}) {1,3}(\d{1,9})\/(\d{1,9})( ?(?:\\?%|percent|percentage|pct))?$/;

/** A number with what the sandbox does not read: currency, digits grouped by spaces, a unit or percent in words. */
const AMOUNT =
  /^([+-]?)(?:\\?\$|[€£]|) ?([1-9]\d{0,2}(?:(?:,|\{,\}|,?\\[,!] ?| )\d{3}){1,4}|\d{0,15})(\.\d{1,15}|) ?(?:(\\?%|percent|percentage|pct)|\\?\$|[€£]|[cdkm]m|[km]g|(?:mile|day|year|hour|minute|second|meter|metre|point|unit|degree|dollar|cent)s?|inches|feet|mph|[ck]?m[²³]|)$/;
const UNREAD = /[€£a-z²³]|\d\D* \d/;

/** A ratio of whole numbers. `2:05` is a time. */
const RATIO = /^(\d{1,9}) ?: ?([1-9]\d{0,8})$/;

function spelled(text: string): string {
  const bare = text.trim();
  const mixed = MIXED.exec(bare);
  if (mixed !== null) return spelledMixed(mixed) ?? text;
  const amount = UNREAD.test(bare) ? AMOUNT.exec(bare) : null;
  if (amount !== null) {
    const [, sign = '', whole = '', decimals = '', percent] = amount;
    const digits = whole.replace(/\D/g, '') + decimals;
    return digits === '' ? text : `${sign}${digits}${percent === undefined ? '' : '\\%'}`;
  }
  return text
    .replace(RATIO, '$1/$2')
    .replace(VULGAR_SIGN, (sign) => VULGAR.get(sign) ?? sign)
    .replace(/(\\(?:text|textbf|mathrm|mbox)\{[~ a-z.]*\})\^\{?[23]\}?$/i, '$1')
    .replace(/\\mathrm\{([ei])\}/g, '$1 ')
    .replace('\\mathbb{R}', '(-\\infty, \\infty)');
}

function spelledMixed([, sign, whole = '', numerator = '', denominator = '', percent]: RegExpExecArray): string | null {
  const [top, bottom] = [Number(numerator), Number(denominator)];
  // No mixed number: 11 7/6, 4 4/0. The sandbox reads no product of two numbers either, so it equals nothing.
  if (top >= bottom) return null;
  const digits = whole.replaceAll(' ', '').replace(/^0+(?=\d)/, '');
  const minus = sign === '-' ? '-' : '';
  // A percent sign after a mixed number belongs to all of it.
  if (percent !== undefined) {
    return `${minus}\\frac{${BigInt(digits) * BigInt(bottom) + BigInt(top)}}{${bottom}}\\%`;
  }
  const fraction = top === 0 ? '' : `\\frac{${top}}{${bottom}}`;
  return `${minus}${digits === '0' && fraction !== '' ? fraction : digits + fraction}`;
}

const PERCENT = /\\?%$/;

/** 28% beside 28: the question asked for a percentage. Beside 0.28 it is a fraction. */
function isPercentOf(percentage: string, other: string): boolean {
  return PERCENT.test(percentage) && comparedNumbers(percentage.replace(PERCENT, ''), other) === true;
}

const WORDS = /^(\\(?:text|textbf|mathrm|mbox)\{|) *\(?([a-z]+(?: [a-z]+){0,2})\)? *\}?\.?$/i;

/** The words that are a whole answer: `\text{Yes}`, `(C)`; `null` for anything else. */
function wordsOf(text: string): { readonly isText: boolean; readonly words: string } | null {
  const [, command, words] = WORDS.exec(text.trim()) ?? [];
  return words === undefined ? null : { isText: command !== '', words };
}

/** Words of more than three letters that the sandbox reads as a symbol, a number or a function. */
const SYMBOL_NAME =
  /^(?:(?:var)?(?:alpha|beta|gamma|delta|epsilon|zeta|theta|iota|kappa|lambda|sigma|upsilon|omega|phi)|[a-z]{0,3}(?:sin|cos|tan)h?|sqrt|infinity)$/i;

/**
 * Whether two answers in words are the same; `null` if one of them is no words, or if the sandbox may read the reference
 * as an expression: as a function, or as a product of few letters.
 */
export function comparedWords(answer: string, reference: string): boolean | null {
  const [some, others] = [wordsOf(answer), wordsOf(reference)];
  if (some === null || others === null) return null;
  if (areSameWords(answer, reference)) return true;
  return others.words.split(' ').some((word) => word.length > 3 && !SYMBOL_NAME.test(word)) ? false : null;
}

/** Whether both are the same words. Few letters without `\text` may be symbols, so their case counts. */
function areSameWords(one: string, other: string): boolean {
  const [some, others] = [wordsOf(one), wordsOf(other)];
  if (some === null || others === null) return false;
  if (!some.isText && !others.isText && some.words.length < 4) return some.words === others.words;
  return some.words.toLowerCase() === others.words.toLowerCase();
}

const VARIABLE = /^(?:[a-z]|\\(?!pi$|infty$)[a-z]{2,8})(?:_\{?\w{1,3}\}?)?(?:\([a-z]\))?$/i;

const isVariable = (side: string | undefined): boolean => side !== undefined && VARIABLE.test(side);

/**
 * The value of `\frac{a}{b} = 3`, `= 3`, `x \approx 3` or `x \in [1, 2]` beside a text without an equation. The sandbox
 * itself reads `x = 3`. A sum is no name: `x + y = 3` stays an equation.
 */
function valueBeside(text: string, other: string): string {
  const [exact = '', approximate] = text.split(/\\approx|≈/);
  const value = approximate !== undefined && (exact.trim() === '' || isVariable(exact.trim())) ? approximate : exact;
  const member = /^\s*(\S+)\s*(?:\\in(?![a-z])|∈)(.*)$/.exec(value);
  if (member !== null && isVariable(member[1])) return member[2] ?? '';
  const [name = '', ...sides] = value.split('=');
  const isFree = /[a-z]/i.test(name) && !/[+!-]/.test(name) && !OPERATOR.test(name) && !isVariable(name.trim());
  const hasRelation = other.includes('=') || OPERATOR.test(other);
  return !hasRelation && (isFree || name.trim() === '') ? (sides.at(-1) ?? value) : value;
}

const BRACKETED = /^(?:\\left)?[[(][^[\]()]{1,100},[^[\]()]{1,100}(?:\\right)?[\])]$/;

/** Whether the text is an interval or a union of intervals. A pair of numbers looks alike, and is no inequality. */
function isIntervals(text: string): boolean {
  return text.split(/\\cup|∪/).every((part) => BRACKETED.test(part.trim()));
}

const OPERATOR = /(\\[lg](?:eqslant|eq|e|t)(?![a-z])|[<>]=?|[≤≥])/i;

/** The intervals of the solutions of `x < 1 \text{ or } x \ge 2`; `null` for any other text. */
function asIntervals(text: string): string | null {
  const parts = text.split(/\\text\{ *or *\}| or /).map(asInterval);
  return parts.includes(null) ? null : parts.join(' \\cup ');
}

/** The interval of the solutions of `m \geq a`, `a < m` or `a < m \le b`; `null` for any other text. */
function asInterval(text: string): string | null {
  const [first = '', operator = '', middle = '', second, last, ...more] = text.split(OPERATOR).map((one) => one.trim());
  if (last === undefined) {
    if (isVariable(first) === isVariable(middle)) return null;
    return isVariable(first)
      ? halfLine(isGreater(operator), middle, operator)
      : halfLine(!isGreater(operator), first, operator);
  }
  if (second === undefined || more.length > 0 || !isVariable(middle) || isGreater(operator) !== isGreater(second))
    return null;
  if (first === '' || last === '') return null;
  return isGreater(operator) ? interval(last, second, first, operator) : interval(first, operator, last, second);
}

const isGreater = (operator: string): boolean => /[g>≥]/i.test(operator);
const isClosed = (operator: string): boolean => /[e=≤≥]/i.test(operator);

/** All numbers above or below an end. */
function halfLine(isAbove: boolean, end: string, operator: string): string | null {
  if (end === '') return null;
  return isAbove ? interval(end, operator, '\\infty', '') : interval('-\\infty', '', end, operator);
}

function interval(low: string, above: string, high: string, below: string): string {
  return `${isClosed(above) ? '[' : '('}${low}, ${high}${isClosed(below) ? ']' : ')'}`;
}
