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
} from './characters.ts';
import {
  CLOSE_BRACKET,
  classOf,
  FULL_STOP,
  isCloser,
  isOpener,
  LINE_BREAK,
  OPEN_BRACKET,
  ORDINARY,
  STOP,
  STRONG_STOP,
} from './sentence-marks.ts';
import { type Span, trimSpan } from './span.ts';

/** Longest bracketed reference after a full stop that is read as part of the sentence before: "1937.[12]". */
const MAX_REFERENCE_CHARS = 12;
/** No abbreviation is longer; what stands before a full stop is looked at no further back. */
const MAX_ABBREVIATION_CHARS = 12;

/** How far a text has been split. Places are offsets into it; those before it (negative) are of a part that was dropped. */
export type SentenceState = {
  /** Where the current sentence begins, white space before it included. */
  from: number;
  /** What comes next. */
  at: number;
  /** First unit of the current line that is not white space: where a list number or heading mark would stand. */
  lineStart: number;
  /** Whether the current line begins as a list item, heading or quotation does; `null` = look. */
  blockLine: boolean | null;
};

/**
 * The sentences of `text[start, end)`, edges trimmed, in order; what is only white space is left out.
 * Spans are UTF-16 offsets into `text`. Linear in the length of the range.
 */
export function splitSentences(text: string, start = 0, end = text.length): Span[] {
  const sentences: Span[] = [];
  let at = start;
  while (at < end && isSpace(text.charCodeAt(at))) at++;
  const state: SentenceState = { from: start, at, lineStart: at, blockLine: null };
  splitFurther(text, end, true, state, sentences);
  push(sentences, text, state.from, end);
  return sentences;
}

/**
 * Splits on up to `end`; the sentence that is open there is not added. If the text goes on behind `end` (`complete` is
 * false), its last unit is white space, and a stop or line break with nothing but that behind it waits for what follows.
 */
export function splitFurther(
  text: string,
  end: number,
  complete: boolean,
  state: SentenceState,
  sentences: Span[],
): void {
  let { from, at: i, lineStart } = state;
  while (i < end) {
    const code = text.charCodeAt(i);
    const kind = classOf(code);
    if (kind === ORDINARY) {
      i++;
      continue;
    }
    if (kind === LINE_BREAK) {
      const blockLine = state.blockLine === null ? isBlockStart(text, lineStart, i) : state.blockLine;
      const next = afterLineBreak(text, blockLine, i, end);
      if (!complete && next.at >= end) break;
      if (next.boundary) {
        push(sentences, text, from, i);
        from = next.at;
      }
      i = next.at;
      lineStart = i;
      state.blockLine = null;
      continue;
    }
    const after = afterStop(text, i + 1, end);
    if (!complete && kind !== STRONG_STOP && isSpaceUpTo(text, after, end)) break;
    if (kind === STRONG_STOP || isBoundary(text, lineStart, i, after, end)) {
      push(sentences, text, from, after);
      from = after;
    }
    i = after;
  }
  state.from = from;
  state.at = i;
  state.lineStart = lineStart;
}

/** How far before `at` the splitter may look back, in units. */
export const SENTENCE_LOOKBACK = MAX_ABBREVIATION_CHARS + 2;

/** Makes the state independent of everything more than `SENTENCE_LOOKBACK` units before its place. */
export function settleSentence(text: string, state: SentenceState): void {
  while (state.from < state.at && isSpace(text.charCodeAt(state.from))) state.from++;
  if (state.blockLine === null && state.at - state.lineStart >= MAX_BLOCK_MARK_CHARS) {
    state.blockLine = isBlockStart(text, state.lineStart, state.at);
  }
}

function isSpaceUpTo(text: string, from: number, end: number): boolean {
  let i = from;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i >= end;
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
function afterLineBreak(text: string, blockLine: boolean, at: number, end: number): { boundary: boolean; at: number } {
  let i = at;
  let breaks = 0;
  while (i < end && isSpace(text.charCodeAt(i))) {
    const code = text.charCodeAt(i);
    if (code === LINE_FEED || code === 0x2028 || code === 0x2029) breaks++;
    else if (code === CARRIAGE_RETURN && text.charCodeAt(i + 1) !== LINE_FEED) breaks++;
    i++;
  }
  return { boundary: breaks > 1 || blockLine || isBlockStart(text, i, end), at: Math.max(i, at + 1) };
}

/** No mark that `isBlockStart` looks for is longer, the unit behind it included. */
const MAX_BLOCK_MARK_CHARS = 6;

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
