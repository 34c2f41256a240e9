/**
 * The tokeniser: turns text into stemmed token hashes, in one pass over the UTF-8 bytes of the text.
 *
 * `WordReader` handles the common case, runs of ASCII words, byte by byte. It stops at everything else (numbers,
 * non-ASCII, apostrophes, marks that end sentences), which `appendTokens` then reads from the text itself.
 */
import { isAsciiDigit } from '../text/characters.ts';
import { isStrongStop } from '../text/sentences.ts';
import { ASCII_FOLD, LETTER, SEPARATOR, SINGLE, unitClass } from './character-classes.ts';
import { NumberScanner } from './number-scanner.ts';
import { addUnit, HASH_FACTOR, HASH_SEED } from './token-hash.ts';
import { CAPITALISED, PERCENT, type TokenList } from './token-list.ts';
import { appendUncommonWord, finishPlainWords } from './word-tokens.ts';

// Local names: V8 compiles a module's own constants into the code but loads an imported one at every use, which doubled
// the time of the loop in `WordReader`.
const FACTOR = HASH_FACTOR;
const SEED = HASH_SEED;

// Role of a UTF-8 byte. The role of a letter or digit is its folded value, which is greater than all roles below.
/** White space, and marks that do nothing but separate words. */
const PLAIN_MARK = 0;
const LINE_FEED = 1;
/** ! and ? */
const STOP_MARK = 2;
const PERCENT_SIGN = 3;
/** A full stop, which ends a sentence or separates initials. */
const POINT = 4;
const APOSTROPHE = 5;
/** A byte of a non-ASCII character. */
const BEYOND_ASCII = 6;
const FIRST_DIGIT = 48;
const FIRST_LETTER = 97;

const BYTE_ROLES: Uint8Array = byteRoles();

function byteRoles(): Uint8Array {
  const table = new Uint8Array(256).fill(BEYOND_ASCII, 128);
  table.set(ASCII_FOLD);
  table[0x0a] = LINE_FEED;
  table[0x21] = STOP_MARK;
  table[0x25] = PERCENT_SIGN;
  table[0x27] = APOSTROPHE;
  table[0x2e] = POINT;
  table[0x3f] = STOP_MARK;
  return table;
}

/** Longest text, in UTF-16 code units, that fits the reused buffer. A longer text gets a buffer of its own. */
const BUFFER_UNITS = 1 << 16;
/** Most UTF-8 bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;
/** Zero bytes before the text, so that a look at the two bytes before a word stays inside the array. */
const LEADING_BYTES = 2;

const encoder = new TextEncoder();
const buffer = new Uint8Array(LEADING_BYTES + BYTES_PER_UNIT * BUFFER_UNITS);
const bufferText = buffer.subarray(LEADING_BYTES);

/**
 * A text as UTF-8 bytes. V8 reads a byte of an array in half the time of a unit of a string, and the copy is cheap. A
 * lone surrogate becomes the three bytes of U+FFFD. The buffer is shared, so only one text can be loaded at a time.
 */
class Utf8Bytes {
  bytes: Uint8Array = buffer;
  end = LEADING_BYTES;

  load(text: string, from: number, to: number): void {
    const piece = from === 0 && to === text.length ? text : text.slice(from, to);
    let room: Uint8Array = bufferText;
    this.bytes = buffer;
    if (piece.length > BUFFER_UNITS) {
      this.bytes = new Uint8Array(LEADING_BYTES + BYTES_PER_UNIT * piece.length);
      room = this.bytes.subarray(LEADING_BYTES);
    }
    this.end = LEADING_BYTES + encoder.encodeInto(piece, room).written;
  }

  /** Releases the buffer of a large text. */
  unload(): void {
    this.bytes = buffer;
  }
}

/** Returns the UTF-8 length of `text[from, to)`. `to` must not split a surrogate pair. */
function utf8Length(text: string, from: number, to: number): number {
  let length = to - from;
  for (let i = from; i < to; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x80) continue;
    length += c < 0x800 ? 1 : 2;
    // A pair takes four bytes, all counted with its first unit.
    if (c >= 0xd800 && c <= 0xdbff && i + 1 < to && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) i++;
  }
  return length;
}

/** The hot loop: reads words of ASCII letters and the marks between them, and leaves everything else to the caller. */
class WordReader {
  /** The byte where `read` stopped: the end, a byte with another role, or the end of a word that did not fit. */
  at = 0;
  /**
   * Start of a word that `read` has not written and that ends at `at` (it did not fit or may continue); equals `at` if
   * there is no such word.
   */
  start = 0;
  /** Role of the byte at `at`, or PLAIN_MARK at the end. */
  role = 0;

  /**
   * Writes unstemmed words into `list`, from index `list.count` up to `limit`, and returns the index after the last
   * one. Does not change `list.count`. The caller ensures that the list has room. `shift` is added to a byte offset to
   * get the offset in the text.
   */
  read(list: TokenList, bytes: Uint8Array, from: number, end: number, shift: number, limit: number): number {
    const { hashes, starts, ends } = list;
    let n = list.count;
    let h = SEED;
    let start = from;
    let role = PLAIN_MARK;
    let i = from;
    for (; i < end; i++) {
      role = BYTE_ROLES[bytes[i] ?? 0] ?? 0;
      if (role >= FIRST_LETTER) h = (Math.imul(h, FACTOR) + role) | 0;
      else if (role === PLAIN_MARK) {
        if (i !== start) {
          if (n >= limit) break;
          hashes[n] = h;
          starts[n] = start + shift;
          ends[n] = i + shift;
          n++;
          h = SEED;
        }
        start = i + 1;
      } else break;
    }
    if (i >= end) role = PLAIN_MARK;
    // A word before a role above POINT may continue; a full stop after a single letter may belong to an initial.
    if (i !== start && n < limit && (role < POINT || (role === POINT && i - start > 1))) {
      hashes[n] = h;
      starts[n] = start + shift;
      ends[n] = i + shift;
      n++;
      start = i;
    }
    this.at = i;
    this.start = start;
    this.role = role;
    return n;
  }
}

/** Longest sentence, in tokens. It splits tables and lists that have no full stops. */
const MAX_SENTENCE_TOKENS = 80;
/** A capitalised word of at most this many units before a full stop ("Dr.", "Jan.") does not end a sentence. */
const MAX_ABBREVIATION_UNITS = 3;

// Bits for what lies between two tokens.
const SAW_POINT = 1;
const SAW_STOP = 2;
const SAW_NEWLINE = 4;
const SAW_BLANK_LINE = 8;

/** Finds roughly where sentences begin. Evidence windows need no more precision. */
class SentenceBreaks {
  /** The next sentence begins at this token index at the latest. */
  latest = -1;
  private between = 0;

  begin(): void {
    this.latest = -1;
    this.between = 0;
  }

  /** Returns whether the next token may begin a sentence. */
  isPossible(list: TokenList): boolean {
    return this.between !== 0 || list.count >= this.latest;
  }

  /** Records an ASCII mark between two tokens. */
  note(role: number): void {
    if (role === POINT) this.between |= SAW_POINT;
    else if (role === STOP_MARK) this.between |= SAW_STOP;
    else if (role === LINE_FEED) this.between |= (this.between & SAW_NEWLINE) === 0 ? SAW_NEWLINE : SAW_BLANK_LINE;
  }

  /** Records a non-ASCII mark between two tokens. */
  noteUnit(unit: number): void {
    if (isStrongStop(unit)) this.between |= SAW_STOP;
  }

  /** Starts a new sentence if one begins with the next token, at offset `at`. Call it before the token is added. */
  beforeToken(list: TokenList, text: string, at: number): void {
    if (list.count >= this.latest || (this.between !== 0 && this.endsSentence(list, text, at))) {
      // A percent sign at the start may have begun the first sentence already.
      if (this.latest >= 0 || list.count === list.first) list.startSentence();
      this.latest = list.count + MAX_SENTENCE_TOKENS;
    }
    this.between = 0;
  }

  private endsSentence(list: TokenList, text: string, at: number): boolean {
    const { between } = this;
    if ((between & (SAW_STOP | SAW_BLANK_LINE)) !== 0) return true;
    const initial = text.charCodeAt(at);
    const lowerCase = initial >= 97 && initial <= 122;
    if ((between & SAW_NEWLINE) !== 0) return !lowerCase || (between & SAW_POINT) !== 0;
    if (lowerCase || text.charCodeAt(at - 1) === 0x2e) return false;
    const last = list.count - 1;
    const start = list.starts[last] ?? 0;
    return (list.ends[last] ?? 0) - start > MAX_ABBREVIATION_UNITS || !isCapital(text, start);
  }
}

function isCapital(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < 128) return unit >= 65 && unit <= 90;
  const initial = text.charAt(at);
  return initial !== initial.toLowerCase();
}

// Reused by every call: `appendTokens` is synchronous and keeps nothing of a text.
const input = new Utf8Bytes();
const reader = new WordReader();
const scanner = new NumberScanner();
const breaks = new SentenceBreaks();

/** Appends the tokens of `text[from, to)` to `list`. Takes linear time. */
export function appendTokens(list: TokenList, text: string, from: number, to: number): void {
  list.first = list.count;
  list.endText();
  if (from >= to) return;
  input.load(text, from, to);
  breaks.begin();
  const { bytes, end } = input;
  const isAscii = end - LEADING_BYTES === to - from;
  let at = LEADING_BYTES;
  // Text offset minus byte offset. Each non-ASCII unit lowers it by its bytes beyond the first.
  let shift = from - LEADING_BYTES;
  while (at < end) {
    if (breaks.isPossible(list)) {
      at = skipPlainMarks(bytes, at, end);
      if (at < end && roleOf(bytes, at) >= FIRST_LETTER) breaks.beforeToken(list, text, at + shift);
    }
    const limit = list.reserve(breaks.latest);
    const words = reader.read(list, bytes, at, end, shift, limit);
    if (words > list.count) finishPlainWords(list, text, bytes, shift, words);
    at = reader.at;
    const { role, start } = reader;
    const units = at - start;
    if (units > 0 && words >= limit) {
      // The word did not fit or begins a sentence: read it again.
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
  list.endText();
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
 * Appends a number, a run of units that are tokens by themselves, or a word that is not plain ASCII letters. `role` is
 * that of its first byte. Returns the offset after it.
 */
function appendUnusual(list: TokenList, text: string, at: number, to: number, role: number): number {
  breaks.beforeToken(list, text, at);
  if (role >= FIRST_DIGIT && role < FIRST_LETTER) {
    scanner.scan(text, at, to);
    const quarter = quarterAt(text, at, scanner.end, to);
    if (quarter !== 0) {
      list.push(quarter, at, scanner.end + 1, CAPITALISED);
      return scanner.end + 1;
    }
    list.pushNumber(scanner.value, scanner.place, scanner.hash, at, scanner.end);
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

const FIRST_QUARTER = 0x31;
const LAST_QUARTER = 0x34;

/** Returns the hash of "q3" for a "3Q" at `at`, and 0 for any other number. */
function quarterAt(text: string, at: number, end: number, to: number): number {
  const digit = text.charCodeAt(at);
  if (end !== at + 1 || digit < FIRST_QUARTER || digit > LAST_QUARTER || end >= to || text.charAt(end) !== 'Q')
    return 0;
  return end + 1 < to && unitClass(text.charCodeAt(end + 1)) === LETTER && !isAsciiDigit(text.charCodeAt(end + 1))
    ? 0
    : addUnit(addUnit(HASH_SEED, 0x71), digit);
}
