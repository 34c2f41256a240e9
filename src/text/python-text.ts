/**
 * Reads text like Python: by code points instead of UTF-16 code units, with Python's white space and its grammar of
 * `float`. Rewards that reproduce Python code depend on all three.
 */
import { isAsciiDigit, isHighSurrogate, isLowSurrogate, isSpace } from './characters.ts';

const FILE_SEPARATOR = 0x1c;
const UNIT_SEPARATOR = 0x1f;
const NEXT_LINE = 0x85;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * White space of `str.isspace` and of `\s` in Python's `re`: that of ECMAScript without U+FEFF, plus U+001C to U+001F
 * and U+0085.
 */
export function isPythonSpace(code: number): boolean {
  return (
    (code >= FILE_SEPARATOR && code <= UNIT_SEPARATOR) ||
    code === NEXT_LINE ||
    (code !== BYTE_ORDER_MARK && isSpace(code))
  );
}

/** Returns the first offset from `from` on that is not white space, or the length of the text. */
export function skipPythonSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isPythonSpace(text.charCodeAt(at))) at++;
  return at;
}

/** Returns `str.strip()`. */
export function stripPythonSpace(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isPythonSpace(text.charCodeAt(from))) from++;
  while (to > from && isPythonSpace(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

/**
 * Returns the last `count` code points, or the whole text if it has fewer: Python's `text[-count:]` for a count above
 * 0.
 */
export function lastCodePoints(text: string, count: number): string {
  let start = text.length;
  for (let n = 0; n < count && start > 0; n++) {
    start--;
    if (isLowSurrogate(text.charCodeAt(start)) && isHighSurrogate(text.charCodeAt(start - 1))) start--;
  }
  return text.slice(start);
}

const DECIMAL_UNITS = new Set('0123456789+-.eE_');

/**
 * Returns the value of Python's `float(text)`, or `null` if Python raises an error. Two deliberate differences: `inf`,
 * `nan` and overflows are `null`, because a reward is finite, and only ASCII digits are read.
 */
export function pythonFloat(text: string): number | null {
  const body = stripPythonSpace(text);
  let digits = '';
  for (let i = 0; i < body.length; i++) {
    const unit = body.charAt(i);
    if (!DECIMAL_UNITS.has(unit)) return null;
    if (unit !== '_') digits += unit;
    else if (!isAsciiDigit(body.charCodeAt(i - 1)) || !isAsciiDigit(body.charCodeAt(i + 1))) return null;
  }
  if (digits === '') return null;
  // For these characters the two grammars agree.
  const value = Number(digits);
  return Number.isFinite(value) ? value : null;
}
