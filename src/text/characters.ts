/**
 * Character classes for the parser and the sentence splitter. They decide what a judge is asked, which is part of
 * judgment keys, so they are fixed tables that depend on neither the ICU version nor the locale.
 */

// UTF-16 code units by name.
const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const LESS_THAN = 0x3c;
export const EQUALS = 0x3d;
export const GREATER_THAN = 0x3e;
export const SLASH = 0x2f;

const MAX_ASCII = 0x7f;

/** White space as `String.prototype.trim` defines it, so that a trimmed span equals the trimmed string. */
export function isSpace(code: number): boolean {
  if (code <= MAX_ASCII) return code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN);
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  );
}

/** A to Z, in either case. */
export function isAsciiLetter(code: number): boolean {
  const folded = code | 0x20;
  return folded >= 0x61 && folded <= 0x7a;
}

/** 0 to 9. */
export function isAsciiDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** First half of a surrogate pair, which encodes one code point above U+FFFF in two UTF-16 code units. */
export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Second half of a surrogate pair. */
export function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/**
 * A letter or digit of any script. Beyond ASCII this is every unit except white space and the punctuation and symbols
 * listed here. An unassigned code point counts as a letter, so that no text is dropped by mistake.
 */
export function isLetterOrDigit(code: number): boolean {
  if (code <= MAX_ASCII) return isAsciiLetter(code) || isAsciiDigit(code);
  if (code < 0xc0)
    return code === 0xaa || code === 0xb5 || code === 0xba || (code >= 0xb2 && code <= 0xb3) || code === 0xb9;
  if (code === 0xd7 || code === 0xf7) return false;
  if (code < 0x2000) return !isOtherScriptPunctuation(code) && code !== 0x1680;
  if (code <= 0x2bff) return code >= 0x2070 && code <= 0x209c ? true : code >= 0x2100 && code <= 0x218b;
  if (code >= 0x2e00 && code <= 0x2e7f) return false;
  if (code >= 0x3000 && code <= 0x3004) return false;
  if (code >= 0x3008 && code <= 0x3020) return false;
  if (code === 0x3030 || code === 0x303d || code === 0x30fb || code === 0x30a0) return false;
  if (code >= 0xe000 && code <= 0xf8ff) return false;
  if (code >= 0xfe10 && code <= 0xfe6f) return false;
  if (code >= 0xff01 && code <= 0xff0f) return false;
  if (code >= 0xff1a && code <= 0xff20) return false;
  if (code >= 0xff3b && code <= 0xff40) return false;
  if (code >= 0xff5b && code <= 0xff65) return false;
  return code < 0xfff0 && code !== 0xfeff;
}

/** Punctuation from U+0100 to U+1FFF that occurs between words in running text. */
function isOtherScriptPunctuation(code: number): boolean {
  switch (code) {
    case 0x37e:
    case 0x387:
    case 0x55a:
    case 0x55b:
    case 0x55c:
    case 0x55d:
    case 0x55e:
    case 0x55f:
    case 0x589:
    case 0x58a:
    case 0x5be:
    case 0x5c0:
    case 0x5c3:
    case 0x5f3:
    case 0x5f4:
    case 0x60c:
    case 0x61b:
    case 0x61f:
    case 0x66a:
    case 0x66b:
    case 0x66c:
    case 0x66d:
    case 0x6d4:
    case 0x964:
    case 0x965:
    case 0x970:
    case 0xe4f:
    case 0xe5a:
    case 0xe5b:
    case 0x104a:
    case 0x104b:
    case 0x10fb:
    case 0x17d4:
    case 0x17d5:
      return true;
    default:
      return (code >= 0xf0d && code <= 0xf11) || (code >= 0x1361 && code <= 0x1368);
  }
}

/** Returns whether `[start, end)` holds a letter or digit outside everything that looks like a tag. */
export function hasContent(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === LESS_THAN && isTagLike(text, i)) {
      const close = indexOfTagEnd(text, i + 1, end);
      if (close !== -1) i = close;
      else if (isLetterOrDigit(code)) return true;
    } else if (isLetterOrDigit(code)) return true;
  }
  return false;
}

/** Returns whether a letter or slash follows the `<` at `lessThan`. Only there can a tag begin. */
export function isTagLike(text: string, lessThan: number): boolean {
  const next = text.charCodeAt(lessThan + 1);
  return next === SLASH || isAsciiLetter(next);
}

/**
 * Finds the next `>` before the next tag-like `<`, or -1. No search crosses another tag, so the total time is linear.
 */
function indexOfTagEnd(text: string, from: number, end: number): number {
  for (let i = from; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === GREATER_THAN) return i;
    if (code === LESS_THAN && isTagLike(text, i)) return -1;
  }
  return -1;
}

/** A lower-case letter of Latin, Greek, Cyrillic or Armenian. */
export function isLowercase(code: number): boolean {
  if (code <= MAX_ASCII) return code >= 0x61 && code <= 0x7a;
  if (code >= 0xdf && code <= 0xff) return code !== 0xf7;
  // Latin Extended-A alternates: capitals are even and small letters odd, except in two runs with the reverse order.
  if (code >= 0x100 && code <= 0x17f) {
    const small = (code >= 0x139 && code <= 0x148) || (code >= 0x179 && code <= 0x17e) ? 0 : 1;
    return (code & 1) === small;
  }
  if (code >= 0x1e00 && code <= 0x1eff) return (code & 1) === 1;
  if (code >= 0x3ac && code <= 0x3ce) return true;
  if (code >= 0x430 && code <= 0x45f) return true;
  return code >= 0x561 && code <= 0x587;
}
