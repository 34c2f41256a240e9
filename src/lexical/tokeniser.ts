import { BEYOND_ASCII, BYTE_ROLES, FIRST_DIGIT, FIRST_LETTER, PERCENT_SIGN, PLAIN_MARK } from './byte-roles.ts';
import { SEPARATOR, SINGLE, unitClass } from './character-classes.ts';
import { NumberScanner } from './number-scanner.ts';
import { SentenceBreaks } from './sentence-breaks.ts';
import { addUnit, HASH_SEED } from './token-hash.ts';
import { PERCENT, type TokenList } from './token-list.ts';
import { appendUncommonWord } from './uncommon-words.ts';
import { LEADING_BYTES, Utf8Bytes, utf8Length } from './utf8-bytes.ts';
import { settleWords } from './word-endings.ts';
import { WordReader } from './word-reader.ts';

// One text is read at a time, and nothing of it outlives the call.
const input = new Utf8Bytes();
const reader = new WordReader();
const scanner = new NumberScanner();
const breaks = new SentenceBreaks();

/**
 * Appends the tokens of text[from, to) to `list`. One pass over its UTF-8 bytes: the reader takes runs of plain words, and stops at what needs
 * more thought, which is done on the text itself.
 */
export function appendTokens(list: TokenList, text: string, from: number, to: number): void {
  list.first = list.count;
  if (from >= to) return;
  input.load(text, from, to);
  breaks.begin();
  const { bytes, end } = input;
  const isAscii = end - LEADING_BYTES === to - from;
  let at = LEADING_BYTES;
  // From offsets of bytes to those of the text; goes down by what a unit beyond ASCII takes more than one byte.
  let shift = from - LEADING_BYTES;
  while (at < end) {
    if (breaks.isPossible(list)) {
      at = skipPlainMarks(bytes, at, end);
      if (at < end && roleOf(bytes, at) >= FIRST_LETTER) breaks.beforeToken(list, text, at + shift);
    }
    const limit = list.reserve(breaks.latest);
    const words = reader.read(list, bytes, at, end, shift, limit);
    if (words > list.count) settleWords(list, text, bytes, shift, words);
    at = reader.at;
    const { role, start } = reader;
    const units = at - start;
    if (units > 0 && words >= limit) {
      // Read again once there is room for it, or as the first word of a sentence.
      at = start;
      continue;
    }
    if (units === 0) {
      if (role < BEYOND_ASCII) {
        if (role === PERCENT_SIGN) appendPercent(list, at + shift);
        else breaks.note(role);
        at++;
        continue;
      }
      const unit = text.charCodeAt(at + shift);
      if (role === BEYOND_ASCII && unitClass(unit) === SEPARATOR) {
        breaks.noteUnit(unit);
        const bytesOfUnit = unit < 0x800 ? 2 : 3;
        at += bytesOfUnit;
        shift -= bytesOfUnit - 1;
        continue;
      }
    }
    const place = start + shift;
    const after = appendUnusual(list, text, place, to, units === 0 ? role : FIRST_LETTER);
    at = isAscii ? after - shift : start + utf8Length(text, place, after);
    shift = after - at;
  }
  input.unload();
}

function roleOf(bytes: Uint8Array, at: number): number {
  return BYTE_ROLES[bytes[at] ?? 0] ?? PLAIN_MARK;
}

function skipPlainMarks(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && roleOf(bytes, at) === PLAIN_MARK) at++;
  return at;
}

function appendPercent(list: TokenList, at: number): void {
  if (list.count === list.first) list.startSentence();
  list.push(PERCENT, at, at + 1, 0);
}

/**
 * A number, a run of units that are tokens by themselves, or a word with more in it than letters; `role` is that of its first byte. Returns the
 * offset after it.
 */
function appendUnusual(list: TokenList, text: string, at: number, to: number, role: number): number {
  breaks.beforeToken(list, text, at);
  if (role >= FIRST_DIGIT && role < FIRST_LETTER) {
    scanner.scan(text, at, to);
    list.pushNumber(scanner.value, scanner.hash, at, scanner.end);
    return scanner.end;
  }
  if (role >= FIRST_LETTER || unitClass(text.charCodeAt(at)) !== SINGLE) {
    return appendUncommonWord(list, scanner, text, at, to);
  }
  let i = at;
  for (; i < to; i++) {
    const unit = text.charCodeAt(i);
    if (unitClass(unit) !== SINGLE) break;
    breaks.beforeToken(list, text, i);
    list.push(addUnit(HASH_SEED, unit), i, i + 1, 0);
  }
  return i;
}
