import { LETTER, unitClass } from './character-classes.ts';
import { addUnit, HASH_SEED, hashNumber } from './token-hash.ts';

const COMMA = 0x2c;
const POINT = 0x2e;
/** Most digits that a double holds exactly. A longer number is compared digit by digit. */
const MAX_EXACT_DIGITS = 15;

/**
 * Reads one number written in digits. Thousands: "1,200", "1.200.000", or "1 200" with a no-break or thin space.
 * Decimals: "1.5", and "1,5" with one or two digits and no further comma. Ordinal endings and the s of "1990s" belong
 * to the number; sign and currency do not.
 */
export class NumberScanner {
  /** Offset of the first character after the number. */
  end = 0;
  /** NaN if the token is no number (1.2.3) or has more digits than a double holds. */
  value = 0;
  /** Hash of the value, or of the digits if the value is NaN. */
  hash = 0;

  private digits = 0;
  private raw = 0;

  /** Reads the number at `at`, which must be the offset of an ASCII digit. */
  scan(text: string, at: number, limit: number): void {
    this.end = at;
    this.value = 0;
    this.digits = 0;
    this.raw = HASH_SEED;
    const first = this.readDigits(text, limit);
    const separator = digitAt(text, this.end + 1, limit) ? text.charCodeAt(this.end) : 0;
    let fraction = 0;
    let odd = false;
    if (separator === POINT) {
      fraction = this.readGroup(text, limit);
      let regular = fraction === 3 && first <= 3;
      while (this.atGroup(text, limit, POINT)) {
        odd = true;
        fraction = 0;
        if (this.readGroup(text, limit) !== 3) regular = false;
      }
      if (regular) odd = false;
    } else if (separator === COMMA || isThinSpace(separator)) {
      if (first <= 3 && threeDigits(text, this.end + 1, limit)) {
        while (this.atGroup(text, limit, separator) && threeDigits(text, this.end + 1, limit))
          this.readGroup(text, limit);
        if (this.atGroup(text, limit, POINT)) fraction = this.readGroup(text, limit);
      } else if (separator === COMMA && isDecimalComma(text, this.end + 1, limit)) {
        fraction = this.readGroup(text, limit);
      }
    }
    this.end = afterOrdinal(text, this.end, limit);
    if (odd || this.digits > MAX_EXACT_DIGITS) {
      this.value = Number.NaN;
      this.hash = this.raw;
      return;
    }
    if (fraction > 0) this.value /= 10 ** fraction;
    this.hash = hashNumber(this.value);
  }

  private atGroup(text: string, limit: number, separator: number): boolean {
    return digitAt(text, this.end + 1, limit) && text.charCodeAt(this.end) === separator;
  }

  private readGroup(text: string, limit: number): number {
    this.raw = addUnit(this.raw, POINT);
    this.end++;
    return this.readDigits(text, limit);
  }

  private readDigits(text: string, limit: number): number {
    const from = this.end;
    let { raw, value } = this;
    let i = from;
    for (; i < limit; i++) {
      const c = text.charCodeAt(i);
      if (c < 48 || c > 57) break;
      raw = addUnit(raw, c);
      value = value * 10 + (c - 48);
    }
    this.raw = raw;
    this.value = value;
    this.end = i;
    this.digits += i - from;
    return i - from;
  }
}

function digitAt(text: string, at: number, limit: number): boolean {
  if (at >= limit) return false;
  const c = text.charCodeAt(at);
  return c >= 48 && c <= 57;
}

function isThinSpace(c: number): boolean {
  return c === 0xa0 || c === 0x202f || c === 0x2009;
}

/** Returns whether exactly three digits are at `at`. */
function threeDigits(text: string, at: number, limit: number): boolean {
  return (
    digitAt(text, at, limit) &&
    digitAt(text, at + 1, limit) &&
    digitAt(text, at + 2, limit) &&
    !digitAt(text, at + 3, limit)
  );
}

/** Returns whether one or two digits are at `at` and no further comma with digits follows, as in a list. */
function isDecimalComma(text: string, at: number, limit: number): boolean {
  const end = digitAt(text, at + 1, limit) ? at + 2 : at + 1;
  if (digitAt(text, end, limit)) return false;
  return !(end < limit && text.charCodeAt(end) === COMMA && digitAt(text, end + 1, limit));
}

/** Returns the offset after an st, nd, rd, th or s at `at`, or `at` if there is none. */
function afterOrdinal(text: string, at: number, limit: number): number {
  if (at >= limit) return at;
  const first = text.charCodeAt(at) | 0x20;
  let end = first === 0x73 ? at + 1 : at;
  if (at + 1 < limit) {
    const pair = (first << 8) | (text.charCodeAt(at + 1) | 0x20);
    if (pair === 0x7374 || pair === 0x6e64 || pair === 0x7264 || pair === 0x7468) end = at + 2;
  }
  return end < limit && unitClass(text.charCodeAt(end)) === LETTER ? at : end;
}
