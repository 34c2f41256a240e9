import { addUnit, HASH_SEED, hashNumber, hashSlot, stemHash, stemOf } from './token-hash.ts';
import { ACRONYM, CAPITALISED, NUMBER, STOP, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';
import { isNegation, isPersonal, numberWordStem, numberWordValue, oppositesOf } from './word-lists.ts';

/** The stem of each abbreviated month name and of the full one, each mapped to the other: they are one term. */
const MONTHS: ReadonlyMap<number, number> = new Map(
  (
    'jan january,feb february,mar march,apr april,jun june,jul july,aug august,sep september,sept september,' +
    'oct october,nov november,dec december'
  )
    .split(',')
    .flatMap((pair) => {
      const [short, long] = pair.split(' ').map(stemOf);
      return short === undefined || long === undefined ? [] : [[short, long] as const, [long, short] as const];
    }),
);
const NEGATING_PREFIXES: readonly string[] = ['un', 'in', 'im', 'ir', 'dis', 'non'];
const SHORTEST_PREFIXED_WORD = 6;

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
  /** Whether the claim contains a negation. */
  negated = false;
  /** The claim is about its writer or asks a question. */
  personal = false;
  // The hash table: `values` holds term + 1, -(term + 1) for an opposite, and 0 for a free slot.
  keys = new Int32Array(256);
  values = new Int32Array(256);
  mask = 255;

  /** Reads a claim. Takes linear time. */
  load(claim: string): void {
    const tokens = this.tokens;
    tokens.clear();
    appendTokens(tokens, claim, 0, claim.length);
    this.prepare(tokens.count);
    let content = 0;
    for (let i = 0; i < tokens.count; i++) if (((tokens.kinds[i] ?? 0) & STOP) === 0) content++;
    this.contentTokens = content;
    this.personal = claim.includes('?');
    const dropStops = content > 0;
    let sentence = 0;
    for (let i = 0; i < tokens.count; i++) {
      const kind = tokens.kinds[i] ?? 0;
      const hash = tokens.hashes[i] ?? 0;
      const initial = tokens.sentenceTokens[sentence] === i;
      if (initial && sentence + 1 < tokens.sentenceCount) sentence++;
      if ((kind & STOP) !== 0 && isPersonal(hash)) this.personal = true;
      if (isNegation(hash)) this.negated = true;
      this.nameOfToken[i] = 0;
      if (dropStops && (kind & STOP) !== 0) {
        this.termOfToken[i] = -1;
        continue;
      }
      if ((kind & CAPITALISED) !== 0 && this.isName(claim, i, initial)) this.nameOfToken[i] = 1;
      const known = this.find(hash);
      if (known > 0) this.termOfToken[i] = known - 1;
      else this.addTerm(claim, i, hash, kind);
    }
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

  private addTerm(claim: string, token: number, hash: number, kind: number): void {
    const term = this.termCount++;
    this.termOfToken[token] = term;
    this.firstToken[term] = token;
    const value = term + 1;
    this.put(hash, value);
    if ((kind & NUMBER) !== 0) {
      const number = this.numberAt(token);
      const word = numberWordStem(number);
      if (word !== 0) this.put(word, value);
      return;
    }
    const number = numberWordValue(hash);
    if (number >= 0) this.put(hashNumber(number), value);
    const month = (kind & CAPITALISED) !== 0 ? MONTHS.get(hash) : undefined;
    if (month !== undefined) this.put(month, value);
    for (const opposite of oppositesOf(hash)) this.put(opposite, -value);
    const bare = unprefixed(claim, this.tokens.starts[token] ?? 0, this.tokens.ends[token] ?? 0);
    if (bare !== 0) this.put(bare, -value);
  }

  /** Returns the value of a number token, by bisection. */
  private numberAt(token: number): number {
    const { numberTokens, numberValues, numberCount } = this.tokens;
    let low = 0;
    let high = numberCount - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numberTokens[middle] ?? 0) < token) low = middle + 1;
      else high = middle;
    }
    return numberValues[low] ?? Number.NaN;
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
    if (end - start < 2) return false;
    if (!initial || ((kinds[token] ?? 0) & ACRONYM) !== 0) return true;
    if (token + 1 >= count || ((kinds[token + 1] ?? 0) & CAPITALISED) === 0) return false;
    return starts[token + 1] === end + 1 && claim.charCodeAt(end) === 0x20;
  }

  private prepare(count: number): void {
    if (this.termOfToken.length < count) {
      const size = Math.max(count, this.termOfToken.length * 2);
      this.termOfToken = new Int32Array(size);
      this.nameOfToken = new Uint8Array(size);
      this.firstToken = new Int32Array(size);
    }
    this.termCount = 0;
    this.negated = false;
    this.personal = false;
    let size = 256;
    // A term has about eight keys at most; most have one.
    while (size < count * 8) size *= 2;
    this.mask = size - 1;
    if (size <= this.keys.length) this.values.fill(0, 0, size);
    else {
      this.keys = new Int32Array(size);
      this.values = new Int32Array(size);
    }
  }
}

/** Returns the stem hash of "efficient" for "inefficient", or 0 if the word has no negating prefix. */
function unprefixed(text: string, start: number, end: number): number {
  if (end - start < SHORTEST_PREFIXED_WORD) return 0;
  const first = text.charCodeAt(start) | 0x20;
  if (first !== 0x75 && first !== 0x69 && first !== 0x64 && first !== 0x6e) return 0;
  for (const prefix of NEGATING_PREFIXES) {
    let k = 0;
    while (k < prefix.length && (text.charCodeAt(start + k) | 0x20) === prefix.charCodeAt(k)) k++;
    if (k < prefix.length) continue;
    let h = HASH_SEED;
    for (let i = start + k; i < end; i++) {
      const c = text.charCodeAt(i) | 0x20;
      if (c < 97 || c > 122) return 0;
      h = addUnit(h, c);
    }
    return stemHash(text, start + k, end, h);
  }
  return 0;
}
