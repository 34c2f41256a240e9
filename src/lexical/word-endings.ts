import { magnitude } from './number-words.ts';
import { stemHash } from './stemming.ts';
import { isStopWord, LONGEST_STOP_WORD } from './stop-words.ts';
import { dropUnit } from './token-hash.ts';
import { ACRONYM, CAPITALISED, CENT, STOP, type TokenList } from './token-list.ts';

// What the last two letters of a word of four or more say of its stem.
const KEPT = 0;
const DROP_LAST = 1;
/** The s, and the e too if three letters are left before it. */
const DROP_ES = 2;
const Y_TO_I = 3;
/** More than two letters must be looked at; all words for magnitudes (hundred, million) are among these. */
const LOOK_FURTHER = 4;

const ENDINGS: Uint8Array = endings();
const CENT_STEM = CENT;

/** By last letter * 128 + the letter before; says the same as stemHash. */
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

/** Makes tokens of the unstemmed words that lie behind the last token of the list, up to index `end`. */
export function settleWords(list: TokenList, text: string, bytes: Uint8Array, shift: number, end: number): void {
  let word = list.marksKinds ? list.count : stemWords(list, text, bytes, shift, end);
  list.count = word;
  for (; word < end; word++) {
    appendWord(list, text, list.starts[word] ?? 0, list.ends[word] ?? 0, list.hashes[word] ?? 0);
  }
}

/** Stems in place as long as no word may have to be joined to the token before it; returns the index of the first that may. */
function stemWords(list: TokenList, text: string, bytes: Uint8Array, shift: number, to: number): number {
  const { hashes, starts, ends } = list;
  for (let word = list.count; word < to; word++) {
    const start = starts[word] ?? 0;
    const end = ends[word] ?? 0;
    if (end - start < 4) continue;
    const last = (bytes[end - shift - 1] ?? 0) | 0x20;
    const ending = ENDINGS[(last << 7) | (bytes[end - shift - 2] ?? 0)] ?? 0;
    if (ending === KEPT) continue;
    let h = hashes[word] ?? 0;
    if (ending === LOOK_FURTHER) {
      if (end - start >= 7 && magnitude(h) !== 0) return word;
      h = stemHash(text, start, end, h);
    } else if (ending === Y_TO_I) {
      h = (h + 0x69 - 0x79) | 0;
    } else {
      h = dropUnit(h, last);
      if (ending === DROP_ES && end - start > 4) h = dropUnit(h, 0x65);
    }
    if (h === CENT_STEM) return word;
    hashes[word] = h;
  }
  return to;
}

/** One word of ASCII letters and digits; `hash` is unstemmed. */
function appendWord(list: TokenList, text: string, start: number, end: number, hash: number): void {
  const units = end - start;
  let kind = text.charCodeAt(start) < 97 ? CAPITALISED : 0;
  if (list.marksKinds) {
    if (kind !== 0 && units > 1 && isUpperCase(text, start, end)) kind |= ACRONYM;
    if (units <= LONGEST_STOP_WORD && isStopWord(hash)) kind |= STOP;
  }
  let h = hash;
  if (units > 3) {
    if (units >= 7) {
      const factor = magnitude(h);
      if (factor !== 0 && list.scaleLast(factor, start, end)) return;
    }
    h = stemHash(text, start, end, h);
    if (h === CENT && list.joinPercent(end)) return;
  }
  list.push(h, start, end, kind);
}

function isUpperCase(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (text.charCodeAt(i) >= 97) return false;
  return true;
}
