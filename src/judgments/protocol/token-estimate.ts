/**
 * Estimates the tokens of a text from above, because the edge has no tokenizer. Byte-level BPE (Qwen, Llama, gpt-oss)
 * makes at most one token of a UTF-8 byte, so text beyond ASCII counts by bytes: common characters need fewer, rare
 * ideographs, scripts and emoji do not. Qwen makes one token of each digit, and marks rarely merge: they count as one.
 *
 * ASCII letters and white space count as a third, or as the sum of their words if that is more. A word begins with a
 * token; letters that often follow one another join the token before them, other letters and capitals inside a word are
 * tokens of their own. Prose has few of those, so its third stands; random letters count more than twice as much.
 */
import { isAsciiLetter, isHighSurrogate, isLowSurrogate } from '../../text/characters.ts';

const PLAIN_UNITS_PER_TOKEN = 3;
/** A letter that often follows the one before it, in the first COMMON_WORD_LETTERS of a word, and after them. */
const COMMON_LETTER_TOKENS = 0.15;
const LATE_LETTER_TOKENS = 0.5;
const COMMON_WORD_LETTERS = 8;

const SPACE = 0x20;

/** The letters that follow each letter in at least 0.03 % of the letter pairs of English prose. */
const FOLLOWERS: Readonly<Record<string, string>> = {
  ...{ a: 'bcdfgiklmnprstuvy', b: 'aeijlorsuy', c: 'acehiklorstuy', d: 'adefgilorstuy', e: 'abcdefgilmnpqrstvwxy' },
  ...{ f: 'aefilortu', g: 'aeghilmnorstu', h: 'aeiortu', i: 'abcdefgklmnoprstvxz', j: 'aeosu', k: 'aeis' },
  ...{
    l: 'adeilostuy',
    m: 'abdegimopsu',
    n: 'acdefgiklnopstuvy',
    o: 'abcdefgiklmnoprstuvw',
    p: 'aeilmoprstuy',
    q: 'u',
  },
  ...{ r: 'acdefgiklmnorstuvy', s: 'acehiklmoprstuwy', t: 'acdehiloprstuwy', u: 'abcdegilmnprst', v: 'aei' },
  ...{ w: 'aehinors', x: 'acipt', y: 'nopst', z: 'e' },
};
const LETTERS = 32;
const letterOf = (code: number): number => code & (LETTERS - 1);
/** 1 at `LETTERS * first + second` for each pair of FOLLOWERS. A table is three times as fast as a set. */
const COMMON_PAIRS = new Uint8Array(LETTERS * LETTERS);
for (const [first, followers] of Object.entries(FOLLOWERS)) {
  for (const second of followers) {
    COMMON_PAIRS[LETTERS * letterOf(first.charCodeAt(0)) + letterOf(second.charCodeAt(0))] = 1;
  }
}

/** Upper estimate of the tokens of a text. */
export function estimateTokens(text: string): number {
  const count = new TokenCount();
  for (let i = 0; i < text.length; i++) count.add(text.charCodeAt(i));
  return count.tokens;
}

/** Whether a text has more than `tokens` by the same estimate. Reads no more of it than exceeds them. */
export function hasMoreTokens(text: string, tokens: number): boolean {
  const count = new TokenCount();
  for (let i = 0; i < text.length && count.tokens <= tokens; i++) count.add(text.charCodeAt(i));
  return count.tokens > tokens;
}

/** A unit has at most so many tokens. */
const MOST_TOKENS_OF_UNIT = 3;

/** Returns how many UTF-16 units of a text fit into `tokens`; never splits a surrogate pair. */
export function unitsWithin(text: string, tokens: number): number {
  const count = new TokenCount();
  /** Up to here all units fit, whatever they are: asking after each takes longer than counting it. */
  let sure = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    count.add(code);
    if (i < sure) continue;
    const left = tokens - count.tokens;
    if (left < 0) return isLowSurrogate(code) && i > 0 && isHighSurrogate(text.charCodeAt(i - 1)) ? i - 1 : i;
    sure = i + Math.floor(left / MOST_TOKENS_OF_UNIT);
  }
  return text.length;
}

/** Counts unit by unit; the count never falls. */
class TokenCount {
  /** Letters and white space. */
  #plain = 0;
  /** The tokens of their words. */
  #words = 0;
  /** The tokens of everything else. */
  #others = 0;
  #previous = 0;
  /** Letters of the word so far; 0 = none. */
  #letters = 0;

  get tokens(): number {
    return Math.max(Math.ceil(this.#plain / PLAIN_UNITS_PER_TOKEN), Math.floor(this.#words)) + this.#others;
  }

  add(code: number): void {
    if (isAsciiLetter(code)) {
      this.#plain++;
      this.#words += this.#letterTokens(code);
      this.#letters++;
    } else {
      this.#letters = 0;
      if (isAsciiSpace(code)) {
        this.#plain++;
        this.#words += this.#spaceTokens(code);
      } else this.#others += tokensOfUnit(code);
    }
    this.#previous = code;
  }

  #letterTokens(code: number): number {
    if (this.#letters === 0) return 1;
    const isCapital = code < 0x60;
    if (isCapital || COMMON_PAIRS[LETTERS * letterOf(this.#previous) + letterOf(code)] !== 1) return 1;
    return this.#letters < COMMON_WORD_LETTERS ? COMMON_LETTER_TOKENS : LATE_LETTER_TOKENS;
  }

  /** A blank joins the word after it, and equal white space one another. */
  #spaceTokens(code: number): number {
    if (code === this.#previous) return COMMON_LETTER_TOKENS;
    return code === SPACE && !isAsciiSpace(this.#previous) ? 0 : 1;
  }
}

function isAsciiSpace(code: number): boolean {
  return code === SPACE || (code >= 0x09 && code <= 0x0d);
}

/** Tokens of a unit that is not plain: its bytes in UTF-8. Each half of a surrogate pair has two of the four. */
function tokensOfUnit(code: number): number {
  if (code < 0x80) return 1;
  return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
}
