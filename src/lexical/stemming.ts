import { addUnit, dropUnit } from './token-hash.ts';

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
 * A crude suffix stemmer on hashes: plural, -ed, -ing, -ly, -ion, -ment, final -e and -y, doubled consonants.
 * `text` from `start` to `end` is an ASCII word of which `hash` is the unstemmed hash. It over-stems on purpose (hope, hop): both sides of a
 * comparison go through it, and a missed inflection costs more than a rare collision.
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

/** How many letters of -ed, -ing, -ly, -ion or -ment to take off; 0 if the rest would be too short to mean anything. */
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
