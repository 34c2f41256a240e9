/**
 * Turns words into tokens. Plain words (ASCII letters only) arrive in bulk as unstemmed hashes and are stemmed in
 * place. Words with apostrophes, with dots between initials or with units beyond ASCII are read one by one.
 */
import { ASCII_FOLD, isApostrophe, LETTER, SEPARATOR, unitClass } from './character-classes.ts';
import { endsWithCode } from './currencies.ts';
import type { NumberScanner } from './number-scanner.ts';
import { addUnit, dropUnit, HASH_SEED, hashWord, stemHash } from './token-hash.ts';
import { ACRONYM, CAPITALISED, CENT, POINT, STOP, type TokenList } from './token-list.ts';
import {
  isJoinedPrefix,
  isStopWord,
  LONGEST_STOP_WORD,
  magnitude,
  magnitudeAfterDigits,
  numberWordValue,
} from './word-lists.ts';

// How to stem a word of four or more letters, by its last two letters.
const KEPT = 0;
const DROP_LAST = 1;
/** Drop the s, and also the e if three letters remain before it. */
const DROP_ES = 2;
const Y_TO_I = 3;
/** More than two letters decide. All magnitude words (hundred, million) are in this class. */
const LOOK_FURTHER = 4;

const ENDINGS: Uint8Array = endings();
// A local name: V8 loads an imported constant at every use.
const CENT_STEM = CENT;
const POINT_STEM = POINT;
const HYPHEN = 0x2d;

/** Maps `last letter * 128 + letter before it` to a class above. Equivalent to `stemHash`, but one table look-up. */
function endings(): Uint8Array {
  const table = new Uint8Array(128 * 128);
  for (let last = 0; last < 128; last++) {
    for (let before = 0; before < 128; before++) table[last * 128 + before] = endingOf(before | 0x20, last | 0x20);
  }
  return table;
}

function endingOf(before: number, last: number): number {
  const pair = String.fromCharCode(before, last);
  if (/^(?:ed|nd|ng|on|nt|ly|[dgnty]s)$/.test(pair)) return LOOK_FURTHER;
  if (pair === 'es') return DROP_ES;
  if (/[^siu]s$|e$/.test(pair)) return DROP_LAST;
  return /[^aeiou]y$/.test(pair) ? Y_TO_I : KEPT;
}

/**
 * Turns the unstemmed words from index `list.count` up to `end` into tokens and raises `list.count` accordingly.
 * `shift` is what to add to an offset in `bytes` to get the offset in `text`.
 */
export function finishPlainWords(list: TokenList, text: string, bytes: Uint8Array, shift: number, end: number): void {
  const first = wordsAfterNumber(list, text, end);
  let word = list.marksKinds || first > list.count ? first : stemWords(list, text, bytes, shift, end);
  if (first === list.count) list.count = word;
  for (; word < end; word++) {
    const start = list.starts[word] ?? 0;
    const wordEnd = list.ends[word] ?? 0;
    const hash = list.hashes[word] ?? 0;
    const isHyphened = bytes[wordEnd - shift] === HYPHEN && word + 1 < end && list.starts[word + 1] === wordEnd + 1;
    if (isHyphened && isJoinedPrefix(hash)) {
      word++;
      appendJoined(list, text, start, wordEnd, list.ends[word] ?? 0, hash);
    } else
      appendWord(list, text, bytes, shift, start, wordEnd, hash, word + 1 < end ? (list.hashes[word + 1] ?? 0) : 0);
  }
}

/**
 * Multiplies a number by the magnitude words that follow it ("2 Mrd.", "2 mil millones"). Returns the index of the first
 * word after them, which is `list.count` if there are none.
 */
function wordsAfterNumber(list: TokenList, text: string, end: number): number {
  let word = list.count;
  if (!list.endsWithNumber()) return word;
  for (; word < end; word++) {
    const factor = magnitudeAfterDigits(list.hashes[word] ?? 0);
    if (factor === 0 || !list.scaleLast(factor, text, list.starts[word] ?? 0, list.ends[word] ?? 0)) break;
  }
  return word;
}

/**
 * Stems words in place, up to the first that may join the token before it ("2 million", "per cent"). Returns its index.
 */
function stemWords(list: TokenList, text: string, bytes: Uint8Array, shift: number, to: number): number {
  const { hashes, starts, ends } = list;
  for (let word = list.count; word < to; word++) {
    const start = starts[word] ?? 0;
    const end = ends[word] ?? 0;
    if (bytes[end - shift] === HYPHEN && isJoinedPrefix(hashes[word] ?? 0)) return word;
    if (end - start < 4) continue;
    const last = (bytes[end - shift - 1] ?? 0) | 0x20;
    const ending = ENDINGS[(last << 7) | (bytes[end - shift - 2] ?? 0)] ?? 0;
    if (ending === KEPT) continue;
    let h = hashes[word] ?? 0;
    if (ending === LOOK_FURTHER && end - start >= 7 && magnitude(h) !== 0) return word;
    h = stemmed(text, start, end, h, last, ending);
    if (h === CENT_STEM || h === POINT_STEM) return word;
    hashes[word] = h;
  }
  return to;
}

/** The stem hash of a word of four or more letters that ends with the letter `last`. */
function stemmed(text: string, start: number, end: number, hash: number, last: number, ending: number): number {
  if (ending === LOOK_FURTHER) return stemHash(text, start, end, hash);
  if (ending === Y_TO_I) return (hash + 0x69 - 0x79) | 0;
  const h = dropUnit(hash, last);
  return ending === DROP_ES && end - start > 4 ? dropUnit(h, 0x65) : h;
}

/** Appends a prefix and the word after its hyphen as one word: "non-invasive" equals "noninvasive". */
function appendJoined(list: TokenList, text: string, start: number, hyphen: number, end: number, prefix: number): void {
  let h = prefix;
  for (let i = hyphen + 1; i < end; i++) h = addUnit(h, ASCII_FOLD[text.charCodeAt(i)] ?? 0);
  const kind = text.charCodeAt(start) < 97 ? CAPITALISED : 0;
  // The hyphen is no letter of the word, whose length the stemmer asks for.
  list.push(stemHash(text, start + 1, end, h), start, end, kind);
}

/** Appends one word of ASCII letters and digits with unstemmed `hash`, before a word with the unstemmed hash `next`. */
function appendWord(
  list: TokenList,
  text: string,
  bytes: Uint8Array,
  shift: number,
  start: number,
  end: number,
  hash: number,
  next: number,
): void {
  const units = end - start;
  let kind = (bytes[start - shift] ?? 0) < 97 ? CAPITALISED : 0;
  if (list.marksKinds) {
    if (kind !== 0 && units > 1 && isUpperCase(bytes, start - shift, end - shift)) kind |= ACRONYM;
    if (units <= LONGEST_STOP_WORD && isStopWord(hash)) kind |= STOP;
  }
  let h = hash;
  if (units > 3) {
    if (units >= 7) {
      const factor = magnitude(h);
      if (factor !== 0 && list.scaleLast(factor, text, start, end)) return;
    }
    const last = (bytes[end - shift - 1] ?? 0) | 0x20;
    const ending = ENDINGS[(last << 7) | (bytes[end - shift - 2] ?? 0)] ?? 0;
    if (ending !== KEPT) h = stemmed(text, start, end, h, last, ending);
    if (h === CENT_STEM && list.joinPercent(end)) return;
  }
  if (units > 2) {
    const value = numberWordValue(h);
    if (value >= 0 && list.joinWord(value, text, start, end, magnitude(next) === 0)) return;
  }
  list.push(h, start, end, kind);
}

function isUpperCase(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((bytes[i] ?? 0) >= 97) return false;
  return true;
}

/** Appends the word that begins at `start`, whatever it is made of, and returns the offset after it. */
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
      // USD34: the digits are a number.
      if (c < 58 && i === start + 3 && endsWithCode(text, i)) break;
      h = addUnit(h, folded);
      if (c >= 97) lowerCase = true;
    } else if (c === 0x2e && (dotted || i === start + 1) && isInitial(text, i + 1, to)) dotted = true;
    else if (isApostrophe(c) && i + 1 < to && unitClass(text.charCodeAt(i + 1)) === LETTER) {
      if (isElided(text, start, i, to)) {
        if (i === start + 1 && (text.charCodeAt(start) | 0x20) === N) list.push(NE, start, i, STOP);
        return appendUncommonWord(list, scanner, text, i + 1, to);
      }
      apostrophe = i;
    } else if (c >= 128 && unitClass(c) === LETTER) beyondAscii = true;
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

/** Letters that French and Italian elide before an apostrophe: l'eau, d'un, n'est. */
const ELIDED = 'cdjlmnst';
const N = 0x6e;
const NE = hashWord('ne');

/** Returns whether `text[start, apostrophe)` is an elided word, and two letters or more follow. */
function isElided(text: string, start: number, apostrophe: number, to: number): boolean {
  const after = apostrophe + 2;
  if (after >= to || unitClass(text.charCodeAt(after)) !== LETTER) return false;
  const word = text.slice(start, Math.min(apostrophe, start + 3)).toLowerCase();
  return word.length === 1 ? ELIDED.includes(word) : word === 'qu' && apostrophe === start + 2;
}

/** Appends a word with units beyond ASCII. Only this short slice is folded, so offsets of the text stay valid. */
function appendFoldedWord(list: TokenList, scanner: NumberScanner, text: string, start: number, end: number): void {
  const token = text.slice(start, end);
  const folded = foldToken(token);
  const c = folded.charCodeAt(0);
  if (c >= 48 && c <= 57) {
    // The word is a number in full-width digits.
    scanner.scan(folded, 0, folded.length);
    if (scanner.end === folded.length) {
      list.pushNumber(scanner.value, scanner.place, scanner.hash, start, end);
      return;
    }
  }
  const initial = token.slice(0, 1);
  let kind = 0;
  if (initial !== initial.toLowerCase())
    kind = token.length > 1 && token === token.toUpperCase() ? CAPITALISED | ACRONYM : CAPITALISED;
  const raw = hashFolded(folded);
  const factor = list.endsWithNumber() ? magnitudeAfterDigits(raw) : 0;
  if (factor !== 0 && list.scaleLast(factor, text, start, end)) return;
  if (end - start <= LONGEST_STOP_WORD && isStopWord(raw)) kind |= STOP;
  // Latin words without their accents are stemmed; words of other scripts are not.
  list.push(isAscii(folded) ? stemHash(folded, 0, folded.length, raw) : raw, start, end, kind);
}

/** Returns whether a single letter is at `at`, such as the S of U.S. */
function isInitial(text: string, at: number, to: number): boolean {
  if (at >= to) return false;
  const c = text.charCodeAt(at) | 0x20;
  return c >= 97 && c <= 122 && (at + 1 >= to || unitClass(text.charCodeAt(at + 1)) === SEPARATOR);
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

/**
 * Folds compatibility forms, case and accents, so that full-width, ligature and decomposed spellings become equal.
 * Removes apostrophes and a possessive s.
 */
function foldToken(token: string): string {
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

/** Hashes a folded word, unstemmed. */
function hashFolded(folded: string): number {
  let h = HASH_SEED;
  for (let i = 0; i < folded.length; i++) h = addUnit(h, folded.charCodeAt(i));
  return h;
}
