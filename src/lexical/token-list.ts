import { isAsciiDigit } from '../text/characters.ts';
import { scaled } from './number-scanner.ts';
import { hashNumber, stemOf } from './token-hash.ts';
import { numberWordValue } from './word-lists.ts';

// Bits of a token's kind.
export const NUMBER = 1;
/** The first unit is upper-case. */
export const CAPITALISED = 2;
/** Two or more units, none lower-case. Set in claims only. */
export const ACRONYM = 4;
/** A function word. Set in claims only. */
export const STOP = 8;

export const PERCENT = stemOf('percent');
const PER = stemOf('per');
const AND = stemOf('and');
const AT = stemOf('at');
/** Behind a number that begins another word: three hundred two-bedroom flats. */
const HYPHENED = /^-(?!one|two|three|four|five|six|seven|eight|nine)/;
/** Behind a number of its own: one million ten years ago. */
const AGO = /^\S* \w+ (?:ago|earlier|later|before|after)/;
const AGO_UNITS = 32;
const MILLION = 1e6;
const A = stemOf('a');
const HALF = stemOf('half');
/** Between the digits of a number in words. */
export const POINT = stemOf('point');
/** Tokens that a look ahead may go beyond the last one. */
const LOOKED_AHEAD = 2;
/** A word, " point " between it and the next. */
const POINT_UNITS = ' point '.length;
export const CENT = stemOf('cent');

/**
 * Tokens of one or more texts, in parallel typed arrays that grow by doubling. A token has a stemmed hash, offsets and
 * a kind. A number is one token with a value ("1.2 million" is 1,200,000). `sentenceTokens` holds the first token of
 * each sentence; sentence borders are approximate.
 */
export class TokenList {
  count = 0;
  /** First token of the text that is being read. No look-back goes beyond it. */
  first = 0;
  hashes: Int32Array;
  starts: Int32Array;
  ends: Int32Array;
  /** Empty if `marksKinds` is false. */
  kinds: Uint8Array;
  sentenceCount = 0;
  sentenceTokens: Int32Array;
  numberCount = 0;
  numberTokens: Int32Array;
  numberValues: Float64Array;
  /** The size of the last written place of each number. */
  numberPlaces: Float64Array;
  /** Whether tokens have kinds. Claims need them; sources do not. */
  readonly marksKinds: boolean;

  constructor(tokens: number, marksKinds = true) {
    this.marksKinds = marksKinds;
    const sentences = (tokens >> 3) + 8;
    const numbers = (tokens >> 4) + 8;
    // One buffer for all arrays: V8 needs 0.7 µs for each, however small.
    const buffer = new ArrayBuffer(16 * numbers + 4 * (3 * tokens + sentences + numbers) + (marksKinds ? tokens : 0));
    let at = 16 * numbers;
    const integers = (count: number): Int32Array => {
      at += 4 * count;
      return new Int32Array(buffer, at - 4 * count, count);
    };
    this.numberValues = new Float64Array(buffer, 0, numbers);
    this.numberPlaces = new Float64Array(buffer, 8 * numbers, numbers);
    this.hashes = integers(tokens);
    this.starts = integers(tokens);
    this.ends = integers(tokens);
    this.sentenceTokens = integers(sentences);
    this.numberTokens = integers(numbers);
    this.kinds = new Uint8Array(buffer, at);
  }

  clear(): void {
    this.count = 0;
    this.sentenceCount = 0;
    this.numberCount = 0;
  }

  /**
   * Makes room for tokens and returns the limit of the indices to write, which is at most `latest` unless that is past.
   */
  reserve(latest: number): number {
    if (this.count + 2 >= this.hashes.length) this.grow();
    return Math.min(this.hashes.length - 1, Math.max(latest, this.count + 1));
  }

  push(hash: number, start: number, end: number, kind: number): void {
    const n = this.count;
    if (n === this.hashes.length) this.grow();
    this.hashes[n] = hash;
    this.starts[n] = start;
    this.ends[n] = end;
    if (this.marksKinds) this.kinds[n] = kind;
    this.count = n + 1;
  }

  pushNumber(value: number, place: number, hash: number, start: number, end: number): void {
    const n = this.numberCount;
    if (n === this.numberTokens.length) {
      this.numberTokens = grown(this.numberTokens, new Int32Array(n * 2));
      this.numberValues = grown(this.numberValues, new Float64Array(n * 2));
      this.numberPlaces = grown(this.numberPlaces, new Float64Array(n * 2));
    }
    this.numberTokens[n] = this.count;
    this.numberValues[n] = value;
    this.numberPlaces[n] = place;
    this.numberCount = n + 1;
    this.push(hash, start, end, NUMBER);
  }

  startSentence(): void {
    if (this.sentenceCount === this.sentenceTokens.length) {
      this.sentenceTokens = grown(this.sentenceTokens, new Int32Array(this.sentenceTokens.length * 2));
    }
    this.sentenceTokens[this.sentenceCount++] = this.count;
  }

  /**
   * Multiplies the last token by a magnitude word after it ("1.2 million"). Returns false if it is not an adjacent
   * number.
   */
  scaleLast(factor: number, text: string, start: number, end: number): boolean {
    const last = this.count - 1;
    if (last < this.first || start - (this.ends[last] ?? 0) > 1) return false;
    const isNumber = this.endsWithNumber();
    const base = isNumber
      ? (this.numberValues[this.numberCount - 1] ?? Number.NaN)
      : numberWordValue(this.hashes[last] ?? 0);
    if (this.hashes[last] === A && last > this.first && this.hashes[last - 1] === HALF) {
      this.replaceLast(2, factor / 2, factor / 5, end);
      return true;
    }
    if (!(base >= 0)) return false;
    const place = isNumber ? (this.numberPlaces[this.numberCount - 1] ?? 1) : 1;
    // Of two thousand three, only the three are hundreds.
    const isWords = !isAsciiDigit(text.charCodeAt(this.starts[last] ?? 0));
    const low = (isWords && base % (factor === 100 ? 1000 : factor * 1000)) || base;
    this.replaceLast(1, base - low + scaled(low, factor), place * factor, end);
    return true;
  }

  /**
   * Adds a number word to the number in words before it: the twenty of "two hundred and twenty", the two of "one point
   * two". Returns false if there is none.
   * @param mayFollowAnd whether an "and" between both joins them.
   */
  joinWord(value: number, text: string, start: number, end: number, mayFollowAnd: boolean): boolean {
    let last = this.count - 1;
    if (last < this.first || start - (this.ends[last] ?? 0) > 1) return false;
    const between = this.hashes[last];
    if (HYPHENED.test(text.slice(end, end + 6))) return false;
    if (between === POINT && value < 10 && last > this.first && start - (this.ends[last - 1] ?? 0) === POINT_UNITS) {
      // "At one point two trains left."
      const whole = this.hashes[last - 2] === AT ? -1 : numberWordValue(this.hashes[last - 1] ?? 0);
      if (whole >= 0) this.replaceLast(2, whole + value / 10, 0.1, end);
      return whole >= 0;
    }
    const isAfterAnd = between === AND;
    if (isAfterAnd && (--last < this.first || (this.starts[last + 1] ?? 0) - (this.ends[last] ?? 0) > 1)) return false;
    const number = this.numberOf(last);
    if (number < 0 || number !== this.numberCount - 1 || isAsciiDigit(text.charCodeAt(this.starts[last] ?? 0)))
      return false;
    const before = this.numberValues[number] ?? Number.NaN;
    if (before >= MILLION && AGO.test(text.slice(end, end + AGO_UNITS))) return false;
    const place = this.numberPlaces[number] ?? 1;
    if (place < 1 && !isAfterAnd && value < 10) {
      this.replaceLast(1, before + (value * place) / 10, place / 10, end);
      return true;
    }
    const room = before % 100 === 0 ? 100 : before % 10 === 0 && before % 100 > 10 ? 10 : 0;
    // One million ten may be two numbers.
    if (before >= MILLION && !isAfterAnd && mayFollowAnd && text.charAt(end) !== '-') return false;
    if (value >= room || value === 0 || (isAfterAnd && (!mayFollowAnd || room < 100 || value === 1))) return false;
    this.replaceLast(isAfterAnd ? 2 : 1, before + value, 1, end);
    return true;
  }

  /** Puts a number in the place of the last tokens. */
  private replaceLast(tokens: number, value: number, place: number, end: number): void {
    this.count -= tokens;
    if (this.numberCount > 0 && (this.numberTokens[this.numberCount - 1] ?? 0) >= this.count) this.numberCount--;
    this.pushNumber(value, place, hashNumber(value), this.starts[this.count] ?? 0, end);
  }

  /** Ends a text: what an earlier one left behind its tokens is no word after its last one. */
  endText(): void {
    this.hashes.fill(0, this.count, this.count + LOOKED_AHEAD);
  }

  /** Index of the number of a token, by bisection; -1 if the token is no number. */
  numberOf(token: number): number {
    let low = 0;
    let high = this.numberCount - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.numberTokens[middle] ?? 0) < token) low = middle + 1;
      else high = middle;
    }
    return this.numberCount > 0 && this.numberTokens[low] === token ? low : -1;
  }

  /** Whether the last token of the text is a number. */
  endsWithNumber(): boolean {
    return (
      this.count > this.first && this.numberCount > 0 && this.numberTokens[this.numberCount - 1] === this.count - 1
    );
  }

  /**
   * Joins "cent" to a last token "per", so that "per cent" equals "percent". Returns false if the last token is
   * another.
   */
  joinPercent(end: number): boolean {
    const last = this.count - 1;
    if (last < this.first || this.hashes[last] !== PER) return false;
    this.hashes[last] = PERCENT;
    this.ends[last] = end;
    if (this.marksKinds) this.kinds[last] = 0;
    return true;
  }

  private grow(): void {
    const size = Math.max(64, this.hashes.length * 2);
    this.hashes = grown(this.hashes, new Int32Array(size));
    this.starts = grown(this.starts, new Int32Array(size));
    this.ends = grown(this.ends, new Int32Array(size));
    if (this.marksKinds) this.kinds = grown(this.kinds, new Uint8Array(size));
  }
}

function grown<T extends Int32Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
