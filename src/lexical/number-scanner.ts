import { isApostrophe, LETTER, unitClass } from './character-classes.ts';
import { endsWithCode } from './currencies.ts';
import { addUnit, HASH_SEED, hashNumber } from './token-hash.ts';

const COMMA = 0x2c;
const POINT = 0x2e;
const SPACE = 0x20;
/** The decimal point of British journals: 61·4. */
const MIDDLE_DOT = 0xb7;
const LETTER_M = 0x6d;
const EURO = 0x20ac;
/** Of the signs ¼, ½ and ¾, which follow one another. */
const ONE_QUARTER = 0xbc;
const QUARTERS = [0, 0.25, 0.5, 0.75];
/** Marks the hash of "1.280", which is 1280 in some languages and 1.28 in others. */
const AMBIGUOUS = 0x3c6ef372;

/**
 * Returns the hash of a number of one to three digits, a point and three more ("1.280"), by its value without the point.
 * `number-scanner.ts` cannot know which of both values is meant; a claim's language decides.
 */
export function hashAmbiguous(withoutPoint: number): number {
  return hashNumber(withoutPoint) ^ AMBIGUOUS;
}

/** Most digits that a double holds exactly. A longer number is compared digit by digit. */
const MAX_EXACT_DIGITS = 15;

/**
 * Reads one number written in digits. Thousands: "1,200", "1.200.000", "1 200", "1'200", and "1,50,000" as in India.
 * Decimals: "1.5", "1·5", "1½", and "1,5" with one or two digits and no further comma. Magnitudes: "4万", "3万5000", "5k", "$1.2m",
 * "890M", "1.2B", "4,2 M€", "$5MM". Fractions: "8 1/2", "3/4 of". ".5" is 0.5. Ordinal endings and the s of "1990s" belong to the number; sign and currency do not. Of a date with
 * points ("27.05.1937") each part is a number.
 */
export class NumberScanner {
  /** Offset of the first character after the number. */
  end = 0;
  /** NaN if the token is no number (1.2.3) or has more digits than a double holds. */
  value = 0;
  /** Hash of the value, or of the digits if the value is NaN. */
  hash = 0;
  /** Size of the last written place: 0.1 for "4.5", 1 for "1,200", 100,000 for "$1.2m". */
  place = 1;

  private digits = 0;
  private raw = 0;
  private isFraction = false;

  /** Reads the number at `at`, which must be the offset of an ASCII digit. */
  scan(text: string, at: number, limit: number): void {
    this.end = at;
    this.value = 0;
    this.place = 1;
    this.digits = 0;
    this.isFraction = false;
    this.raw = HASH_SEED;
    const isFraction = startsWithPoint(text, at);
    const first = this.readDigits(text, limit);
    const separator = !isFraction && digitAt(text, this.end + 1, limit) ? text.charCodeAt(this.end) : 0;
    let fraction = isFraction ? first : 0;
    let odd = false;
    let ambiguous = false;
    if (separator === POINT && isInPointedDate(text, at, this.end, limit)) {
      // The next part is the next number.
    } else if (separator === MIDDLE_DOT) {
      fraction = this.readGroup(text, limit);
    } else if (separator === POINT) {
      fraction = this.readGroup(text, limit);
      let regular = fraction === 3 && first <= 3;
      while (this.atGroup(text, limit, POINT)) {
        odd = true;
        fraction = 0;
        if (this.readGroup(text, limit) !== 3) regular = false;
      }
      if (regular && odd) odd = false;
      else ambiguous = regular && text.charCodeAt(at) !== 0x30;
    } else if (separator === COMMA || isGroupMark(separator) || (separator === SPACE && startsGroups(text, at))) {
      if (first <= 3 && threeDigits(text, this.end + 1, limit)) {
        const columns = separator === SPACE && hasColumn(text, this.end, limit);
        while (!columns && this.atGroup(text, limit, separator) && threeDigits(text, this.end + 1, limit))
          this.readGroup(text, limit);
        if (this.atGroup(text, limit, POINT) || (separator !== COMMA && this.atGroup(text, limit, COMMA)))
          fraction = this.readGroup(text, limit);
      } else if (separator === COMMA && isDecimalComma(text, this.end + 1, limit)) {
        fraction = this.readGroup(text, limit);
      } else if (separator === COMMA && first <= 2 && isIndianGroup(text, this.end, limit)) {
        while (this.atGroup(text, limit, COMMA)) this.readGroup(text, limit);
      }
    }
    this.end = afterOrdinal(text, this.end, limit);
    if (odd || this.digits > MAX_EXACT_DIGITS) {
      this.value = Number.NaN;
      this.hash = this.raw;
      return;
    }
    const digits = this.value;
    if (fraction === 0 && this.digits <= MAX_WHOLE_DIGITS) this.readFraction(text, limit);
    if (fraction > 0) this.value /= 10 ** fraction;
    this.place = this.isFraction ? 0.01 : 10 ** -fraction;
    const quarters = fraction === 0 && this.end < limit ? text.charCodeAt(this.end) - ONE_QUARTER + 1 : 0;
    if (quarters > 0 && quarters in QUARTERS) {
      this.end++;
      this.value += QUARTERS[quarters] ?? 0;
      this.place = 0.01;
    }
    const scaled = mayScale(text, this.end) && (this.scaleBySigns(text, limit) || this.scaleBySuffix(text, at, limit));
    this.hash = ambiguous && !scaled ? hashAmbiguous(digits) : hashNumber(this.value);
  }

  /** Adds the fraction of "8 1/2", and divides "3/4 of": other numbers with a slash are dates, scores and names. */
  private readFraction(text: string, limit: number): void {
    const mark = text.charAt(this.end);
    if (mark !== '/' && mark !== ' ' && mark !== '-') return;
    const found = (mark === '/' ? PART : MIXED).exec(text.slice(this.end, Math.min(limit, this.end + FRACTION_UNITS)));
    if (found === null) return;
    const above = mark === '/' ? this.value : Number(found[1]);
    const below = Number(found[mark === '/' ? 1 : 2]);
    if (above >= below || above === 0) return;
    this.value = (mark === '/' ? 0 : this.value) + above / below;
    this.isFraction = true;
    this.end += mark === '/' ? 1 + String(below).length : found[0].length;
  }

  /** Applies the letter of "5k", "890M", "$1.2m", "£3b" and "4,2 M€". Returns whether there was one. */
  private scaleBySuffix(text: string, at: number, limit: number): boolean {
    const { end } = this;
    if (end >= limit) return false;
    const first = text.charCodeAt(end);
    const letter = first === SPACE ? end + 1 : end;
    if (first <= LETTER_M && letter + 1 < limit && text.charCodeAt(letter + 1) === EURO) {
      const large = LETTERS_OF_AMOUNTS.get(text.charAt(letter));
      // Before €, T is a thousand in German.
      if (large === undefined || text.charAt(letter) === 'T') return false;
      this.end = letter + 1;
      this.value = scaled(this.value, large);
      this.place *= large;
      return true;
    }
    const isDouble = MILLIONS.test(text.slice(end, Math.min(limit, end + 3)));
    if (!isDouble && end + 1 < limit && unitClass(text.charCodeAt(end + 1)) === LETTER) return false;
    const letters = isAmount(text, at) ? LETTERS_OF_AMOUNTS : MAGNITUDE_LETTERS;
    const factor = isDouble && letters === MAGNITUDE_LETTERS ? undefined : letters.get(text.charAt(end));
    if (factor === undefined) return false;
    this.end += isDouble ? 2 : 1;
    this.value = scaled(this.value, factor);
    this.place *= factor;
    return true;
  }

  /** Applies the magnitudes of "4万" and "3万5000". Returns whether there was one. */
  private scaleBySigns(text: string, limit: number): boolean {
    let factor = magnitudeSign(text, this.end, limit);
    if (factor === 0) return false;
    let total = 0;
    let { value } = this;
    while (factor !== 0) {
      this.end++;
      value *= factor;
      const next = magnitudeSign(text, this.end, limit);
      // 3千万 is 3 x 1000 x 10000; 3万5000 is a sum.
      if (next === 0 && digitAt(text, this.end, limit)) {
        total += value;
        this.value = 0;
        this.readDigits(text, limit);
        value = this.value;
        factor = magnitudeSign(text, this.end, limit);
      } else factor = next;
    }
    if (this.value !== 0) this.place *= Math.max(1, (total + value) / this.value);
    this.value = total + value;
    return true;
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

/** Most digits before a fraction: what has more is a year. */
const MAX_WHOLE_DIGITS = 3;
/** Code units after a number in which a fraction is. */
const FRACTION_UNITS = 16;
/** The fraction of a mixed number, in the parts that rulers and recipes have. */
const MIXED = /^[ -](\d{1,2})\/(2|3|4|5|6|8|10|16|32|64)(?![\d/.])/;
/** The rest of a fraction that a word tells from a date. */
const PART = /^\/(\d{1,3}) (?:of(?! (?:this|last|next|that|\d))|full|inch|mile|cup|hour|pound)/;
/** After an amount: $5MM. */
const MILLIONS = /^(?:MM|mm)(?![A-Za-z])/;

/** Whether a letter or sign that may scale a number is at `at`, or after a space there: a fast test. */
function mayScale(text: string, at: number): boolean {
  const mark = text.charCodeAt(at);
  const unit = mark === SPACE ? text.charCodeAt(at + 1) : mark;
  return unit < 128 ? SCALING[unit] === 1 : unit >= FIRST_SIGN;
}

const SCALING = new Uint8Array(128);
for (const letter of 'kKmMbBtT') SCALING[letter.charCodeAt(0)] = 1;
const FIRST_SIGN = 0x4e00;

/** Whether the number at `at` follows a decimal point without a nought: .5. */
function startsWithPoint(text: string, at: number): boolean {
  return text.charCodeAt(at - 1) === POINT && (at === 1 || ' (~<>=±$€£\n'.includes(text.charAt(at - 2)));
}

function digitAt(text: string, at: number, limit: number): boolean {
  if (at >= limit) return false;
  const c = text.charCodeAt(at);
  return c >= 48 && c <= 57;
}

/** Signs of magnitude after digits, with the powers of ten. */
const MAGNITUDE_SIGNS: ReadonlyMap<number, number> = new Map(
  Object.entries({ 百: 1e2, 千: 1e3, 万: 1e4, 萬: 1e4, 億: 1e8, 亿: 1e8, 兆: 1e12 }).map(([sign, factor]) => [
    sign.charCodeAt(0),
    factor,
  ]),
);
/** Signs after 千, 百 or 兆 with which these are prefixes of a unit: 千米 is a kilometre. */
const UNITS_OF_PREFIX = '米克瓦卡伏赫帕字比升分';

/** Returns the factor of the sign at `at`, or 0 if there is none. */
function magnitudeSign(text: string, at: number, limit: number): number {
  if (at >= limit || text.charCodeAt(at) < FIRST_SIGN) return 0;
  const factor = MAGNITUDE_SIGNS.get(text.charCodeAt(at)) ?? 0;
  const isPrefix = factor !== 1e4 && factor !== 1e8 && at + 1 < limit && UNITS_OF_PREFIX.includes(text.charAt(at + 1));
  return isPrefix ? 0 : factor;
}

/** Letters of magnitude that are written against the digits: 5k, 890M, 7B. A small m is a metre unless it is money. */
const MAGNITUDE_LETTERS: ReadonlyMap<string, number> = new Map([
  ['k', 1e3],
  ['K', 1e3],
  ['M', 1e6],
  ['B', 1e9],
]);
const LETTERS_OF_AMOUNTS: ReadonlyMap<string, number> = new Map([
  ...MAGNITUDE_LETTERS,
  ['m', 1e6],
  ['b', 1e9],
  ['t', 1e12],
  ['T', 1e12],
]);
const CURRENCY_SIGNS = '$€£¥₹₩₽₺₪₴₦₱฿';

/** Returns whether the sign or code of a currency is before the number at `at`. */
function isAmount(text: string, at: number): boolean {
  if (at === 0) return false;
  const before = text.charAt(at - 1) === ' ' && at > 1 ? text.charAt(at - 2) : text.charAt(at - 1);
  return CURRENCY_SIGNS.includes(before) || endsWithCode(text, at);
}

/** Multiplies without the error of doubles: 8.2 million is 8,200,000. */
export function scaled(value: number, factor: number): number {
  const product = value * factor;
  const rounded = Math.round(product * 1e3) / 1e3;
  return Math.abs(product - rounded) <= product * 1e-12 ? rounded : product;
}

/** Returns whether the digits `text[at, end)` are part of a date with points: 27.05.1937. */
function isInPointedDate(text: string, at: number, end: number, limit: number): boolean {
  const isPair = (from: number): boolean =>
    digitAt(text, from, limit) && !digitAt(text, digitAt(text, from + 1, limit) ? from + 2 : from + 1, limit);
  const endOf = (from: number): number => (digitAt(text, from + 1, limit) ? from + 2 : from + 1);
  const isYear = (from: number): boolean =>
    (text.charCodeAt(from) === 0x31 || text.charCodeAt(from) === 0x32) &&
    threeDigits(text, from + 1, limit) &&
    !(text.charCodeAt(from + 4) === POINT && digitAt(text, from + 5, limit));
  if (end - at > 2) return false;
  const follows = (from: number): boolean => text.charCodeAt(from) === POINT && isYear(from + 1);
  if (follows(end)) return at >= 2 && text.charCodeAt(at - 1) === POINT && digitAt(text, at - 2, limit);
  return isPair(end + 1) && follows(endOf(end + 1)) && !(at >= 1 && text.charCodeAt(at - 1) === POINT);
}

/** Returns whether groups of two digits and a last one of three follow, as in 1,50,000. */
function isIndianGroup(text: string, at: number, limit: number): boolean {
  let pairs = 0;
  let from = at;
  for (; pairs < 6 && text.charCodeAt(from) === COMMA; pairs++, from += 3) {
    if (threeDigits(text, from + 1, limit))
      return pairs > 0 && !(text.charCodeAt(from + 4) === COMMA && digitAt(text, from + 5, limit));
    if (!digitAt(text, from + 1, limit) || !digitAt(text, from + 2, limit)) return false;
  }
  return false;
}

/** Returns whether "12 500" may begin at `at`: no other number stands before it, as in a row of numbers. */
function startsGroups(text: string, at: number): boolean {
  return (
    !(at >= 2 && isSpaceOrGroupMark(text.charCodeAt(at - 1)) && digitAt(text, at - 2, at)) &&
    text.charCodeAt(at) !== 0x30
  );
}

/** Returns whether a number that is no group of three digits follows the groups from `at` on, as in a row of numbers. */
function hasColumn(text: string, at: number, limit: number): boolean {
  let end = at;
  while (text.charCodeAt(end) === SPACE && threeDigits(text, end + 1, limit)) end += 4;
  return text.charCodeAt(end) === SPACE && digitAt(text, end + 1, limit);
}

function isSpaceOrGroupMark(c: number): boolean {
  return c === SPACE || isGroupMark(c);
}

/** A space that does not break, a thin one, or an apostrophe. */
function isGroupMark(c: number): boolean {
  return c === 0xa0 || c === 0x202f || c === 0x2009 || isApostrophe(c);
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
