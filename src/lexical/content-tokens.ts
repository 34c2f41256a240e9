import { ASCII_FOLD, isApostrophe, LETTER, SEPARATOR, SINGLE, unitClass } from './character-classes.ts';
import { HASH_FACTOR, HASH_SEED } from './token-hash.ts';
import { isStopWord, LONGEST_STOP_WORD } from './word-lists.ts';

/**
 * Counts the tokens of `text[start, end)` that are not function words, for thresholds. A run of letters and digits is
 * one token ("1,200" is two); in scripts without spaces, each unit is one. Takes linear time, allocates nothing and
 * gives the same result on every runtime.
 */
export function countContentTokens(text: string, start = 0, end = text.length): number {
  const fold = ASCII_FOLD;
  let count = 0;
  let i = start;
  while (i < end) {
    const first = text.charCodeAt(i);
    let folded = first < 128 ? (fold[first] ?? 0) : 0;
    if (folded === 0) {
      if (first >= 128 && unitClass(first) !== SEPARATOR) {
        count++;
        i = unitClass(first) === SINGLE ? i + 1 : wordEnd(text, i, end);
      } else i++;
      continue;
    }
    const from = i;
    let h = HASH_SEED;
    let c = first;
    do {
      h = (Math.imul(h, HASH_FACTOR) + folded) | 0;
      i++;
      if (i >= end) break;
      c = text.charCodeAt(i);
      folded = c < 128 ? (fold[c] ?? 0) : 0;
      if (folded === 0 && isApostrophe(c) && i + 1 < end) {
        // Skips an apostrophe before an ASCII letter or digit, so that "don't" is hashed as "dont".
        const next = text.charCodeAt(i + 1);
        folded = next < 128 ? (fold[next] ?? 0) : 0;
        if (folded !== 0) i++;
      }
    } while (folded !== 0);
    if (i < end && c >= 128 && unitClass(c) === LETTER) {
      i = wordEnd(text, i, end);
      count++;
    } else if (i - from > LONGEST_STOP_WORD || !isStopWord(h)) count++;
  }
  return count;
}

/** Returns the end of a run of letters and digits of any script. */
function wordEnd(text: string, start: number, end: number): number {
  let i = start;
  for (; i < end; i++) {
    const c = text.charCodeAt(i);
    if (unitClass(c) === LETTER) continue;
    if (!isApostrophe(c) || i + 1 >= end || unitClass(text.charCodeAt(i + 1)) !== LETTER) break;
  }
  return i;
}
