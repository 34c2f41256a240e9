/**
 * Python's reading of text where it decides a number of the reference: white space of `str.strip` and `\s`, and the
 * grammar of `float`. ECMAScript differs: it trims U+FEFF, keeps U+001C to U+001F and U+0085, and parses `0x10` and the
 * empty text.
 */

/** White space of Python's `str.strip` and, in texts, of `\s`. */
export function isPythonSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x1f);
  if (code < 0x1680) return code === 0x85 || code === 0xa0;
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** `text` without white space at either edge, as `str.strip()`. */
export function strip(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isPythonSpace(text.charCodeAt(from))) from++;
  while (to > from && isPythonSpace(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

/** First position at or after `from` that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isPythonSpace(text.charCodeAt(at))) at++;
  return at;
}

const DECIMAL_UNITS = new Set('0123456789+-.eE_');

/**
 * The value of `float(text)`; `null` where it raises. Two deliberate limits: `inf`, `nan` and overflows are `null` too,
 * since a reward is finite, and only ASCII digits are read.
 */
export function pythonFloat(text: string): number | null {
  const body = strip(text);
  let digits = '';
  for (let i = 0; i < body.length; i++) {
    const unit = body.charAt(i);
    if (!DECIMAL_UNITS.has(unit)) return null;
    if (unit !== '_') digits += unit;
    else if (!isDigit(body, i - 1) || !isDigit(body, i + 1)) return null;
  }
  if (digits === '') return null;
  // For these characters the two grammars agree.
  const value = Number(digits);
  return Number.isFinite(value) ? value : null;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}
