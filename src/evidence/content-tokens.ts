import { ASCII_FOLD, isApostrophe, LETTER, SEPARATOR, SINGLE, unitClass } from './character-classes.ts';
import { isStopWord, LONGEST_STOP_WORD } from './stop-words.ts';
import { HASH_FACTOR, HASH_SEED } from './token-hash.ts';

/**
 * How many tokens of text[start, end) are not function words. A run of letters and digits is one token (1,200 is two: this is a count for
 * thresholds, not a reading); in scripts without spaces every unit is one. Linear, allocates nothing, the same on every runtime.
 */
export function countContentTokens(text: string, start = 0, end = text.length): number {
  let count = 0;
  let i = start;
  while (i < end) {
    const first = text.charCodeAt(i);
    const unit = unitClass(first);
    if (unit !== LETTER) {
      if (unit === SINGLE) count++;
      i++;
      continue;
    }
    const from = i;
    let h = HASH_SEED;
    let plain = true;
    for (; i < end; i++) {
      const c = text.charCodeAt(i);
      const folded = c < 128 ? (ASCII_FOLD[c] ?? 0) : 0;
      if (folded !== 0) h = (Math.imul(h, HASH_FACTOR) + folded) | 0;
      else if (isApostrophe(c)) {
        if (i + 1 >= end || unitClass(text.charCodeAt(i + 1)) !== LETTER) break;
      } else if (c < 128 || unitClass(c) === SEPARATOR || unitClass(c) === SINGLE) break;
      else plain = false;
    }
    if (!plain || i - from > LONGEST_STOP_WORD || !isStopWord(h)) count++;
  }
  return count;
}
