import { isApostrophe } from './character-classes.ts';

/**
 * A token is a 32-bit polynomial hash of its folded units, h = h * FACTOR + unit. FACTOR is odd, so the last unit can be taken
 * back off with the factor's inverse modulo 2^32: suffixes are stripped from the hash without reading the word again.
 */
export const HASH_SEED = 0x2f0b4c47;
export const HASH_FACTOR = 0x01000193;
const HASH_INVERSE = inverse(HASH_FACTOR);

function inverse(odd: number): number {
  // Newton's iteration doubles the number of right bits: 3, 6, 12, 24, 48.
  let x = odd;
  for (let i = 0; i < 5; i++) x = Math.imul(x, 2 - Math.imul(odd, x));
  return x;
}

export function addUnit(hash: number, unit: number): number {
  return (Math.imul(hash, HASH_FACTOR) + unit) | 0;
}

/** The hash before `unit` was added. */
export function dropUnit(hash: number, unit: number): number {
  return Math.imul(hash - unit, HASH_INVERSE);
}

/** Hash of a lower-case word as the tokeniser makes it before stemming; apostrophes are left out. */
export function hashWord(word: string): number {
  let h = HASH_SEED;
  for (let i = 0; i < word.length; i++) {
    const c = word.charCodeAt(i);
    if (c !== 0x27) h = addUnit(h, c);
  }
  return h;
}

/** Equal values have equal hashes, however they were written. */
export function hashNumber(value: number): number {
  const whole = Math.floor(value);
  let h = HASH_SEED ^ 0x5bd1e995;
  h = addUnit(h, whole | 0);
  if (whole >= 0x80000000) h = addUnit(h, (whole / 0x100000000) | 0);
  if (whole !== value) h = addUnit(h, Math.round((value - whole) * 1e6) + 1);
  return h;
}

/**
 * A token with units beyond ASCII, folded: compatibility forms, case and accents, so that full-width, ligature and decomposed spellings meet; apostrophes
 * and a possessive s are left out. One short slice at a time keeps the offsets of the text untouched.
 */
export function foldToken(token: string): string {
  const normal = token.normalize('NFKD').toLowerCase();
  let out = '';
  let from = 0;
  for (let i = 0; i < normal.length; i++) {
    const c = normal.charCodeAt(i);
    const dropped = (c >= 0x300 && c <= 0x36f) || isApostrophe(c);
    if (!dropped) continue;
    out += normal.slice(from, i);
    from = i + 1;
    if (isApostrophe(c) && i + 2 === normal.length && normal.charCodeAt(i + 1) === 0x73) return out;
  }
  return out + normal.slice(from);
}

/** Hash of a folded token, unstemmed. */
export function hashFolded(folded: string): number {
  let h = HASH_SEED;
  for (let i = 0; i < folded.length; i++) h = addUnit(h, folded.charCodeAt(i));
  return h;
}
