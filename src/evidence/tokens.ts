import { ASCII_FOLD, isApostrophe, LETTER, SEPARATOR, SINGLE, unitClass } from './character-classes.ts';
import { magnitude, numberWordValue, stemOf } from './number-words.ts';
import { NumberScanner } from './number-scanner.ts';
import { stemHash } from './stemming.ts';
import { isStopWord, LONGEST_STOP_WORD } from './stop-words.ts';
import { addUnit, dropUnit, foldToken, HASH_SEED, hashFolded, hashNumber } from './token-hash.ts';

/** Bits of a token's kind. */
export const NUMBER = 1;
/** Its first unit is upper-case. */
export const CAPITALISED = 2;
/** Two or more units, none lower-case. */
export const ACRONYM = 4;
/** A function word. */
export const STOP = 8;

/** A sentence for windows ends after this many tokens at the latest: a table or list without full stops is no sentence. */
const MAX_SENTENCE_TOKENS = 80;
/** "Dr.", "Jan.", "Inc.": a capitalised word this short before a full stop does not end a sentence. */
const MAX_ABBREVIATION_UNITS = 3;

const PERCENT = stemOf('percent');
const PER = stemOf('per');
const CENT = stemOf('cent');

// What lies between two tokens, as bits.
const SAW_POINT = 1;
const SAW_STOP = 2;
const SAW_NEWLINE = 4;
const SAW_BLANK_LINE = 8;

/**
 * Tokens of one or more texts, in parallel typed arrays that grow by doubling. A token is its stemmed hash, its offsets and its kind; a
 * number is one token with its value ("1.2 million" = 1,200,000). `sentenceTokens` holds the first token of each rough sentence.
 */
export class TokenList {
  count = 0;
  hashes: Int32Array;
  starts: Int32Array;
  ends: Int32Array;
  kinds: Uint8Array;
  sentenceCount = 0;
  sentenceTokens: Int32Array;
  numberCount = 0;
  numberTokens: Int32Array;
  numberValues: Float64Array;
  /** First token of the text being read: nothing before it is looked back at. */
  private first = 0;
  private readonly number = new NumberScanner();

  constructor(expectedTokens: number) {
    this.hashes = new Int32Array(expectedTokens);
    this.starts = new Int32Array(expectedTokens);
    this.ends = new Int32Array(expectedTokens);
    this.kinds = new Uint8Array(expectedTokens);
    this.sentenceTokens = new Int32Array((expectedTokens >> 3) + 8);
    this.numberTokens = new Int32Array((expectedTokens >> 4) + 8);
    this.numberValues = new Float64Array((expectedTokens >> 4) + 8);
  }

  clear(): void {
    this.count = 0;
    this.sentenceCount = 0;
    this.numberCount = 0;
  }

  /** Appends the tokens of text[from, to). One pass; the text is not copied unless a token holds units beyond ASCII. */
  append(text: string, from: number, to: number): void {
    const first = this.count;
    this.first = first;
    let i = from;
    let between = 0;
    let newLine = true;
    while (i < to) {
      const c = text.charCodeAt(i);
      const folded = c < 128 ? (ASCII_FOLD[c] ?? 0) : 0;
      if (folded === 0) {
        const unit = c < 128 ? SEPARATOR : unitClass(c);
        if (unit === SEPARATOR) {
          if (c === 0x20) {
            i++;
            continue;
          }
          if (c === 0x0a) {
            between |= newLine ? SAW_NEWLINE | SAW_BLANK_LINE : SAW_NEWLINE;
            newLine = true;
          } else if (c === 0x2e) {
            between |= SAW_POINT;
          } else if (c === 0x21 || c === 0x3f || c === 0x3002 || c === 0xff01 || c === 0xff1f || c === 0x0964) {
            between |= SAW_STOP;
          } else if (c === 0x25) {
            if (this.count === first) this.startSentence();
            this.push(PERCENT, i, i + 1, 0);
          }
          i++;
          continue;
        }
      }
      if (this.count === first) this.startSentence();
      else if (between !== 0 && this.endsSentence(text, between, i, c)) this.startSentence();
      else if (this.count - (this.sentenceTokens[this.sentenceCount - 1] ?? 0) >= MAX_SENTENCE_TOKENS) this.startSentence();
      between = 0;
      newLine = false;
      if (folded >= 97) i = this.word(text, i, to);
      else if (folded !== 0) i = this.digits(text, i, to);
      else if (unitClass(c) === SINGLE) {
        this.push(addUnit(HASH_SEED, c), i, i + 1, 0);
        i++;
      } else i = this.word(text, i, to);
    }
  }

  private push(hash: number, start: number, end: number, kind: number): void {
    const n = this.count;
    if (n === this.hashes.length) this.grow();
    this.hashes[n] = hash;
    this.starts[n] = start;
    this.ends[n] = end;
    this.kinds[n] = kind;
    this.count = n + 1;
  }

  private grow(): void {
    const size = Math.max(64, this.hashes.length * 2);
    this.hashes = grown(this.hashes, new Int32Array(size));
    this.starts = grown(this.starts, new Int32Array(size));
    this.ends = grown(this.ends, new Int32Array(size));
    this.kinds = grown(this.kinds, new Uint8Array(size));
  }

  private startSentence(): void {
    if (this.sentenceCount === this.sentenceTokens.length) {
      this.sentenceTokens = grown(this.sentenceTokens, new Int32Array(this.sentenceTokens.length * 2));
    }
    this.sentenceTokens[this.sentenceCount++] = this.count;
  }

  /** Whether what lies between the last token and the one at `at` (first unit `c`) ends a sentence; rough, for windows only. */
  private endsSentence(text: string, between: number, at: number, c: number): boolean {
    if ((between & (SAW_STOP | SAW_BLANK_LINE)) !== 0) return true;
    const lowerCase = c >= 97 && c <= 122;
    if ((between & SAW_NEWLINE) !== 0) return !lowerCase || (between & SAW_POINT) !== 0;
    if (lowerCase || text.charCodeAt(at - 1) === 0x2e) return false;
    const last = this.count - 1;
    const start = this.starts[last] ?? 0;
    const units = (this.ends[last] ?? 0) - start;
    return units > MAX_ABBREVIATION_UNITS || ((this.kinds[last] ?? 0) & CAPITALISED) === 0;
  }

  /** One word from its first unit; returns the offset after it. */
  private word(text: string, start: number, to: number): number {
    let h = HASH_SEED;
    let i = start;
    let lowerCase = 0;
    let beyondAscii = false;
    let apostrophe = -1;
    let dotted = false;
    for (; i < to; i++) {
      const c = text.charCodeAt(i);
      if (c < 128) {
        const folded = ASCII_FOLD[c] ?? 0;
        if (folded !== 0) {
          h = (Math.imul(h, 0x01000193) + folded) | 0;
          if (c >= 97) lowerCase++;
          continue;
        }
        if (c === 0x2e && (dotted || i === start + 1) && isInitial(text, i + 1, to)) {
          dotted = true;
          continue;
        }
      }
      if (isApostrophe(c) && i + 1 < to && unitClass(text.charCodeAt(i + 1)) === LETTER) {
        apostrophe = i;
        continue;
      }
      if (c < 128 || unitClass(c) !== LETTER) break;
      beyondAscii = true;
    }
    const c0 = text.charCodeAt(start);
    let kind = c0 >= 65 && c0 <= 90 ? CAPITALISED : 0;
    if (beyondAscii) return this.foldedWord(text, start, i, to);
    const units = i - start;
    if (kind !== 0 && lowerCase === 0 && units > 1) kind |= ACRONYM;
    if (units <= LONGEST_STOP_WORD && isStopWord(h)) kind |= STOP;
    if (units >= 7 && this.count > this.first) {
      const factor = magnitude(h);
      if (factor !== 0 && this.scaleLast(factor, start, i)) return i;
    }
    if (apostrophe < 0) {
      if (!dotted) h = stemHash(text, start, i, h);
      if (h === CENT && this.count > this.first && this.hashes[this.count - 1] === PER) {
        this.hashes[this.count - 1] = PERCENT;
        this.ends[this.count - 1] = i;
        this.kinds[this.count - 1] = 0;
        return i;
      }
    } else if (apostrophe === i - 2 && (text.charCodeAt(i - 1) | 0x20) === 0x73) {
      h = stemHash(text, start, apostrophe, dropUnit(h, 0x73));
    }
    this.push(h, start, i, kind);
    return i;
  }

  /** A word with units beyond ASCII: folded by slice, one short copy. */
  private foldedWord(text: string, start: number, end: number, to: number): number {
    const token = text.slice(start, end);
    const folded = foldToken(token);
    const c = folded.charCodeAt(0);
    if (c >= 48 && c <= 57 && folded.length === token.length) {
      // Full-width digits.
      this.number.scan(folded, 0, folded.length);
      if (this.number.end === folded.length) {
        this.pushNumber(this.number.value, this.number.hash, start, end);
        return end;
      }
    }
    let kind = 0;
    const initial = token.slice(0, 1);
    if (initial !== initial.toLowerCase()) kind = token === token.toUpperCase() && token.length > 1 ? CAPITALISED | ACRONYM : CAPITALISED;
    const raw = hashFolded(folded);
    if (end - start <= LONGEST_STOP_WORD && isStopWord(raw)) kind |= STOP;
    this.push(stemFolded(folded, raw), start, end, kind);
    return Math.min(end, to);
  }

  private digits(text: string, start: number, to: number): number {
    const number = this.number;
    number.scan(text, start, to);
    this.pushNumber(number.value, number.hash, start, number.end);
    return number.end;
  }

  private pushNumber(value: number, hash: number, start: number, end: number): void {
    const n = this.numberCount;
    if (n === this.numberTokens.length) {
      this.numberTokens = grown(this.numberTokens, new Int32Array(n * 2));
      this.numberValues = grown(this.numberValues, new Float64Array(n * 2));
    }
    this.numberTokens[n] = this.count;
    this.numberValues[n] = value;
    this.numberCount = n + 1;
    this.push(hash, start, end, NUMBER);
  }

  /** "1.2 million", "twelve hundred": the token before a magnitude word becomes their product. */
  private scaleLast(factor: number, start: number, end: number): boolean {
    const last = this.count - 1;
    if (start - (this.ends[last] ?? 0) > 1) return false;
    const isNumber = ((this.kinds[last] ?? 0) & NUMBER) !== 0;
    const base = isNumber ? (this.numberValues[this.numberCount - 1] ?? Number.NaN) : numberWordValue(this.hashes[last] ?? 0);
    if (!(base >= 0)) return false;
    const value = base * factor;
    const from = this.starts[last] ?? 0;
    this.count = last;
    if (isNumber) this.numberCount--;
    this.pushNumber(value, hashNumber(value), from, end);
    return true;
  }
}

/** A single letter that stands for a word: followed by a full stop or by nothing of a word (U.S., U.S.A). */
function isInitial(text: string, at: number, to: number): boolean {
  if (at >= to) return false;
  const c = text.charCodeAt(at);
  if (c < 65 || (c > 90 && c < 97) || c > 122) return false;
  return at + 1 >= to || unitClass(text.charCodeAt(at + 1)) === SEPARATOR;
}

/** Accented Latin words take the same endings as plain ones; other scripts are left as they are. */
function stemFolded(folded: string, hash: number): number {
  for (let i = 0; i < folded.length; i++) if (folded.charCodeAt(i) > 127) return hash;
  return stemHash(folded, 0, folded.length, hash);
}

function grown<T extends Int32Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
