import { ASCII_FOLD, isApostrophe, LETTER, SEPARATOR, unitClass } from './character-classes.ts';
import type { NumberScanner } from './number-scanner.ts';
import { stemHash } from './stemming.ts';
import { isStopWord, LONGEST_STOP_WORD } from './stop-words.ts';
import { addUnit, dropUnit, foldToken, HASH_SEED, hashFolded } from './token-hash.ts';
import { ACRONYM, CAPITALISED, STOP, type TokenList } from './token-list.ts';

/** One word with apostrophes, dots between initials or units beyond ASCII, from its first unit; returns the offset after it. */
export function appendUncommonWord(
  list: TokenList,
  scanner: NumberScanner,
  text: string,
  start: number,
  to: number,
): number {
  let h = HASH_SEED;
  let i = start;
  let lowerCase = false;
  let beyondAscii = false;
  let apostrophe = -1;
  let dotted = false;
  for (; i < to; i++) {
    const c = text.charCodeAt(i);
    const folded = c < 128 ? (ASCII_FOLD[c] ?? 0) : 0;
    if (folded !== 0) {
      h = addUnit(h, folded);
      if (c >= 97) lowerCase = true;
    } else if (c === 0x2e && (dotted || i === start + 1) && isInitial(text, i + 1, to)) dotted = true;
    else if (isApostrophe(c) && i + 1 < to && unitClass(text.charCodeAt(i + 1)) === LETTER) apostrophe = i;
    else if (c >= 128 && unitClass(c) === LETTER) beyondAscii = true;
    else break;
  }
  if (beyondAscii) {
    appendFoldedWord(list, scanner, text, start, i);
    return i;
  }
  const initial = text.charCodeAt(start);
  let kind = initial >= 65 && initial <= 90 ? CAPITALISED : 0;
  if (kind !== 0 && !lowerCase && i - start > 1) kind |= ACRONYM;
  if (i - start <= LONGEST_STOP_WORD && isStopWord(h)) kind |= STOP;
  if (apostrophe < 0) {
    if (!dotted) h = stemHash(text, start, i, h);
  } else if (apostrophe === i - 2 && (text.charCodeAt(i - 1) | 0x20) === 0x73) {
    h = stemHash(text, start, apostrophe, dropUnit(h, 0x73));
  }
  list.push(h, start, i, kind);
  return i;
}

/** A word with units beyond ASCII: folded by slice, one short copy. */
function appendFoldedWord(list: TokenList, scanner: NumberScanner, text: string, start: number, end: number): void {
  const token = text.slice(start, end);
  const folded = foldToken(token);
  const c = folded.charCodeAt(0);
  if (c >= 48 && c <= 57) {
    // Full-width digits.
    scanner.scan(folded, 0, folded.length);
    if (scanner.end === folded.length) {
      list.pushNumber(scanner.value, scanner.hash, start, end);
      return;
    }
  }
  const initial = token.slice(0, 1);
  let kind = 0;
  if (initial !== initial.toLowerCase())
    kind = token.length > 1 && token === token.toUpperCase() ? CAPITALISED | ACRONYM : CAPITALISED;
  const raw = hashFolded(folded);
  if (end - start <= LONGEST_STOP_WORD && isStopWord(raw)) kind |= STOP;
  list.push(isAscii(folded) ? stemHash(folded, 0, folded.length, raw) : raw, start, end, kind);
}

/** A single letter behind a dot, followed by nothing of a word: the S of U.S. */
function isInitial(text: string, at: number, to: number): boolean {
  if (at >= to) return false;
  const c = text.charCodeAt(at) | 0x20;
  return c >= 97 && c <= 122 && (at + 1 >= to || unitClass(text.charCodeAt(at + 1)) === SEPARATOR);
}

/** Accented Latin words take the same endings as plain ones; other scripts are left as they are. */
function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}
