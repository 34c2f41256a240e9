/**
 * Splits text into sentences, in one linear pass.
 *
 * The cuts are part of judgment keys, so they must be the same on every runtime: the splitter uses fixed tables
 * (here and in abbreviations.ts) instead of `Intl.Segmenter`, which changes with the ICU version. It is tuned for
 * encyclopaedic text and news, with decimals, initials, abbreviations, list items and CJK.
 */
import { isAbbreviation, MAX_ABBREVIATION_CHARS } from './abbreviations.ts';
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
import { type Span, trimSpan } from './span.ts';

const FULL_STOP = 0x2e;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const ETHIOPIC_WORD_SPACE = 0x1361;
const ELLIPSIS = 0x2026;

// Classes of UTF-16 code units. STOP ends a sentence if the context allows it, STRONG_STOP always does.
const ORDINARY = 0;
const STOP = 1;
const STRONG_STOP = 2;
const LINE_BREAK = 3;
/** Ends a sentence after a word of one script: `;` of Greek, `:` of Armenian, the doubled word space of Ethiopic. */
const SCRIPT_STOP = 4;

/** Class of each ASCII unit. A table, because the scan asks for every unit of a text. */
const ASCII_CLASS = new Uint8Array(128);
ASCII_CLASS[FULL_STOP] = STOP;
ASCII_CLASS[0x21] = STOP;
ASCII_CLASS[0x3f] = STOP;
ASCII_CLASS[LINE_FEED] = LINE_BREAK;
ASCII_CLASS[CARRIAGE_RETURN] = LINE_BREAK;
ASCII_CLASS[SEMICOLON] = SCRIPT_STOP;
ASCII_CLASS[COLON] = SCRIPT_STOP;

function unitClass(code: number): number {
  if (code < 128) return ASCII_CLASS[code] ?? ORDINARY;
  switch (code) {
    case ELLIPSIS:
    case 0x203c: // double exclamation mark
    case 0x203d: // interrobang
    case 0x2047: // double question mark
    case 0x2048:
    case 0x2049:
      return STOP;
    case ETHIOPIC_WORD_SPACE:
      return SCRIPT_STOP;
    case 0x2028:
    case 0x2029:
      return LINE_BREAK;
    default:
      return isStrongStop(code) ? STRONG_STOP : ORDINARY;
  }
}

/**
 * Marks of Chinese and Japanese (also in full and half width), Greek, Armenian, Arabic, Urdu, Hindi, Thai, Tibetan,
 * Burmese, Ethiopic and Khmer.
 */
const STRONG_STOPS: ReadonlySet<number> = new Set(
  Array.from('。！？｡\u037e։؟۔।॥๚๛།༎။።፧፨។៕', (mark) => mark.charCodeAt(0)),
);

/** A mark that ends a sentence wherever it is, in a script with marks of its own. */
export function isStrongStop(code: number): boolean {
  return STRONG_STOPS.has(code);
}

/** Class of the unit at `at`, which may depend on the word before it: at most two units back. */
function markClass(text: string, at: number, start: number): number {
  const code = text.charCodeAt(at);
  const kind = unitClass(code);
  return kind === SCRIPT_STOP ? scriptStopClass(text, code, at, start) : kind;
}

function scriptStopClass(text: string, code: number, at: number, start: number): number {
  if (at === start) return ORDINARY;
  const last = text.charCodeAt(at - 1);
  if (code === ETHIOPIC_WORD_SPACE) return last === ETHIOPIC_WORD_SPACE ? STRONG_STOP : ORDINARY;
  if (code === COLON) return isArmenianLetter(last) ? STOP : ORDINARY;
  // One Greek letter alone is a variable.
  return at - start > 1 && isGreekLetter(last) && isGreekLetter(text.charCodeAt(at - 2)) ? STOP : ORDINARY;
}

function isGreekLetter(code: number): boolean {
  return (code >= 0x386 && code <= 0x3ff && code !== 0x387) || (code >= 0x1f00 && code <= 0x1fff);
}

function isArmenianLetter(code: number): boolean {
  return (code >= 0x531 && code <= 0x556) || (code >= 0x561 && code <= 0x587);
}

/** Longest bracketed reference after a full stop, such as "1937.[12]", that belongs to the sentence before it. */
const MAX_REFERENCE_CHARS = 12;
/**
 * How far the splitter has read a text. All places are offsets into the text; an offset is negative if it lies in a
 * part that the caller has dropped from the front.
 */
export type SentenceState = {
  /** Start of the current sentence, with the white space before it. */
  from: number;
  /** Next unit to read. */
  at: number;
  /** First unit of the current line that is not white space: the place of a list number or heading mark. */
  lineStart: number;
  /** Whether the current line begins like a list item, heading or quotation, or in bold; `null` if not determined yet. */
  blockLine: boolean | 'bold' | null;
};

/**
 * Splits `text[start, end)` into sentences. Takes time linear in the length of the range.
 *
 * @param start First UTF-16 code unit to read; default 0.
 * @param end End of the range, exclusive; default the end of the text.
 * @returns The sentences in order, as offsets into `text`, without white space at the edges. Blank parts are left out.
 * @example
 * splitSentences('It opened in 1937. J. Snow built it.'); // [{ start: 0, end: 18 }, { start: 19, end: 36 }]
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
 * Continues to split at `state.at`, up to `end`, and adds the sentences that end there to `sentences`. The sentence
 * that is still open at `end` is not added.
 *
 * With `complete` false, more text follows `end`. Then the unit before `end` must be white space, and the splitter
 * defers the decision on a stop or line break that only white space follows.
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
    const kind = markClass(text, i, lineStart);
    if (kind === ORDINARY) {
      i++;
      continue;
    }
    if (kind === LINE_BREAK) {
      const begins = state.blockLine ?? lineBegin(text, lineStart, i);
      const blockLine = begins === 'bold' ? endsInBold(text, lineStart, i, end) : begins;
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
    const ends =
      kind === STRONG_STOP ? !isQuotedInSentence(text, i, after) : isBoundary(text, lineStart, i, after, end);
    if (ends) {
      push(sentences, text, from, after);
      from = after;
    }
    i = after;
  }
  state.from = from;
  state.at = i;
  state.lineStart = lineStart;
}

/** Whether hiragana directly after a quotation continue its sentence: 「長い。」と言った。 */
function isQuotedInSentence(text: string, stop: number, after: number): boolean {
  const closer = text.charCodeAt(after - 1);
  const next = text.charCodeAt(after);
  return after > stop + 1 && (closer === 0x300d || closer === 0x300f) && next >= 0x3041 && next <= 0x309f;
}

/** How far the splitter looks back from `SentenceState.at`, in UTF-16 code units. */
export const SENTENCE_LOOKBACK = MAX_ABBREVIATION_CHARS + 2;

/** Prepares the state so that the caller can drop the text more than `SENTENCE_LOOKBACK` units before `state.at`. */
export function settleSentence(text: string, state: SentenceState): void {
  while (state.from < state.at && isSpace(text.charCodeAt(state.from))) state.from++;
  if (state.blockLine === null && state.at - state.lineStart >= MAX_BLOCK_MARK_CHARS) {
    state.blockLine = lineBegin(text, state.lineStart, state.at);
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

/** Returns whether the range ends like a sentence: a stop, then at most closing quotes, brackets and white space. */
export function endsSentence(text: string, start: number, end: number): boolean {
  for (let i = end - 1; i >= start; i--) {
    const code = text.charCodeAt(i);
    if (isSpace(code) || isCloser(code)) continue;
    const kind = markClass(text, i, start);
    return (
      kind === STRONG_STOP || (kind === STOP && !(code === FULL_STOP && isAbbreviation(text, start, i, SPACE, '')))
    );
  }
  return false;
}

/** Skips further stops, closing quotes and brackets, and short bracketed references. */
function afterStop(text: string, from: number, end: number): number {
  let i = from;
  while (i < end) {
    const code = text.charCodeAt(i);
    const kind = unitClass(code);
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

/**
 * Returns whether the stop at `stop` ends its sentence. `after` is the offset after its closing quotes and brackets.
 */
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

/** Reads the lower-cased word at `at`, up to one unit more than the longest abbreviation. */
function wordAt(text: string, at: number, end: number): string {
  let i = at;
  const limit = Math.min(end, at + MAX_ABBREVIATION_CHARS + 1);
  while (i < limit && isLetterOrDigit(text.charCodeAt(i))) i++;
  return text.slice(at, i).toLowerCase();
}

/**
 * Returns whether the line break at `at` ends a sentence, and where the next line begins. It does if another line break
 * follows, or if the line before or after it is a list item, heading, table row or quotation. Otherwise the text is
 * wrapped.
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

function lineBegin(text: string, at: number, end: number): boolean | 'bold' {
  return isBlockStart(text, at, end) || (isBold(text, at) ? 'bold' : false);
}

/** Whether a line that begins in bold ends so, as a heading does. Prose would go on in lower case. */
function endsInBold(text: string, start: number, lineBreak: number, limit: number): boolean {
  let end = lineBreak;
  let next = lineBreak;
  while (end > start && lineBreak - end < MAX_BLANKS_BEHIND && isSpace(text.charCodeAt(end - 1))) end--;
  while (next < limit && next - lineBreak < MAX_BLANKS_BEHIND && isSpace(text.charCodeAt(next))) next++;
  const isHeading = end - start > 4 && end - start <= MAX_BOLD_HEADING_CHARS && isBold(text, end - 2);
  return isHeading && !isLowercase(text.charCodeAt(next));
}

/** Longest heading in bold, in UTF-16 code units: longer ones are statements. */
const MAX_BOLD_HEADING_CHARS = 40;
/** Most white space behind a heading in bold that counts, in UTF-16 code units: `**Rivers**  `. */
const MAX_BLANKS_BEHIND = 3;

function isBold(text: string, at: number): boolean {
  return text.charAt(at) === '*' && text.charAt(at + 1) === '*';
}

/** Longest mark that `isBlockStart` recognises, with the unit after the mark, in UTF-16 code units. */
const MAX_BLOCK_MARK_CHARS = 6;

/** Recognises `- `, `* `, `• `, `#`, `|`, `>`, `12. `, `12) ` and rules (`---`, `===`) at the start of a line. */
function isBlockStart(text: string, at: number, end: number): boolean {
  if (at >= end) return false;
  const code = text.charCodeAt(at);
  const next = at + 1 < end ? text.charCodeAt(at + 1) : SPACE;
  if (next === code && '-=*_'.includes(text.charAt(at)) && text.charCodeAt(at + 2) === code) {
    // With text behind them they are dashes or emphasis.
    let behind = at + 3;
    if (behind >= end || text.charCodeAt(behind) === code) return true;
    while (behind < at + 5 && text.charCodeAt(behind) === SPACE) behind++;
    return behind >= text.length || unitClass(text.charCodeAt(behind)) === LINE_BREAK;
  }
  if (code === 0x2d || code === 0x2a || code === 0x2b || code === 0x2022 || code === 0x2013) return isSpace(next);
  if (code === 0x23 || code === 0x7c || code === 0x3e) return true;
  let i = at;
  while (i < end && i < at + 3 && isAsciiDigit(text.charCodeAt(i))) i++;
  if (i === at || i >= end) return false;
  const mark = text.charCodeAt(i);
  return (mark === FULL_STOP || mark === 0x29) && (i + 1 >= end || isSpace(text.charCodeAt(i + 1)));
}

/** Closing quotes and brackets, emphasis and superscript notes: after a full stop they belong to its sentence. */
function isCloser(code: number): boolean {
  switch (code) {
    case 0x22: // "
    case 0x27: // '
    case 0x29: // )
    case CLOSE_BRACKET:
    case 0x7d: // }
    case 0xbb: // »
    case 0x2a: // * of Markdown emphasis
    case 0x5f: // _
    case 0xb2: // superscript digits of notes
    case 0xb3:
    case 0xb9:
    case 0x2019:
    case 0x201d:
    case 0x203a: // ›
    case 0x3009:
    case 0x300b:
    case 0x300d:
    case 0x300f:
    case 0x3011:
    case 0xff09:
    case 0xff3d:
      return true;
    default:
      return code >= 0x2070 && code <= 0x2079;
  }
}

/** Opening quotes, brackets and Markdown emphasis: they may precede the first word of a sentence. */
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
    case 0x2039: // ‹
    case 0x3008:
    case 0x300a:
    case 0x300c:
    case 0x300e:
    case 0x3010:
    case 0xff08:
    case 0xff3b:
      return true;
    default:
      return false;
  }
}
