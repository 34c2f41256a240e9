import { ClaimNumbers } from './claim-numbers.ts';
import { currencyNamed } from './currencies.ts';
import {
  hasNegationSign,
  isFunctionWord,
  type Language,
  languageBits,
  languageOf,
  mayBeName,
  negatesIn,
} from './languages.ts';
import { monthNames, monthNumber, quarterAt, quarterOf, spellingsOf } from './name-spellings.ts';
import { hashAmbiguous } from './number-scanner.ts';
import { firstWordOf, mayBeNumber, otherWordsOf } from './number-words.ts';
import {
  isFullHour,
  isInDate,
  isInName,
  isOrdinal,
  isTurns,
  otherValues,
  type Quantity,
  shareOf,
} from './quantities.ts';
import type { SourceTokens } from './source-index.ts';
import { hashNumber, hashSlot, stemOf } from './token-hash.ts';
import { ACRONYM, CAPITALISED, NUMBER, STOP, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';
import { stemsOfUnit, type Unit } from './units.ts';
import {
  isListed,
  isPersonal,
  isReversing,
  numberWordStem,
  numberWordValue,
  onlyLooksListed,
  oppositesOf,
  unprefixed,
} from './word-lists.ts';

const MAY = stemOf('may');
// Words after an hour.
const PM = stemOf('pm');
const UHR = stemOf('uhr');
/** Least slots of the hash table: most tokens of a source meet a free slot of a table that is nearly empty. */
const LEAST_SLOTS = 1024;

/**
 * The terms of a claim: its distinct content tokens, in a hash table by stem hash. Other spellings of a term ("12",
 * "twelve") lead to the same term, and its opposites lead to its negative. `load` reuses the arrays for the next claim.
 */
export class ClaimTerms {
  readonly tokens = new TokenList(64);
  /** Index of the term of each token; -1 for function words, unless the claim has nothing else. */
  termOfToken = new Int32Array(64);
  /** 1 for each token that is part of a name. */
  nameOfToken = new Uint8Array(64);
  termCount = 0;
  /** Index of the first token of each term. */
  firstToken = new Int32Array(64);
  /** Number of tokens that are not function words. */
  contentTokens = 0;
  /** Number of tokens that are function words neither of English nor of the claim's language. */
  ownContent = 0;
  /** Whether the claim contains a negation. */
  negated = false;
  /** The terms that it negates, found once for all its sources; `null` = not searched. */
  denied: readonly number[] | null = null;
  /** The language of the claim, or else of its sources; `null` = none that the judge knows. */
  language: Language | null = null;
  /** The languages of the claim and its sources, whose negations count. */
  negations = 0;
  /** 1 for each term whose places in a source must be asked for: a number in digits, or a month. */
  mayDiffer = new Uint8Array(64);
  /** 1 for each term that reverses or limits a statement. */
  reversing = new Uint8Array(64);
  private asksForPlaces = false;
  /** English word lists apply. */
  private readsEnglish = true;
  /** A point may separate thousands, as in German. */
  private pointMayGroup = false;
  /** The claim is about its writer or asks a question. */
  personal = false;
  /** The text of the claim, without marks that are no part of it. */
  text = '';
  readonly numbers = new ClaimNumbers(this.tokens);
  /** Keys and values for `putLater`, in turn. Behind the first `laterCount` are those of an earlier claim. */
  private readonly later: number[] = [];
  private laterCount = 0;
  // The hash table: `values` holds term + 1, -(term + 1) for an opposite, and 0 for a free slot.
  keys = new Int32Array(LEAST_SLOTS);
  values = new Int32Array(LEAST_SLOTS);
  mask = LEAST_SLOTS - 1;
  private keyCount = 0;
  /** Keys that fit the claim: those put later are left out beyond it. */
  private room = 0;

  /**
   * Reads a claim. Takes linear time.
   * @param sourceLanguage the language of the texts that it is compared with; `null` = unknown.
   * @param asksForPlaces whether `acceptsNumber` is asked for each place: then a term has keys that may mean it.
   */
  load(claim: string, sourceLanguage: Language | null = null, asksForPlaces = false): void {
    this.asksForPlaces = asksForPlaces;
    const tokens = this.tokens;
    tokens.clear();
    const plain = withoutMarks(claim);
    this.text = plain;
    appendTokens(tokens, plain, 0, plain.length);
    this.prepare(tokens.count);
    this.numbers.load(plain);
    const language = languageOf(tokens, 0, tokens.count, plain) ?? sourceLanguage;
    this.language = language;
    this.negations = languageBits(language, sourceLanguage);
    this.readsEnglish = language === null || language === 'en';
    this.pointMayGroup = language !== 'en' || (sourceLanguage !== null && sourceLanguage !== 'en');
    this.negated = hasNegationSign(this.negations, claim);
    let content = 0;
    let kept = 0;
    for (let i = 0; i < tokens.count; i++) {
      if (((tokens.kinds[i] ?? 0) & STOP) !== 0) continue;
      content++;
      if (!isFunctionWord(language, tokens.hashes[i] ?? 0)) kept++;
    }
    this.contentTokens = content;
    this.ownContent = kept;
    this.personal = claim.includes('?');
    const dropStops = kept > 0;
    let sentence = 0;
    /** The token after the last number. */
    let read = 0;
    for (let i = 0; i < tokens.count; i++) {
      const kind = tokens.kinds[i] ?? 0;
      const hash = tokens.hashes[i] ?? 0;
      const initial = tokens.sentenceTokens[sentence] === i;
      if (initial && sentence + 1 < tokens.sentenceCount) sentence++;
      if ((kind & STOP) !== 0 && this.readsEnglish && isPersonal(hash)) this.personal = true;
      if (this.isNegation(claim, i)) this.negated = true;
      this.nameOfToken[i] = 0;
      const isStop = ((kind & STOP) !== 0 && !this.isMay(i)) || this.isPartOfHour(i);
      if (i < read || (dropStops && (isStop || isFunctionWord(language, hash)))) {
        this.termOfToken[i] = -1;
        continue;
      }
      if ((kind & CAPITALISED) !== 0 && mayBeName(language, kind) && this.isName(claim, i, initial)) {
        this.nameOfToken[i] = 1;
      }
      const known = this.find(hash);
      if (known > 0) this.termOfToken[i] = known - 1;
      else this.addTerm(claim, i, hash, kind, i === read);
      // Terms that may differ are numbers and months.
      if (this.mayDiffer[this.termOfToken[i] ?? 0] === 1) read = i + (this.numbers.spelledAt(i)?.tokens ?? 1);
    }
    for (let i = 0; i < this.laterCount && this.keyCount < this.room; i += 2)
      this.put(this.later[i] ?? 0, this.later[i + 1] ?? 0);
    this.laterCount = 0;
  }

  /** Returns term + 1 for the stem hash of a term, -(term + 1) for that of an opposite, and 0 for any other. */
  find(hash: number): number {
    let slot = hashSlot(hash) & this.mask;
    for (;;) {
      const value = this.values[slot] ?? 0;
      if (value === 0 || this.keys[slot] === hash) return value;
      slot = (slot + 1) & this.mask;
    }
  }

  /** Whether a token of a source that equals a number of the claim has its sign, currency and unit too. */
  acceptsNumber(term: number, token: number, source: SourceTokens): boolean {
    return this.numbers.accepts(this.firstToken[term] ?? 0, token, source);
  }

  /** Whether a token of the claim negates. */
  isNegation(claim: string, token: number): boolean {
    const { hashes, starts, ends } = this.tokens;
    return negatesIn(this.negations, hashes[token] ?? 0, claim, starts[token] ?? 0, ends[token] ?? 0);
  }

  private onlyLooksListed(claim: string, token: number): boolean {
    const { hashes, starts, ends } = this.tokens;
    return onlyLooksListed(hashes[token] ?? 0, claim, starts[token] ?? 0, ends[token] ?? 0);
  }

  /** @param isCounted whether the token before is a number. */
  private addTerm(claim: string, token: number, hash: number, kind: number, isCounted: boolean): void {
    const term = this.termCount++;
    this.termOfToken[token] = term;
    this.firstToken[term] = token;
    this.reversing[term] = 0;
    this.mayDiffer[term] = kind & NUMBER;
    const value = term + 1;
    this.put(hash, value);
    if ((kind & NUMBER) !== 0) {
      const number = this.numbers.quantityOf(token);
      if (number === null) return;
      if (isInName(number)) this.nameOfToken[token] = 1;
      if (isInDate(number)) for (const month of monthNames(number.value)) this.putLater(month, value);
      this.addValues(number, value);
      this.addSpellings(number, hash, value);
      return;
    }
    if (mayBeNumber(hash)) this.addDigits(token, hash, value);
    const unit = isCounted && token > 0 ? this.unitBefore(token) : null;
    if (unit !== null) for (const name of stemsOfUnit(unit, this.asksForPlaces)) this.putLater(name, value);
    if ((kind & CAPITALISED) !== 0) for (const spelling of spellingsOf(hash)) this.put(spelling, value);
    const month = this.isBesideNumber(token) ? monthNumber(hash) : 0;
    if (month > 0) {
      this.putLater(hashNumber(month), value);
      this.mayDiffer[term] = 1;
    }
    const quarter = quarterOf(this.tokens.hashes[token - 1] ?? 0, hash, this.tokens.hashes[token + 1] ?? 0);
    if (quarter !== 0) {
      this.putLater(quarter, value);
      const place = quarterAt(this.tokens, token);
      if (place > 0 && this.asksForPlaces) {
        this.mayDiffer[term] = 1;
        this.putLater(hashNumber(place), value);
      }
    }
    if (!this.readsEnglish) return;
    if (isListed(hash) && !this.onlyLooksListed(claim, token)) {
      for (const opposite of oppositesOf(hash)) this.put(opposite, -value);
      if (isReversing(hash)) this.reversing[term] = 1;
    }
    const bare = unprefixed(claim, this.tokens.starts[token] ?? 0, this.tokens.ends[token] ?? 0);
    if (bare !== 0) this.put(bare, -value);
  }

  /** The unit that a token is of the number that ends before it. */
  private unitBefore(token: number): Unit | null {
    const before = this.numbers.quantityOf(token - 1) ?? this.numbers.quantityOf(Math.max(0, token - 2));
    return before?.unit ?? null;
  }

  /** Whether a token is the month beside a number, not the verb: 27 May 1937. */
  private isMay(token: number): boolean {
    const { kinds, hashes } = this.tokens;
    return hashes[token] === MAY && ((kinds[token] ?? 0) & CAPITALISED) !== 0 && this.isBesideNumber(token);
  }

  /** Whether a token says nothing besides the hour before it: the 00 of 17:00, the pm of 5:30 pm. */
  private isPartOfHour(token: number): boolean {
    const { kinds, hashes, starts, ends } = this.tokens;
    if (((kinds[token] ?? 0) & NUMBER) !== 0) {
      const [start, end] = [starts[token] ?? 0, ends[token] ?? 0];
      return isFullHour({ text: this.text, start, end }) && this.hasHour(token - 1);
    }
    const hash = hashes[token];
    return (hash === PM || hash === UHR) && (this.hasHour(token - 1) || this.hasHour(token - 2));
  }

  private hasHour(token: number): boolean {
    const number = token < 0 ? null : this.numbers.quantityOf(token);
    return number !== null && number.hour !== null;
  }

  /** Whether a number is the token before or after. */
  private isBesideNumber(token: number): boolean {
    const { kinds, count } = this.tokens;
    return (
      (token > 0 && ((kinds[token - 1] ?? 0) & NUMBER) !== 0) ||
      (token + 1 < count && ((kinds[token + 1] ?? 0) & NUMBER) !== 0)
    );
  }

  /** Adds the digits that say the same as a number in words. */
  private addDigits(token: number, hash: number, value: number): void {
    const quantity = this.numbers.quantityOf(token);
    const number = quantity?.value ?? numberWordValue(hash);
    if (number >= 0) this.put(hashNumber(number), value);
    if (quantity === null) return;
    this.mayDiffer[value - 1] = 1;
    if (numberWordValue(hash) < 0) this.putLater(numberWordStem(number), value);
    this.addValues(quantity, value);
  }

  /** Adds the other values of a number. */
  private addValues(quantity: Quantity, value: number): void {
    const values = otherValues(quantity, this.asksForPlaces);
    for (const other of values) this.putLater(hashNumber(other), value);
    if (!this.asksForPlaces) return;
    const share = quantity.value === 0.5 || values.includes(0.5) ? 0.5 : shareOf(quantity);
    for (const word of otherWordsOf(quantity.value, share, isTurns(quantity))) this.putLater(word, value);
  }

  /** Adds the other spellings of a number: its word, and with a point that may be a decimal point or not. */
  private addSpellings(quantity: Quantity, hash: number, value: number): void {
    const { value: number } = quantity;
    // Without a look at each place, the twenty of twenty-one is another number.
    const word = this.asksForPlaces || number <= 20 ? firstWordOf(number, isOrdinal(quantity)) : numberWordStem(number);
    if (word !== 0) this.put(word, value);
    const thousand = number * 1000;
    const isDecimal = number >= 1 && number < 1000 && Number.isInteger(thousand) && !Number.isInteger(number);
    if (hash !== hashNumber(number)) {
      // The claim itself writes "1.280".
      this.put(hashNumber(number), value);
      if (this.pointMayGroup) this.put(hashNumber(thousand), value);
    } else if (isDecimal) this.put(hashAmbiguous(thousand), value);
    else if (this.pointMayGroup && number >= 1000 && number < 1e6 && Number.isInteger(number)) {
      this.put(hashAmbiguous(number), value);
    }
  }

  /** Adds a key after those of all terms: what a term is also called must not hide another term. */
  private putLater(hash: number, value: number): void {
    this.later[this.laterCount++] = hash;
    this.later[this.laterCount++] = value;
  }

  /** Adds a key unless it exists. A term replaces an opposite of another term. */
  private put(hash: number, value: number): void {
    let slot = hashSlot(hash) & this.mask;
    for (;;) {
      const held = this.values[slot] ?? 0;
      if (held === 0) break;
      if (this.keys[slot] === hash) {
        if (held < 0 && value > 0) this.values[slot] = value;
        return;
      }
      slot = (slot + 1) & this.mask;
    }
    this.keyCount++;
    this.keys[slot] = hash;
    this.values[slot] = value;
  }

  /**
   * Marks capitalised words as names. A word that begins a sentence is a name only if it is an acronym or if another
   * capitalised word follows.
   */
  private isName(claim: string, token: number, initial: boolean): boolean {
    const { kinds, starts, ends, count } = this.tokens;
    const start = starts[token] ?? 0;
    const end = ends[token] ?? 0;
    // Of "US$5" and "USD$5" the sign is no part of the token.
    const sign = claim.charAt(end) === '$' ? 1 : 0;
    const isCurrency = this.isBesideNumber(token) && currencyNamed(claim.slice(start, end + sign)) !== null;
    if (end - start < 2 || isCurrency) return false;
    if (!initial || ((kinds[token] ?? 0) & ACRONYM) !== 0) return true;
    if (token + 1 >= count || ((kinds[token + 1] ?? 0) & CAPITALISED) === 0) return false;
    return starts[token + 1] === end + 1 && claim.charCodeAt(end) === 0x20;
  }

  private prepare(count: number): void {
    if (this.termOfToken.length < count) {
      const size = Math.max(count, this.termOfToken.length * 2);
      this.termOfToken = new Int32Array(size);
      this.nameOfToken = new Uint8Array(size);
      this.reversing = new Uint8Array(size);
      this.firstToken = new Int32Array(size);
      this.mayDiffer = new Uint8Array(size);
    }
    this.termCount = 0;
    this.keyCount = 0;
    this.denied = null;
    this.personal = false;
    let fitting = 256;
    // A term has about eight keys at most, and those that are put later; most have one.
    while (fitting < count * 8) fitting *= 2;
    // A full table would never end a search.
    this.room = fitting * 0.75;
    const size = Math.max(fitting, LEAST_SLOTS);
    this.mask = size - 1;
    if (size <= this.keys.length) this.values.fill(0, 0, size);
    else {
      this.keys = new Int32Array(size);
      this.values = new Int32Array(size);
    }
  }
}

/** Marks that are no part of a claim: leftover citation marks ("[3]", "[^2]", "[2–5]"), and numbers of a list. */
const CITATION_MARK = /\[\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20}\]/g;
const MAY_BE_LISTED = /\d[.)][ \t]/;
const LIST_NUMBER = /^[ \t]*\(?\d{1,2}[.)](?=[ \t])/gm;

/** Replaces such marks by spaces, so that offsets stay. */
export function withoutMarks(claim: string): string {
  const blank = (mark: string): string => ' '.repeat(mark.length);
  const unmarked = claim.includes('[') ? claim.replace(CITATION_MARK, blank) : claim;
  return MAY_BE_LISTED.test(unmarked) ? unmarked.replace(LIST_NUMBER, blank) : unmarked;
}
