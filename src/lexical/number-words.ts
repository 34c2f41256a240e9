/**
 * Numbers in English words that need more than a look at one word: twenty-one, the nineteenth, two dozen, half of,
 * three quarters of, twice, threefold. Places up to the tenth are no numbers, because they are also fractions, seconds
 * and turns: a third, thirty seconds, for the third time. A dozen, parts and turns are rough: about a dozen may be
 * eleven, and twice is no twofold.
 */
import { hashTable, lookUp, stemOf } from './token-hash.ts';
import type { TokenList } from './token-list.ts';
import { numberWordStem, numberWordValue } from './word-lists.ts';

const ORDINAL_STEMS: readonly number[] = (
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth ' +
  'sixteenth seventeenth eighteenth nineteenth twentieth'
)
  .split(' ')
  .map(stemOf);
const ORDINAL_VALUES: ReadonlyMap<number, number> = new Map(ORDINAL_STEMS.map((stem, i) => [stem, i + 1]));
const SECOND = 2;
/** The least place that is a number on its own. */
const LEAST_ORDINAL = 11;
const [A = 0, AN = 0, OF = 0, ONE = 0, HALF = 0, DOZEN = 0] = 'a an of one half dozen'.split(' ').map(stemOf);
/** Words after "half" with which it is a number; after "first" or "second" it is none. */
const AFTER_HALF = new Set([...'of the all as its their his her our'.split(' ').map(stemOf), A, AN]);
/** How many parts the whole has, by the stem of a part. */
const PARTS: ReadonlyMap<number, number> = new Map([
  ...ORDINAL_STEMS.slice(2, 10).map((stem, i) => [stem, i + 3] as const),
  [stemOf('quarter'), 4],
]);
const FOLDS = 'two three four five six seven eight nine ten'.split(' ').map((word) => stemOf(`${word}fold`));
const TURNS: ReadonlyMap<number, number> = new Map([
  ...FOLDS.map((stem, i) => [stem, i + 2] as const),
  [stemOf('twice'), 2],
  [stemOf('thrice'), 3],
]);
/** Numbers below it are also pronouns and articles ("one"). */
const LEAST_NUMBER = 2;

/** The stems of words that a number in words begins with: most words of a text are none. */
const FIRST_WORDS = hashTable(
  [
    ...Array.from({ length: 98 }, (_, i) => numberWordStem(LEAST_NUMBER + i)).filter((stem) => stem !== 0),
    ...ORDINAL_STEMS.slice(LEAST_ORDINAL - 1),
    ...TURNS.keys(),
    ...PARTS.keys(),
    ...[HALF, DOZEN],
  ].map((stem) => [stem, 1] as const),
);

/** Whether a word may say a number or be the first of those that do: most words may not. */
export function mayBeNumber(stem: number): boolean {
  return lookUp(FIRST_WORDS, stem) !== 0 || numberWordValue(stem) >= 0;
}

/** A number in words. */
export type SpelledNumber = {
  readonly value: number;
  /** Whether it counts places, as "nineteenth" does. */
  readonly ordinal: boolean;
  /** Its tokens, from the one that it begins at. */
  readonly tokens: number;
  /** Whether it denies no other number: a dozen, half of, twice. */
  readonly isRough: boolean;
};

/**
 * Returns the number that begins at a token, or `null`; that of "a third of" begins at "third". Only a hyphen joins two
 * words: "twenty one" may be twenty of one thing, as in "fifty two-bedroom flats".
 * @param text what the tokens were read from. @param offset subtracted from an offset of a token to get one into `text`.
 */
export function spelledNumber(list: TokenList, token: number, text: string): SpelledNumber | null {
  const { hashes, starts, ends, count } = list;
  const hash = hashes[token] ?? 0;
  if (lookUp(FIRST_WORDS, hash) === 0) return null;
  const value = numberWordValue(hash);
  const end = ends[token] ?? 0;
  const isBeforeWord = token + 1 < count && starts[token + 1] === end + 1 && joins(text, end);
  const next = isBeforeWord ? (hashes[token + 1] ?? 0) : 0;
  if (value >= 20 && value < 100 && next !== 0 && text.charAt(end) === '-') {
    const place = ORDINAL_VALUES.get(next) ?? 0;
    const more = place > 0 ? place : numberWordValue(next);
    if (place !== SECOND && more >= 1 && more <= 9)
      return { value: value + more, ordinal: place > 0, tokens: 2, isRough: false };
  }
  if (value >= LEAST_NUMBER) {
    const isDozens = next === DOZEN && isSingular(text, ends[token + 1] ?? 0);
    return { value: isDozens ? value * 12 : value, ordinal: false, tokens: isDozens ? 2 : 1, isRough: false };
  }
  if (value >= 0) return null;
  const ordinal = ORDINAL_VALUES.get(hash) ?? 0;
  if (ordinal >= LEAST_ORDINAL) return { value: ordinal, ordinal: true, tokens: 1, isRough: false };
  const turns = TURNS.get(hash);
  if (turns !== undefined) return { value: turns, ordinal: false, tokens: 1, isRough: true };
  const at = (starts[token] ?? 0) - 1;
  const before = token > 0 && ends[token - 1] === at && joins(text, at) ? (hashes[token - 1] ?? 0) : 0;
  const part = partOf(hash, before, next);
  if (part > 0) {
    const isArticle = next === A || next === AN;
    return hash === HALF && isArticle && hashes[token + 2] === DOZEN
      ? null
      : { value: part, ordinal: false, tokens: isArticle ? 2 : 1, isRough: true };
  }
  if (hash !== DOZEN || !isSingular(text, end)) return null;
  const isHalf = before === HALF || (before === A && hashes[token - 2] === HALF);
  return isHalf || before === A || before === ONE
    ? { value: isHalf ? 6 : 12, ordinal: false, tokens: 1, isRough: true }
    : null;
}

/** Whether a unit of a text joins two words to a number. */
function joins(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '-' || text[at] === '\n';
}

/** The part of a whole that a word between two others says, in (0, 1), or 0: half of, a third of, three quarters of. */
function partOf(hash: number, before: number, next: number): number {
  if (hash === HALF) return AFTER_HALF.has(next) && !ORDINAL_VALUES.has(before) ? 0.5 : 0;
  const parts = next === OF ? (PARTS.get(hash) ?? 0) : 0;
  if (parts === 0) return 0;
  const above = before === A ? 1 : numberWordValue(before);
  return above > 0 && above < parts ? above / parts : 0;
}

/** Whether a word that ends at `end` has no plural s: dozens are no number. */
function isSingular(text: string, end: number): boolean {
  return text.charAt(end - 1) !== 's';
}

/** The words that a source may have for a number in digits, besides `firstWordOf`: dozen, third, threefold. */
export function otherWordsOf(value: number, share: number, isTurns: boolean): number[] {
  const words: number[] = [];
  if (isTurns) for (const [stem, turns] of TURNS) if (turns === value) words.push(stem);
  if (value === 12 || value === 6) words.push(DOZEN);
  if (value > 12 && value <= 240 && value % 12 === 0) words.push(numberWordStem(value / 12));
  if (share === 0.5) words.push(HALF);
  else if (share > 0 && share < 1)
    for (const [stem, parts] of PARTS)
      if (Math.abs(share - Math.round(share * parts) / parts) < LEAST_PART) words.push(stem);
  return words;
}

/** Most that a part in words may differ from its percentage: 33% and a third. */
const LEAST_PART = 0.006;

/** The word that a number in digits begins with: twelve, nineteenth, the twenty of twenty-one; 0 = none. */
export function firstWordOf(value: number, isOrdinal: boolean): number {
  if (isOrdinal && value <= ORDINAL_STEMS.length) return ORDINAL_STEMS[value - 1] ?? 0;
  return numberWordStem(value > 20 && value < 100 ? value - (value % 10) : value);
}
