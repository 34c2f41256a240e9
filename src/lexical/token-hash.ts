/**
 * Hashes of tokens, a stemmer that works on them, and tables keyed by them.
 *
 * A token's hash is a 32-bit polynomial of its folded units: h = h * FACTOR + unit, modulo 2^32. FACTOR is odd, so it
 * has an inverse, and the stemmer can remove a suffix from the hash without reading the word again.
 */

export const HASH_SEED = 0x2f0b4c47;
export const HASH_FACTOR = 0x01000193;
const HASH_INVERSE = inverse(HASH_FACTOR);

function inverse(odd: number): number {
  // Newton's iteration doubles the number of correct bits: 3, 6, 12, 24, 48.
  let x = odd;
  for (let i = 0; i < 5; i++) x = Math.imul(x, 2 - Math.imul(odd, x));
  return x;
}

/** Appends a unit to a hash. */
export function addUnit(hash: number, unit: number): number {
  return (Math.imul(hash, HASH_FACTOR) + unit) | 0;
}

/** Removes the last unit from a hash: the inverse of `addUnit`. */
export function dropUnit(hash: number, unit: number): number {
  return Math.imul(hash - unit, HASH_INVERSE);
}

/** Hashes a lower-case word like the tokeniser does before it stems. Apostrophes are skipped. */
export function hashWord(word: string): number {
  let h = HASH_SEED;
  for (let i = 0; i < word.length; i++) {
    const c = word.charCodeAt(i);
    if (c !== 0x27) h = addUnit(h, c);
  }
  return h;
}

/** Hashes the value of a number, so that 1,200 and 1200 get one hash. */
export function hashNumber(value: number): number {
  const whole = Math.floor(value);
  let h = HASH_SEED ^ 0x5bd1e995;
  h = addUnit(h, whole | 0);
  if (whole >= 0x80000000) h = addUnit(h, (whole / 0x100000000) | 0);
  if (whole !== value) h = addUnit(h, Math.round((value - whole) * 1e6) + 1);
  return h;
}

const A = 97,
  D = 100,
  E = 101,
  G = 103,
  I = 105,
  L = 108,
  M = 109,
  N = 110,
  O = 111,
  S = 115,
  T = 116,
  U = 117,
  Y = 121,
  Z = 122;

/**
 * Stems the ASCII word `text[start, end)`, whose unstemmed hash is `hash`, and returns the hash of the stem.
 *
 * The stemmer removes the plural s, -ed, -ing, -ly, -ion, -ment, a final e and a doubled consonant, and turns a final y
 * into i. It stems too much on purpose ("hope" and "hop" meet): it is applied to both sides of every comparison, where
 * a missed inflection costs more than a rare collision.
 */
export function stemHash(text: string, start: number, end: number, hash: number): number {
  let e = end;
  let h = hash;
  if (e - start < 4) return h;
  let last = lower(text, e - 1);
  if (last < A) return h;
  if (last === S) {
    const before = lower(text, e - 2);
    if (before === S || before === U || before === I) return h;
    h = dropUnit(h, S);
    e--;
    last = before;
  }
  const cut = suffixLength(text, start, e, last);
  if (cut > 0) {
    for (let k = 0; k < cut; k++) h = dropUnit(h, lower(text, --e));
    last = lower(text, e - 1);
    if (cut !== 4 && last === lower(text, e - 2) && last !== L && last !== S && last !== Z) return dropUnit(h, last);
  }
  if (last === E && e - start > 3) return dropUnit(h, E);
  if (last === Y && e - start > 3 && !isVowel(lower(text, e - 2))) return addUnit(dropUnit(h, Y), I);
  return h;
}

/** Returns the length of an -ed, -ing, -ly, -ion or -ment to remove, or 0. A word keeps at least three letters. */
function suffixLength(text: string, start: number, end: number, last: number): number {
  const length = end - start;
  if (length < 5) return 0;
  const before = lower(text, end - 2);
  if (last === D) return before === E ? 2 : 0;
  if (last === Y) return before === L && length > 6 ? 2 : 0;
  if (length < 6) return 0;
  const third = lower(text, end - 3);
  if (last === G) return before === N && third === I ? 3 : 0;
  if (last === N) return before === O && third === I && length > 6 ? 3 : 0;
  if (last === T) return before === N && third === E && length > 7 && lower(text, end - 4) === M ? 4 : 0;
  return 0;
}

function lower(text: string, at: number): number {
  return text.charCodeAt(at) | 0x20;
}

function isVowel(c: number): boolean {
  return c === A || c === E || c === I || c === O || c === U;
}

/** Returns the stem hash of a lower-case ASCII word, equal to the hash that the tokeniser gives the word. */
export function stemOf(word: string): number {
  return stemHash(word, 0, word.length, hashWord(word));
}

/** A fixed map from token hashes to positive numbers: open addressing in typed arrays, at most a quarter full. */
type HashTable = { readonly keys: Int32Array; readonly values: Int32Array; readonly mask: number };

/** Builds a table. Values must be above 0, because 0 marks a free slot. */
export function hashTable(entries: readonly (readonly [hash: number, value: number])[]): HashTable {
  let size = 16;
  while (size < entries.length * 4) size *= 2;
  const table = { keys: new Int32Array(size), values: new Int32Array(size), mask: size - 1 };
  for (const [hash, value] of entries) {
    let slot = hashSlot(hash) & table.mask;
    while (table.values[slot] !== 0 && table.keys[slot] !== hash) slot = (slot + 1) & table.mask;
    table.keys[slot] = hash;
    table.values[slot] = value;
  }
  return table;
}

/** Builds a table of words that all have the value 1, by stem or by another hash. */
export function tableOfWords(words: string | readonly string[], hash = stemOf): HashTable {
  const list = typeof words === 'string' ? words.split(' ') : words;
  return hashTable(list.map((word) => [hash(word), 1]));
}

/** Mixes the high bits into the low ones, which in a polynomial hash depend on the last letters only. */
export function hashSlot(hash: number): number {
  return hash ^ (hash >>> 15);
}

/** Returns the value stored for `hash`, or 0. */
export function lookUp(table: HashTable, hash: number): number {
  let slot = hashSlot(hash) & table.mask;
  for (;;) {
    const value = table.values[slot] ?? 0;
    if (value === 0) return 0;
    if (table.keys[slot] === hash) return value;
    slot = (slot + 1) & table.mask;
  }
}
