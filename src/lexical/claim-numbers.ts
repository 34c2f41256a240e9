/** The numbers of a claim: what each is written with, and which numbers of a source say the same. */
import { isInQuarter, monthNumber, quarterAt } from './name-spellings.ts';
import { type SpelledNumber, spelledNumber } from './number-words.ts';
import {
  isInDate,
  isOrdinal,
  isSameQuantity,
  type Quantity,
  quantityOf,
  valuesInUnits,
  type WrittenNumber,
} from './quantities.ts';
import { NUMBER, type TokenList } from './token-list.ts';
import { numberWordValue } from './word-lists.ts';

// Numbers in this range are years, not rounded numbers: 1940 is not a rounded 1937.
const FIRST_YEAR = 1000;
const LAST_YEAR = 2200;
/** Numbers of a claim that are compared after rounding. A claim with more is a table. */
const MAX_ROUNDED_NUMBERS = 32;
/** Least whole number that may be rounded: a smaller one counts things. */
const LEAST_ROUNDED = 10;
/** Relative error of doubles that is no difference: 0.125 rounds to 0.13. */
const ROUNDING_ERROR = 1e-9;

/** A text with its tokens. */
type NumberText = { readonly text: string; readonly tokens: TokenList };

/** The numbers of one claim after the other. Each is read once, and compared with many of its sources. */
export class ClaimNumbers {
  readonly #tokens: TokenList;
  #text = '';
  /** The numbers by token; `null` = no number. */
  #quantities: (Quantity | null | undefined)[] = Array.from({ length: 64 });

  /** @param tokens the tokens of the claim that is loaded. */
  constructor(tokens: TokenList) {
    this.#tokens = tokens;
  }

  load(text: string): void {
    this.#text = text;
    const { count } = this.#tokens;
    if (this.#quantities.length < count) this.#quantities = Array.from({ length: count * 2 });
    else this.#quantities.fill(undefined, 0, count);
  }

  /** Whether a token of a source that equals the number at a token of the claim has its sign, currency and unit too. */
  accepts(own: number, token: number, { tokens, text }: NumberText): boolean {
    const quantity = this.quantityOf(own);
    const isDigits = tokens.numberOf(token) >= 0;
    const ownQuarter = quarterAt(this.#tokens, own);
    if (ownQuarter > 0) {
      // "In the first" may leave the quarter out.
      const after = text.charAt(tokens.ends[token] ?? 0);
      return isInQuarter(ownQuarter, tokens, token) || (!isDigits && '.,;:)'.includes(after));
    }
    if (quantity === null) {
      // The claim has the name of the month of a date.
      return !isDigits || isInDate(writtenAt(tokens, token, text));
    }
    const spelled = isDigits ? null : spelledNumber(tokens, token, text);
    const ownNumber = this.#tokens.numberOf(own);
    // The name of the month of a date, a one or a place, or a half in another sense; no dozens for 12.
    if (!isDigits && spelled === null) {
      const hash = tokens.hashes[token] ?? 0;
      if (quantity.value < 1 && hash === this.#tokens.hashes[own]) return true;
      return isOrdinal(quantity) || quantity.value === numberWordValue(hash) || monthNumber(hash) > 0;
    }
    const written = writtenAt(tokens, token, text, spelled);
    // Digits may count places without saying so: 19 May is the nineteenth. "Nineteen" does not.
    const ownSpelled = this.spelledAt(own);
    if (spelled !== null && ownSpelled !== null && spelled.ordinal !== ownSpelled.ordinal) return false;
    if (spelled?.ordinal === false && isOrdinal(quantity)) return false;
    if (ownSpelled?.ordinal === false && isDigits && isOrdinal(written)) return false;
    const most = spelled?.isRough === true && spelled.value < 1 ? (this.#tokens.numberPlaces[ownNumber] ?? 0) / 2 : 0;
    return isSameQuantity(quantity, written, most * (1 + ROUNDING_ERROR));
  }

  /** A number of the claim with what it is written with; `null` = the token is no number. */
  quantityOf(token: number): Quantity | null {
    const known = this.#quantities[token];
    if (known !== undefined) return known;
    const tokens = this.#tokens;
    const text = this.#text;
    const spelled = this.spelledAt(token);
    const isNumber = spelled !== null || ((tokens.kinds[token] ?? 0) & NUMBER) !== 0;
    const quantity = isNumber ? quantityOf(writtenAt(tokens, token, text, spelled)) : null;
    this.#quantities[token] = quantity;
    return quantity;
  }

  /**
   * Returns the test of whether a number of a source rounds to a number of the claim, which no other number equals: it
   * differs by half of its last written place at most. Noughts at the end of a whole number are no written places, except
   * of its first two digits. `null` = the number is not rounded.
   */
  roundingTo(token: number): ((number: number, source: NumberText) => boolean) | null {
    const number = this.#tokens.numberOf(token);
    const written = number < 0 || number >= MAX_ROUNDED_NUMBERS ? null : this.quantityOf(token);
    if (written === null) return null;
    const { value, unit, start } = written;
    let place = this.#tokens.numberPlaces[number] ?? 1;
    // No comma is in a year.
    const isYear =
      place === 1 && value >= FIRST_YEAR && value <= LAST_YEAR && /\d/.test(written.text.charAt(start + 1));
    if (!(value > 0) || isYear) return null;
    while (place >= 1 && value % (place * 10) === 0 && value >= place * 100) place *= 10;
    if (place === 1 && value < LEAST_ROUNDED) return null;
    const most = (place / 2) * (1 + ROUNDING_ERROR);
    const values = unit === null ? [value] : [value, ...valuesInUnits(value, unit)];
    return (n, { tokens, text }) => {
      const other = tokens.numberValues[n] ?? Number.NaN;
      if (other === value || !values.some((one) => Math.abs(other - one) <= (most / value) * one)) return false;
      return isSameQuantity(written, writtenAt(tokens, tokens.numberTokens[n] ?? 0, text), most);
    };
  }

  /** The number in words at a token; `null` = none, or it is in digits. */
  spelledAt(token: number): SpelledNumber | null {
    return ((this.#tokens.kinds[token] ?? 0) & NUMBER) === 0 ? spelledNumber(this.#tokens, token, this.#text) : null;
  }
}

/**
 * A number of a list of tokens, in the text that the list was made from.
 * @param spelled the number at the token if it is in words.
 */
function writtenAt(
  tokens: TokenList,
  token: number,
  text: string,
  spelled: SpelledNumber | null = null,
): WrittenNumber {
  return {
    text,
    start: tokens.starts[token] ?? 0,
    end: tokens.ends[token + (spelled?.tokens ?? 1) - 1] ?? 0,
    value: spelled?.value ?? tokens.numberValues[tokens.numberOf(token)] ?? Number.NaN,
  };
}
