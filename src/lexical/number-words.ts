/**
 * Numbers in English words that need more than a look at one word: twenty-one, the nineteenth. Places up to the tenth
 * are no numbers, because they are also fractions, seconds and turns: a third, thirty seconds, for the third time.
 */
import { stemOf } from './token-hash.ts';
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
/** Numbers below it are also pronouns and articles ("one"). */
const LEAST_NUMBER = 2;

/** A number in words. */
export type SpelledNumber = {
  readonly value: number;
  /** Whether it counts places, as "nineteenth" does. */
  readonly ordinal: boolean;
  /** Its tokens, from the one that it begins at. */
  readonly tokens: number;
};

/**
 * Returns the number that begins at a token, or `null`. Only a hyphen joins two words: "twenty one" may be twenty of one
 * thing, as in "fifty two-bedroom flats".
 * @param text what the tokens were read from. @param offset subtracted from an offset of a token to get one into `text`.
 */
export function spelledNumber(
  { hashes, starts, ends, count }: TokenList,
  token: number,
  text: string,
  offset = 0,
): SpelledNumber | null {
  const hash = hashes[token] ?? 0;
  const value = numberWordValue(hash);
  const end = ends[token] ?? 0;
  const isJoined = token + 1 < count && starts[token + 1] === end + 1 && text.charAt(end - offset) === '-';
  if (value >= 20 && value < 100 && isJoined) {
    const next = hashes[token + 1] ?? 0;
    const place = ORDINAL_VALUES.get(next) ?? 0;
    const more = place > 0 ? place : numberWordValue(next);
    if (place !== SECOND && more >= 1 && more <= 9) return { value: value + more, ordinal: place > 0, tokens: 2 };
  }
  if (value >= LEAST_NUMBER) return { value, ordinal: false, tokens: 1 };
  const ordinal = value < 0 ? (ORDINAL_VALUES.get(hash) ?? 0) : 0;
  return ordinal >= LEAST_ORDINAL ? { value: ordinal, ordinal: true, tokens: 1 } : null;
}

/** The word that a number in digits begins with: twelve, nineteenth, the twenty of twenty-one; 0 = none. */
export function firstWordOf(value: number, isOrdinal: boolean): number {
  if (isOrdinal && value <= ORDINAL_STEMS.length) return ORDINAL_STEMS[value - 1] ?? 0;
  return numberWordStem(value > 20 && value < 100 ? value - (value % 10) : value);
}
