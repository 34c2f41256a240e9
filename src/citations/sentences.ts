/**
 * Sentence splitter: one linear pass, no Intl.Segmenter (it moves with ICU, and our cuts enter judgment keys) and no
 * regular expression. Tuned for encyclopaedic and news prose with decimals, initials, abbreviations, list lines and
 * CJK; an unknown abbreviation before a capital letter is the one thing it gets wrong on purpose.
 */
import { MONTHS_AFTER_ORDINAL, NEVER_FINAL, NOT_BEFORE_DIGIT, SENTENCE_STARTERS } from './abbreviations.ts';
import {
  CARRIAGE_RETURN,
  isAsciiDigit,
  isAsciiLetter,
  isLetterOrDigit,
  isLowercase,
  isSpace,
  LINE_FEED,
  SPACE,
  trimSpan,
} from './characters.ts';
import type { Span } from './types.ts';

const FULL_STOP = 0x2e;
const ELLIPSIS = 0x2026;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** Longest bracketed reference after a full stop that is read as part of the sentence before: "1937.[12]". */
const MAX_REFERENCE_CHARS = 12;
/** No abbreviation is longer; what stands before a full stop is looked at no further back. */
const MAX_ABBREVIATION_CHARS = 12;

const ORDINARY = 0;
const STOP = 1;
const STRONG_STOP = 2;
const LINE_BREAK = 3;

/** Classes of the ASCII units; the scan looks no further at ordinary ones. */
const ASCII_CLASS = new Uint8Array(128);
ASCII_CLASS[FULL_STOP] = STOP;
ASCII_CLASS[0x21] = STOP;
ASCII_CLASS[0x3f] = STOP;
ASCII_CLASS[LINE_FEED] = LINE_BREAK;
ASCII_CLASS[CARRIAGE_RETURN] = LINE_BREAK;

function classOf(code: number): number {
  if (code < 128) return ASCII_CLASS[code] ?? ORDINARY;
  switch (code) {
    case ELLIPSIS:
      return STOP;
    case 0x3002: // ideographic full stop
    case 0xff01: // fullwidth exclamation mark
    case 0xff1f: // fullwidth question mark
    case 0xff61: // halfwidth ideographic full stop
    case 0x61f: // Arabic question mark
    case 0x6d4: // Urdu full stop
    case 0x964: // danda
    case 0x965: // double danda
    case 0x589: // Armenian full stop
      return STRONG_STOP;
    case 0x2028:
    case 0x2029:
      return LINE_BREAK;
    default:
      return ORDINARY;
  }
}

/** Quotes and brackets that close after a full stop and still belong to its sentence. */
function isCloser(code: number): boolean {
  switch (code) {
    case 0x22: // "
    case 0x27: // '
    case 0x29: // )
    case CLOSE_BRACKET:
    case 0x7d: // }
    case 0xbb: // »
    case 0x2019:
    case 0x201d:
    case 0x300d:
    case 0x300f:
    case 0xff09:
      return true;
    default:
      return false;
  }
}

/** Quotes and brackets that may open a sentence. */
function isOpener(code: number): boolean {
  switch (code) {
    case 0x22:
    case 0x27:
    case 0x28: // (
    case OPEN_BRACKET:
    case 0x2a: // * of Markdown emphasis
    case 0x5f: // _
    case 0xab: // «
    case 0x2018:
    case 0x201c:
    case 0x201e:
    case 0x300c:
    case 0x300e:
    case 0xff08:
      return true;
    default:
      return false;
  }
}

/**
 * The sentences of `text[start, end)`, edges trimmed, in order; what is only white space is left out.
 * Spans are UTF-16 offsets into `text`. Linear in the length of the range.
 */
export function splitSentences(text: string, start = 0, end = text.length): Span[] {
  const sentences: Span[] = [];
  let from = start;
  let i = start;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  // First unit of the current line that is not white space: where a list number or heading mark would stand.
  let lineStart = i;
  while (i < end) {
    const code = text.charCodeAt(i);
    const kind = classOf(code);
    if (kind === ORDINARY) {
      i++;
      continue;
    }
    if (kind === LINE_BREAK) {
      const next = afterLineBreak(text, lineStart, i, end);
      if (next.boundary) {
        push(sentences, text, from, i);
        from = next.at;
      }
      i = next.at;
      lineStart = i;
      continue;
    }
    const after = afterStop(text, i + 1, end);
    if (kind === STRONG_STOP || isBoundary(text, lineStart, i, after, end)) {
      push(sentences, text, from, after);
      from = after;
    }
    i = after;
  }
  push(sentences, text, from, end);
  return sentences;
}

function push(sentences: Span[], text: string, start: number, end: number): void {
  const span = trimSpan(text, start, end);
  if (span.end > span.start) sentences.push(span);
}

/** True if the range ends a sentence: its last unit that is no closer or space is a stop. */
export function endsSentence(text: string, start: number, end: number): boolean {
  for (let i = end - 1; i >= start; i--) {
    const code = text.charCodeAt(i);
    if (isSpace(code) || isCloser(code)) continue;
    const kind = classOf(code);
    return (
      kind === STRONG_STOP || (kind === STOP && !(code === FULL_STOP && isAbbreviation(text, start, i, SPACE, '')))
    );
  }
  return false;
}

/** Past further stops, closing quotes and brackets, and short bracketed references. */
function afterStop(text: string, from: number, end: number): number {
  let i = from;
  while (i < end) {
    const code = text.charCodeAt(i);
    const kind = classOf(code);
    if (kind === STOP || kind === STRONG_STOP || isCloser(code)) {
      i++;
      continue;
    }
    if (code !== OPEN_BRACKET) break;
    let close = i + 1;
    const limit = Math.min(end, i + MAX_REFERENCE_CHARS);
    while (close < limit && (isAsciiDigit(text.charCodeAt(close)) || isAsciiLetter(text.charCodeAt(close)))) close++;
    if (close >= end || text.charCodeAt(close) !== CLOSE_BRACKET) break;
    i = close + 1;
  }
  return i;
}

/** Whether the stop at `stop` ends its sentence, which would end at `after` with its closing quotes and brackets. */
function isBoundary(text: string, lineStart: number, stop: number, after: number, end: number): boolean {
  if (after >= end) return true;
  if (!isSpace(text.charCodeAt(after))) return false;
  let next = after;
  while (next < end && isSpace(text.charCodeAt(next))) next++;
  while (next < end && isOpener(text.charCodeAt(next))) next++;
  if (next >= end) return true;
  const first = text.charCodeAt(next);
  if (isLowercase(first)) return false;
  if (text.charCodeAt(stop) !== FULL_STOP || after > stop + 1) return true;
  return !isAbbreviation(text, lineStart, stop, first, wordAt(text, next, end));
}

/** The lower-cased word at a place, at most as long as an abbreviation. */
function wordAt(text: string, at: number, end: number): string {
  let i = at;
  const limit = Math.min(end, at + MAX_ABBREVIATION_CHARS + 1);
  while (i < limit && isLetterOrDigit(text.charCodeAt(i))) i++;
  return text.slice(at, i).toLowerCase();
}

/** Whether the full stop at `stop` belongs to an abbreviation, initial or ordinal rather than to the sentence. */
function isAbbreviation(text: string, lineStart: number, stop: number, nextCode: number, nextWord: string): boolean {
  let start = stop;
  let dots = 0;
  const limit = Math.max(lineStart, stop - MAX_ABBREVIATION_CHARS);
  while (start > limit) {
    const code = text.charCodeAt(start - 1);
    if (code === FULL_STOP) dots++;
    else if (!isLetterOrDigit(code)) break;
    start--;
  }
  const length = stop - start;
  if (length === 0) return false;
  if (start === limit && limit > lineStart && isLetterOrDigit(text.charCodeAt(start - 1))) return false;
  if (isAsciiDigit(text.charCodeAt(start))) {
    if (length > 2 || !isAsciiDigit(text.charCodeAt(stop - 1))) return false;
    // "1. First item" at the start of a line, or "27. Mai 1937".
    return start === lineStart || MONTHS_AFTER_ORDINAL.has(nextWord);
  }
  const word = text.slice(start, stop).toLowerCase();
  if (NEVER_FINAL.has(word)) return !(length === 1 && SENTENCE_STARTERS.has(nextWord));
  if (isAsciiDigit(nextCode) && NOT_BEFORE_DIGIT.has(word)) return true;
  // An initial ("J. Snow") or a dotted acronym ("U.S. Army") goes on unless a typical first word follows.
  const initial = length === 1 && !isLowercase(text.charCodeAt(start)) && isAsciiLetter(text.charCodeAt(start));
  const acronym = dots > 0 && length <= 2 * (dots + 1);
  return (initial || acronym) && nextWord !== '' && !SENTENCE_STARTERS.has(nextWord);
}

/**
 * A line break ends a sentence if another break follows, or if the line before or after is a list item, heading,
 * table row or quotation; otherwise it is soft wrapping.
 */
function afterLineBreak(text: string, lineStart: number, at: number, end: number): { boundary: boolean; at: number } {
  let i = at;
  let breaks = 0;
  while (i < end && isSpace(text.charCodeAt(i))) {
    const code = text.charCodeAt(i);
    if (code === LINE_FEED || code === 0x2028 || code === 0x2029) breaks++;
    else if (code === CARRIAGE_RETURN && text.charCodeAt(i + 1) !== LINE_FEED) breaks++;
    i++;
  }
  const blocky = isBlockStart(text, i, end) || isBlockStart(text, lineStart, at);
  return { boundary: breaks > 1 || blocky, at: Math.max(i, at + 1) };
}

/** `- `, `* `, `• `, `#`, `|`, `>` or `12. ` / `12) ` at the start of a line. */
function isBlockStart(text: string, at: number, end: number): boolean {
  if (at >= end) return false;
  const code = text.charCodeAt(at);
  const next = at + 1 < end ? text.charCodeAt(at + 1) : SPACE;
  if (code === 0x2d || code === 0x2a || code === 0x2b || code === 0x2022 || code === 0x2013) return isSpace(next);
  if (code === 0x23 || code === 0x7c || code === 0x3e) return true;
  let i = at;
  while (i < end && i < at + 3 && isAsciiDigit(text.charCodeAt(i))) i++;
  if (i === at || i >= end) return false;
  const mark = text.charCodeAt(i);
  return (mark === FULL_STOP || mark === 0x29) && (i + 1 >= end || isSpace(text.charCodeAt(i + 1)));
}
