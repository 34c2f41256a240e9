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

  constructor(expectedTokens: number, marksKinds = true) {
    this.marksKinds = marksKinds;
    this.hashes = new Int32Array(expectedTokens);
    this.starts = new Int32Array(expectedTokens);
    this.ends = new Int32Array(expectedTokens);
    this.kinds = new Uint8Array(marksKinds ? expectedTokens : 0);
    this.sentenceTokens = new Int32Array((expectedTokens >> 3) + 8);
    this.numberTokens = new Int32Array((expectedTokens >> 4) + 8);
    this.numberValues = new Float64Array((expectedTokens >> 4) + 8);
    this.numberPlaces = new Float64Array((expectedTokens >> 4) + 8);
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
  scaleLast(factor: number, start: number, end: number): boolean {
    const last = this.count - 1;
    if (last < this.first || start - (this.ends[last] ?? 0) > 1) return false;
    const isNumber = this.endsWithNumber();
    const base = isNumber
      ? (this.numberValues[this.numberCount - 1] ?? Number.NaN)
      : numberWordValue(this.hashes[last] ?? 0);
    if (!(base >= 0)) return false;
    const place = isNumber ? (this.numberPlaces[this.numberCount - 1] ?? 1) : 1;
    const value = scaled(base, factor);
    const from = this.starts[last] ?? 0;
    this.count = last;
    if (isNumber) this.numberCount--;
    this.pushNumber(value, place * factor, hashNumber(value), from, end);
    return true;
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
