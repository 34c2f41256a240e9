/**
 * Finds code and escaped marks, where nothing is a citation: code spans `` `arr[1]` `` within a line, fences of ``` or
 * ~~~ (to their end, or to the end of the answer if they are never closed), brackets behind a backslash, the empty box
 * of a task, `- [ ]`, and what has an end (enclosures.ts): code, comments and formulas.
 *
 * Unlike CommonMark, a backtick after an ASCII letter or digit opens no code (Hawai`i), and ``text'' is a quotation.
 */
import { isAsciiDigit, isAsciiLetter, isSpace, LESS_THAN, LINE_FEED } from '../text/characters.ts';
import { isBlank, type Span } from '../text/span.ts';
import { DOLLAR, Enclosures } from './enclosures.ts';
import type { Tag } from './tags.ts';

const BACKTICK = 0x60;
const TILDE = 0x7e;
const BACKSLASH = 0x5c;
/** Marks that a backslash turns into text. */
const ESCAPABLE = '[]()<>【】［］（）`\\';

/** Longest code span, and longest line that begins or ends a fence, in UTF-16 code units. */
const MAX_CODE_CHARS = 1024;
/** Longest run of backticks around a code span. */
const MAX_RUN = 16;
/** Fewest marks of a fence. */
const MIN_FENCE = 3;
/** Most white space before the marks of a fence. */
const MAX_INDENT = 32;

/** A capital letter: neither a mark nor an ordinary start in the middle of a sentence. */
const HIDDEN = 'X';
/** Begins a hidden line of a fence, so that each is a block of its own for the sentence splitter. */
const HIDDEN_LINE = '#';

/** `isQuoted`: its lines begin with `>`. */
type Fence = { readonly mark: number; readonly length: number; readonly isQuoted: boolean };

/** What is decided next: the end of a piece of the text, and what replaces it (`null`: it stays). */
type Step = { readonly end: number; readonly hidden: string | null };

/**
 * Replaces code and escaped marks of a text that arrives in pieces by other characters. The length and the line breaks
 * stay. Linear: it holds back at most one code span or line.
 */
export class CodeMask {
  /** The code so far, in order. The last one grows while its fence is open. */
  readonly spans: { start: number; end: number }[] = [];
  /** All text before this offset is decided, and the code in it is complete. */
  settled: number;
  #held = '';
  /** Offset of the held text. */
  #at: number;
  /** Last decided unit. */
  #last = LINE_FEED;
  #atLineStart = true;
  #fence: Fence | null = null;
  /** Lengths of runs of backticks, as bits, that the rest of the line lacks. */
  #absent = 0;
  readonly #enclosures = new Enclosures();

  /** @param start Offset of the first piece, for `spans`. */
  constructor(start: number) {
    this.#at = start;
    this.settled = start;
  }

  /** Whether some text waits for what follows it. */
  get isHolding(): boolean {
    return this.#held !== '';
  }

  /** Returns the text that the next piece decides. */
  push(piece: string): string {
    const end = piece.length;
    // Most chunks of a stream: there is nothing to decide.
    if (this.#held === '' && !this.#atLineStart && this.#fence === null && end > 0 && this.#isPlain(piece)) {
      this.#at += end;
      this.settled = this.#at;
      this.#last = piece.charCodeAt(end - 1);
      return piece;
    }
    this.#held += piece;
    return this.#read(false);
  }

  /** Whether a piece within a line hides nothing and decides itself, as `#inline` finds step by step. */
  #isPlain(piece: string): boolean {
    let at = plainEnd(piece, 0);
    while (piece.charCodeAt(at) === LESS_THAN) {
      const last = at === 0 ? this.#last : piece.charCodeAt(at - 1);
      if (this.#enclosures.at(piece, at, false, this.#at + at, last) !== null) return false;
      at = plainEnd(piece, at + 1);
    }
    return at === piece.length;
  }

  /** Returns the rest of the text, which has no more pieces. */
  finish(): string {
    const rest = this.#read(true);
    this.settled = this.#at;
    return rest;
  }

  #read(complete: boolean): string {
    const text = this.#held;
    const pieces: string[] = [];
    let at = 0;
    while (at < text.length) {
      const step = this.#step(text, at, complete);
      if (step === null) break;
      pieces.push(step.hidden ?? text.slice(at, step.end));
      this.#at += step.end - at;
      at = step.end;
      this.#last = text.charCodeAt(at - 1);
      if (this.#last === LINE_FEED) this.#atLineStart = true;
      if (this.#last === LINE_FEED || step.hidden?.includes('\n') === true) this.#absent = 0;
    }
    this.#held = text.slice(at);
    this.settled = this.#fence !== null ? (this.spans.at(-1)?.start ?? this.#at) : this.#at;
    return pieces.join('');
  }

  /** Decides the text from `at` up to some end; `null` if more text must follow first. */
  #step(text: string, at: number, complete: boolean): Step | null {
    if (text.charCodeAt(at) === LINE_FEED) return { end: at + 1, hidden: null };
    if (!this.#atLineStart)
      return this.#fence === null ? this.#inline(text, at, complete) : this.#hide(text, at, HIDDEN);
    const line = fenceLine(text, at, complete);
    if (line === 'undecided') return null;
    if (this.#fence?.isQuoted === true && !isQuoted(text, at)) this.#fence = null;
    const isFree = this.#fence === null && line === null;
    const box = isFree ? emptyBox(text, at, complete) : null;
    if (box === 'undecided') return null;
    this.#atLineStart = false;
    if (box !== null) return box;
    if (this.#fence === null) {
      if (line === null || !line.opens) return this.#inline(text, at, complete);
      this.#fence = line;
      this.spans.push({ start: this.#at, end: this.#at });
      return this.#hide(text, at, HIDDEN_LINE);
    }
    const { mark, length, isQuoted: quoted } = this.#fence;
    const closes = line?.closes === true && line.mark === mark && line.length >= length && line.isQuoted === quoted;
    const step = this.#hide(text, at, HIDDEN_LINE);
    if (closes) this.#fence = null;
    return step;
  }

  /** Hides the rest of a line of a fence. */
  #hide(text: string, at: number, first: string): Step {
    const lineFeed = text.indexOf('\n', at);
    const end = lineFeed === -1 ? text.length : lineFeed;
    const span = this.spans.at(-1);
    if (span !== undefined) span.end = this.#at + end - at;
    return { end, hidden: first + HIDDEN.repeat(end - at - 1) };
  }

  #inline(text: string, at: number, complete: boolean): Step | null {
    const code = text.charCodeAt(at);
    if (!isSpecial(code)) return { end: plainEnd(text, at), hidden: null };
    const enclosed = this.#enclosures.at(text, at, complete, this.#at, this.#last);
    if (enclosed === 'undecided') return null;
    if (enclosed !== null) {
      this.spans.push({ start: this.#at, end: this.#at + enclosed.end - at });
      const inside = text.slice(at, enclosed.end);
      return { end: enclosed.end, hidden: enclosed.isBlank ? blanked(inside) : hiddenLines(inside) };
    }
    if (code === BACKSLASH) return escaped(text, at, complete);
    if (code !== BACKTICK) return { end: plainEnd(text, at + 1), hidden: null };
    const from = afterRun(text, at, text.length);
    if (from === text.length && !complete) return from - at > MAX_RUN ? { end: from, hidden: null } : null;
    const run = from - at;
    // A run after a backtick is the rest of a longer one.
    const isFirst = this.#last !== BACKTICK && !isAsciiLetterOrDigit(this.#last);
    const isOpening = run <= MAX_RUN && (this.#absent & (1 << run)) === 0 && isFirst;
    if (!isOpening) return { end: from, hidden: null };
    const end = spanEnd(text, from, run, complete);
    if (end === 'undecided') return null;
    if (end === 'absent') this.#absent |= 1 << run;
    if (typeof end !== 'number' || (run === 2 && text.slice(from, end).includes("''")))
      return { end: from, hidden: null };
    this.spans.push({ start: this.#at, end: this.#at + end - at });
    return { end, hidden: HIDDEN.repeat(end - at) };
  }
}

type FenceLine = Fence & { readonly opens: boolean; readonly closes: boolean };

/** Reads a line that may begin or end a fence; `null` if it does neither. */
function fenceLine(text: string, at: number, complete: boolean): FenceLine | null | 'undecided' {
  let from = at;
  while (from < text.length && from - at < MAX_INDENT && isIndent(text, from)) from++;
  if (from === text.length) return complete ? null : 'undecided';
  const mark = text.charCodeAt(from);
  if (mark !== BACKTICK && mark !== TILDE) return null;
  let to = from;
  while (to < text.length && text.charCodeAt(to) === mark) to++;
  if (to - from < MIN_FENCE && to < text.length) return null;
  const lineFeed = text.indexOf('\n', to);
  const end = lineFeed === -1 ? text.length : lineFeed;
  if (end - at > MAX_CODE_CHARS) return null;
  if (lineFeed === -1 && !complete) return 'undecided';
  const rest = text.slice(to, end);
  const length = to - from;
  if (length < MIN_FENCE) return null;
  return {
    mark,
    length,
    isQuoted: isQuoted(text, at),
    opens: mark === TILDE || !rest.includes('`'),
    closes: isBlank(rest),
  };
}

/** White space within a line, or the mark of a quotation. */
function isIndent(text: string, at: number): boolean {
  return text[at] === '>' || (isSpace(text.charCodeAt(at)) && text[at] !== '\n');
}

function isQuoted(text: string, line: number): boolean {
  let at = line;
  while (at - line < MAX_INDENT && isIndent(text, at) && text[at] !== '>') at++;
  return text[at] === '>';
}

const EMPTY_BOX = '[ ]';

/** The empty box of a task that begins a line. */
function emptyBox(text: string, at: number, complete: boolean): Step | null | 'undecided' {
  let mark = at;
  while (mark - at < MAX_INDENT && isSpace(text.charCodeAt(mark)) && text[mark] !== '\n') mark++;
  if (mark < text.length && !'-*+'.includes(text.charAt(mark))) return null;
  const item = text.slice(mark, mark + 2 + EMPTY_BOX.length);
  const whole = `${text.charAt(mark)} ${EMPTY_BOX}`;
  if (item === whole)
    return { end: mark + item.length, hidden: text.slice(at, mark + 2) + HIDDEN.repeat(EMPTY_BOX.length) };
  return !complete && mark + item.length === text.length && whole.startsWith(item) ? 'undecided' : null;
}

/** The text behind a backslash: a mark is hidden, and a second backslash hides nothing. */
function escaped(text: string, at: number, complete: boolean): Step | null {
  if (at + 1 === text.length) return complete ? { end: at + 1, hidden: null } : null;
  const next = text.charAt(at + 1);
  if (!ESCAPABLE.includes(next)) return { end: at + 1, hidden: null };
  return { end: at + 2, hidden: next === '\\' || next === '`' ? null : `\\${HIDDEN}` };
}

/** The end of the code span whose opening run ends at `from`; `far` if it is too long to be one. */
function spanEnd(text: string, from: number, run: number, complete: boolean): number | 'absent' | 'far' | 'undecided' {
  const limit = from + MAX_CODE_CHARS;
  for (let i = from; i < limit; ) {
    if (i >= text.length) return complete ? 'absent' : 'undecided';
    const code = text.charCodeAt(i);
    if (code === LINE_FEED) return 'absent';
    if (code !== BACKTICK) {
      i++;
      continue;
    }
    const end = afterRun(text, i, limit);
    if (end >= limit) return 'far';
    if (end === text.length && !complete) return 'undecided';
    if (end - i === run) return end;
    i = end;
  }
  return 'far';
}

function afterRun(text: string, at: number, limit: number): number {
  let end = at;
  while (end < limit && text.charCodeAt(end) === BACKTICK) end++;
  return end;
}

/** Where text without any special unit ends. */
function plainEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && !isSpecial(text.charCodeAt(end))) end++;
  return end;
}

const SPECIAL = new Uint8Array(128);
for (const code of [BACKTICK, BACKSLASH, LINE_FEED, LESS_THAN, DOLLAR]) SPECIAL[code] = 1;

function isSpecial(code: number): boolean {
  return code < 128 && SPECIAL[code] === 1;
}

/** Spaces in place of all but line breaks. */
export function blanked(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** Code of several lines: each line after the first is a block of its own. */
function hiddenLines(text: string): string {
  return text.replace(/[^\n]/g, HIDDEN).replaceAll(`\n${HIDDEN}`, `\n${HIDDEN_LINE}`);
}

function isAsciiLetterOrDigit(code: number): boolean {
  return isAsciiLetter(code) || isAsciiDigit(code);
}

/** Every piece of code, comment, formula and escaped mark has one of these. */
const MAY_HIDE = /[`\\$]|~~~|\[ \]|<!--|<pre[\s>]|<\/(?:code|pre|kbd|samp|tt)>/i;

/** `text[0, content.end)` with the code and escaped marks of `content` replaced, and where the code is. */
export function withoutCode(text: string, content: Span): { readonly text: string; readonly code: readonly Span[] } {
  const body = text.slice(content.start, content.end);
  if (!MAY_HIDE.test(body)) return { text, code: [] };
  const mask = new CodeMask(content.start);
  return { text: text.slice(0, content.start) + mask.push(body) + mask.finish(), code: mask.spans };
}

/**
 * Whether the tags in one piece of code are text: each closes a tag, or is closed, within it. Code that holds only one
 * end of a citation is part of its claim.
 */
export function areText(tags: readonly Pick<Tag, 'closing' | 'selfClosing'>[]): boolean {
  let open = 0;
  for (const { closing, selfClosing } of tags) {
    if (closing) open--;
    else if (!selfClosing) open++;
    if (open < 0) return false;
  }
  return open === 0;
}
