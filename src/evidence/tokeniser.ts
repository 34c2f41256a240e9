import { ASCII_FOLD, SEPARATOR, SINGLE, unitClass } from './character-classes.ts';
import { NumberScanner } from './number-scanner.ts';
import { magnitude } from './number-words.ts';
import { stemHash } from './stemming.ts';
import { isStopWord, LONGEST_STOP_WORD } from './stop-words.ts';
import { addUnit, HASH_FACTOR, HASH_SEED } from './token-hash.ts';
import { ACRONYM, CAPITALISED, CENT, PERCENT, STOP, type TokenList } from './token-list.ts';
import { appendUncommonWord } from './uncommon-words.ts';

/** A sentence for windows ends after this many tokens at the latest: a table or list without full stops is no sentence. */
const MAX_SENTENCE_TOKENS = 80;
/** "Dr.", "Jan.", "Inc.": a capitalised word this short before a full stop does not end a sentence. */
const MAX_ABBREVIATION_UNITS = 3;

// What lies between two tokens, as bits.
const SAW_POINT = 1;
const SAW_STOP = 2;
const SAW_NEWLINE = 4;
const SAW_BLANK_LINE = 8;

const scanner = new NumberScanner();

/** Appends the tokens of text[from, to) to `list`. One pass; the text is not copied unless a token holds units beyond ASCII. */
export function appendTokens(list: TokenList, text: string, from: number, to: number): void {
  const fold = ASCII_FOLD;
  const marksKinds = list.marksKinds;
  const first = list.count;
  list.first = first;
  let sentenceEnd = -1;
  let i = from;
  let between = 0;
  let newLine = true;
  while (i < to) {
    let c = text.charCodeAt(i);
    if (c === 0x20) {
      i++;
      continue;
    }
    let folded = c < 128 ? (fold[c] ?? 0) : 0;
    if (folded === 0 && (c < 128 || unitClass(c) === SEPARATOR)) {
      i++;
      if (c === 0x0a) {
        between |= newLine ? SAW_NEWLINE | SAW_BLANK_LINE : SAW_NEWLINE;
        newLine = true;
      } else if (c === 0x2e) {
        between |= SAW_POINT;
      } else if (c === 0x21 || c === 0x3f || c === 0x3002 || c === 0xff01 || c === 0xff1f || c === 0x0964) {
        between |= SAW_STOP;
      } else if (c === 0x25) {
        if (list.count === first) list.startSentence();
        list.push(PERCENT, i - 1, i, 0);
      }
      continue;
    }
    if (list.count >= sentenceEnd || (between !== 0 && endsSentence(list, text, between, i, c))) {
      // A percent sign may have opened the first sentence already.
      if (sentenceEnd >= 0 || list.count === first) list.startSentence();
      sentenceEnd = list.count + MAX_SENTENCE_TOKENS;
    }
    between = 0;
    newLine = false;
    if (folded < 97) {
      if (folded !== 0) {
        scanner.scan(text, i, to);
        list.pushNumber(scanner.value, scanner.hash, i, scanner.end);
        i = scanner.end;
      } else if (unitClass(c) === SINGLE) {
        list.push(addUnit(HASH_SEED, c), i, i + 1, 0);
        i++;
      } else i = appendUncommonWord(list, scanner, text, i, to);
      continue;
    }
    // The usual word: ASCII letters and digits up to a space or a mark.
    const start = i;
    const initial = c;
    let h = HASH_SEED;
    do {
      h = (Math.imul(h, HASH_FACTOR) + folded) | 0;
      i++;
      if (i === to) break;
      c = text.charCodeAt(i);
      folded = c < 128 ? (fold[c] ?? 0) : 0;
    } while (folded !== 0);
    const units = i - start;
    if (i < to && (c >= 128 || c === 0x27 || (c === 0x2e && units === 1))) {
      i = appendUncommonWord(list, scanner, text, start, to);
      continue;
    }
    let kind = initial < 97 ? CAPITALISED : 0;
    if (marksKinds) {
      if (kind !== 0 && units > 1 && isUpperCase(text, start, i)) kind |= ACRONYM;
      if (units <= LONGEST_STOP_WORD && isStopWord(h)) kind |= STOP;
    }
    if (units > 3) {
      if (units >= 7) {
        const factor = magnitude(h);
        if (factor !== 0 && list.scaleLast(factor, start, i)) continue;
      }
      h = stemHash(text, start, i, h);
      if (h === CENT && list.joinPercent(i)) continue;
    }
    list.push(h, start, i, kind);
  }
}

/** Whether what lies between the last token and the one at `at` (first unit `c`) ends a sentence; rough, for windows only. */
function endsSentence(list: TokenList, text: string, between: number, at: number, c: number): boolean {
  if ((between & (SAW_STOP | SAW_BLANK_LINE)) !== 0) return true;
  const lowerCase = c >= 97 && c <= 122;
  if ((between & SAW_NEWLINE) !== 0) return !lowerCase || (between & SAW_POINT) !== 0;
  if (lowerCase || text.charCodeAt(at - 1) === 0x2e) return false;
  const last = list.count - 1;
  const units = (list.ends[last] ?? 0) - (list.starts[last] ?? 0);
  return units > MAX_ABBREVIATION_UNITS || ((list.kinds[last] ?? 0) & CAPITALISED) === 0;
}

function isUpperCase(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (text.charCodeAt(i) >= 97) return false;
  return true;
}
