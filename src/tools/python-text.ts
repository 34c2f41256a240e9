/**
 * Counts and trims text like Python's `str`: by code points instead of UTF-16 code units, and with Python's white
 * space. Rewards that reproduce Python code depend on both.
 */
import { isHighSurrogate, isLowSurrogate, isSpace } from '../text/characters.ts';

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
