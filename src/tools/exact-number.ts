/**
 * Compares plain numbers as exact fractions, as the sandbox would: decides without a run that 0.5 is `\frac{1}{2}`.
 */

type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

/**
 * Sign, whole part or numerator, decimals, `\frac` (numerator, denominator, or two digits), denominator after a slash,
 * percent; then a degree sign or a unit.
 */
const NUMBER =
  /^([+-]?) ?([1-9]\d{0,2}(?:(?:,|\{,\}|\\,|\\!|,\\!)\d{3})+|\d{0,40})(\.\d{1,40}|)(?:\\[dtc]?frac(?:\{(\d{1,40})\}\{(\d{1,40})\}|(\d)(\d))| ?\/ ?(\d{1,40})|)( ?\\?%|)(?:\^\{?\\circ\}?| ?\\(?:text|textbf|mathrm|mbox)\{[~ a-z.]*\}|)\.?$/i;

/** `5\text{ or }` is half a list. */
const CONNECTIVE = /\{ *(?:or|and) *\}/;

/**
 * Reads `-1,234.5`, `3/4`, `\frac{3}{4}`, `2\frac{1}{2}` and `28\%` (7/25); `null` for anything else. A degree sign and a
 * unit in `\text{}` are ignored.
 */
function fractionOf(text: string): Fraction | null {
  const found = NUMBER.exec(text.replace(/\\?\$|~/g, '').trim());
  if (found === null || CONNECTIVE.test(text)) return null;
  const [, sign, whole = '', decimals = '', numerator, denominator, top = numerator, bottom = denominator, over] =
    found;
  const digits = whole.replace(/\D/g, '') + decimals.slice(1);
  const isFraction = (top ?? over) !== undefined;
  if ((digits === '' && top === undefined) || (isFraction && decimals !== '')) return null;
  // Before a fraction that is no part of one, a number is a factor; a percent sign belongs to the last number alone.
  if (top !== undefined && digits !== '' && (BigInt(top) === 0n || BigInt(top) >= BigInt(bottom ?? 0))) return null;
  const isPercent = found[9] !== '';
  if (isPercent && isFraction && digits !== '') return null;
  const divisor = isFraction ? BigInt(bottom ?? over ?? 0) : 10n ** BigInt(Math.max(0, decimals.length - 1));
  if (divisor === 0n) return null;
  const value = top === undefined ? BigInt(digits) : BigInt(digits) * divisor + BigInt(top);
  return { numerator: sign === '-' ? -value : value, denominator: isPercent ? divisor * 100n : divisor };
}

/**
 * Whether two plain numbers are equal; `null` if one of them is no plain number.
 *
 * @example
 * comparedNumbers('\\frac{1}{2}', '50\\%'); // true
 */
export function comparedNumbers(one: string, other: string): boolean | null {
  const [some, others] = [fractionOf(one), fractionOf(other)];
  if (some === null || others === null) return null;
  return some.numerator * others.denominator === others.numerator * some.denominator;
}
