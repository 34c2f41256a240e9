/**
 * Folds a text for the search of quotes: removes what copying, HTML-to-text conversion and Markdown change, and keeps
 * letters, digits, signs and sentence punctuation. Two texts that differ only in such artefacts fold to equal units.
 *
 * Dropped: white space, invisible characters, quotation marks, brackets, Markdown marks, table bars, bullets, inline
 * HTML tags, footnote markers, the address of a Markdown link, and hyphens and dashes (they may be the hyphenation of a
 * line end) except before a number, where they are a sign, a range or part of a name. Decoded: HTML entities, also if escaped twice, and UTF-8 that was read as Windows-1252.
 * Compatibility forms (ligatures, full-width forms), composed accents and case are folded by Unicode's rules.
 *
 * One pass with bounded look-ahead: linear. Word spacing is lost, so "a typical" equals "atypical".
 */

import { decodedAt, windows1252 } from './character-references.ts';
import { GREATER_THAN, isAsciiDigit, isLetterOrDigit, isSpace, LESS_THAN } from './characters.ts';

/** A folded text, with the offset in the original of each unit. */
export type Folded = { readonly text: string; readonly offsets: Int32Array };

/** Marks that are dropped, beside white space. `▁` and `¦` stand for `_` and `|` in prompts (untrusted.ts). */
const DROPPED_MARKS = '"\'`´‘’‚‛“”„‟«»′″‴ʹʺʻʼ_▁|¦\\•‣◦▪▫■□●○';
const DASHES = '-‐‑‒–—―−﹘﹣－';
/** Dashes of sentences, which are never a sign. */
const LONG_DASHES = '—―﹘';
const OPEN_ANGLES = '<‹＜﹤';
const CLOSE_ANGLES = '>›＞﹥';
const OPEN_SQUARES = '[⁅［﹇';
const CLOSE_SQUARES = ']⁆］﹈';
const STARS = '*＊﹡';
const NUMBER_SIGNS = '#＃﹟';

/** What the fold does with a character. `letter`: its compatibility form in one case. */
type Role =
  | 'letter'
  | 'dropped'
  | 'dash'
  | 'angle'
  | 'open_square'
  | 'close_square'
  | 'star'
  | 'number_sign'
  | 'reference';

function roleOf(point: string): Role {
  if (point.trim() === '' || DROPPED_MARKS.includes(point) || isInvisible(point.codePointAt(0) ?? 0)) return 'dropped';
  if (DASHES.includes(point)) return 'dash';
  if (OPEN_ANGLES.includes(point) || CLOSE_ANGLES.includes(point)) return 'angle';
  if (OPEN_SQUARES.includes(point)) return 'open_square';
  if (CLOSE_SQUARES.includes(point)) return 'close_square';
  if (STARS.includes(point)) return 'star';
  if (NUMBER_SIGNS.includes(point)) return 'number_sign';
  return point === '&' || point === 'Â' || point === 'Ã' || point === 'â' ? 'reference' : 'letter';
}

/** Format characters, variation selectors, controls, private use (icon fonts) and the marks of lost characters. */
function isInvisible(code: number): boolean {
  return (
    (code < 0x20 && !isSpace(code)) ||
    code === 0x7f ||
    code === 0xad ||
    code === 0x34f ||
    code === 0x61c ||
    (code >= 0x180b && code <= 0x180e) ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xe000 && code <= 0xf8ff) ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    code === 0xfeff ||
    (code >= 0xfff9 && code <= 0xfffd) ||
    (code >= 0xe0000 && code <= 0xe0fff)
  );
}

/** Role and compatibility form of a character. */
type Form = { readonly role: Role; readonly plain: string };

/** Forms of the characters of the Basic Multilingual Plane, filled at first use. */
const FORMS: (Form | undefined)[] = [];

function formOf(code: number): Form {
  const known = FORMS[code];
  if (known !== undefined) return known;
  const point = String.fromCodePoint(code);
  const role = roleOf(point);
  const form = { role, plain: role === 'letter' ? plainOf(point) : '' };
  if (code <= 0xffff) FORMS[code] = form;
  return form;
}

/** Decomposed, in the lower case of the upper case, so that `ß` equals `SS` and `ς` equals `σ`; fractions with `/`. */
function plainOf(point: string): string {
  const plain = point.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD');
  return [...plain]
    .map((one) => (one === '⁄' || one === '∕' ? '/' : one))
    .filter((one) => roleOf(one) === 'letter')
    .join('');
}

/** The unit of each ASCII letter, digit and punctuation mark; 0 for those with another role. Most units are read here. */
const ASCII_UNITS = Uint8Array.from({ length: 0x80 }, (_, code) => formOf(code).plain.charCodeAt(0) || 0);

export function foldForQuote(text: string): Folded {
  const folding = new Folding(text);
  for (let at = 0; at < text.length; ) {
    const unit = ASCII_UNITS[text.charCodeAt(at)] ?? 0;
    if (unit === 0) at = folding.take(at);
    else folding.push(unit, at++);
  }
  return folding.finish();
}

/** Returns where the character ends that begins at `at`: behind its code point, entity or misread UTF-8. */
export function characterEnd(text: string, at: number): number {
  const reference = decodedAt(text, at);
  if (reference !== null) return reference.end;
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** Whether a dash joins two parts of a word: `-` and its typographic forms, not the dashes of a sentence. */
export function isHyphen(unit: string): boolean {
  return unit === '-' || unit === '‐' || unit === '‑';
}

/**
 * The characters of a part of a text, decoded, without the invisible ones, which are no border of words. A soft hyphen
 * at the end of a line is shown: `-`.
 */
export function visibleText(text: string, from: number, to: number): string {
  let shown = '';
  for (let at = from; at < to; at = characterEnd(text, at)) {
    const end = characterEnd(text, at);
    for (const point of decodedAt(text, at)?.text ?? text.slice(at, end)) {
      if (!isInvisible(point.codePointAt(0) ?? 0)) shown += point;
      else if (point === SOFT_HYPHEN && (text.charAt(end) === '\n' || text.charAt(end) === '\r')) shown += '-';
    }
  }
  return shown;
}

const SOFT_HYPHEN = '\u00ad';
const NO_DASH = -1;
const NUMBER_SIGN = 0x23;
const STAR = 0x2a;
const HYPHEN = 0x2d;

class Folding {
  readonly #text: string;
  readonly #units: UnitList;
  /** The last unit; 0 = none. */
  #last = 0;
  /** Offset of a dash whose next unit decides whether it stays; a run of dashes is one. */
  #dash = NO_DASH;

  constructor(text: string) {
    this.#text = text;
    this.#units = new UnitList(text.length);
  }

  push(unit: number, offset: number): void {
    if (this.#dash !== NO_DASH) {
      const isRange = isAsciiDigit(this.#last) && isAsciiDigit(unit);
      if (isRange || (isAsciiDigit(unit) && isAttachedDash(this.#text, this.#dash, offset))) {
        this.#units.push(HYPHEN, this.#dash);
      }
      this.#dash = NO_DASH;
    }
    this.#units.push(unit, offset);
    this.#last = unit;
  }

  /** Folds what begins at `at`; returns where it ends. */
  take(at: number): number {
    const text = this.#text;
    const reference = decodedAt(text, at);
    if (reference !== null) {
      for (const point of reference.text) this.#fold(point.codePointAt(0) ?? 0, at, reference.end);
      return reference.end;
    }
    const code = text.codePointAt(at) ?? 0;
    return this.#fold(windows1252(code), at, at + (code > 0xffff ? 2 : 1));
  }

  /** @param next where the character ends; what follows it decides about some marks. */
  #fold(code: number, at: number, next: number): number {
    const text = this.#text;
    const { role, plain } = formOf(code);
    switch (role) {
      case 'letter':
        for (let i = 0; i < plain.length; i++) this.push(plain.charCodeAt(i), at);
        return next;
      case 'dropped':
        return next;
      case 'reference':
        return this.#pushPlain(code, at, next);
      case 'dash':
        if (this.#dash === NO_DASH && !isBullet(text, at, next)) this.#dash = at;
        return next;
      case 'star':
        if (isAsciiDigit(text.charCodeAt(at - 1)) && isAsciiDigit(text.charCodeAt(next))) this.push(STAR, at);
        return next;
      case 'number_sign':
        if (!isHeading(text, at, next)) this.push(NUMBER_SIGN, at);
        return next;
      case 'angle': {
        const open = OPEN_ANGLES.includes(String.fromCodePoint(code));
        const end = open ? tagEnd(text, next) : -1;
        if (end !== -1) return end;
        // `p < 0.05` is a comparison; other angle brackets are quotation marks.
        if (isBeforeNumber(text, next)) this.push(open ? LESS_THAN : GREATER_THAN, at);
        return next;
      }
      case 'open_square': {
        const end = footnoteEnd(text, at, next);
        return end === -1 ? next : end;
      }
      case 'close_square': {
        const end = addressEnd(text, next);
        return end === -1 ? next : end;
      }
    }
  }

  /** A mark that begins no reference here: `&`, or a letter that also occurs in misread UTF-8. */
  #pushPlain(code: number, at: number, next: number): number {
    const plain = plainOf(String.fromCodePoint(code)) || String.fromCodePoint(code);
    for (let i = 0; i < plain.length; i++) this.push(plain.charCodeAt(i), at);
    return next;
  }

  finish(): Folded {
    return this.#units.finish();
  }
}

/** Whether the dash at `at` belongs to the digit at `digit`: "-5", "COVID-19". A run of dashes does not. */
function isAttachedDash(text: string, at: number, digit: number): boolean {
  return !LONG_DASHES.includes(text.charAt(at)) && visibleText(text, characterEnd(text, at), digit) === '';
}

/** Blanks before a mark that are looked at, in units: the indentation of a list. */
const MAX_INDENT_UNITS = 12;

/** Whether a dash is the mark of a list item: the first mark of its line, with a blank behind it. */
function isBullet(text: string, at: number, next: number): boolean {
  if (!isSpace(text.charCodeAt(next))) return false;
  for (let i = at - 1; i >= at - MAX_INDENT_UNITS; i--) {
    if (i < 0) return true;
    const unit = text.charAt(i);
    if (unit === '\n' || unit === '\r') return true;
    if (unit.trim() !== '') return false;
  }
  return false;
}

/** Whether a number sign is the mark of a Markdown heading, not that of "C#" or "#5". */
function isHeading(text: string, at: number, next: number): boolean {
  const isOther = (i: number): boolean => !isSpace(text.charCodeAt(i)) && !NUMBER_SIGNS.includes(text.charAt(i));
  return !(at > 0 && isOther(at - 1)) && !isOther(next);
}

const MAX_BLANKS = 3;

function isBeforeNumber(text: string, from: number): boolean {
  for (let i = from; i < from + MAX_BLANKS; i++) {
    const code = text.charCodeAt(i);
    if (isSpace(code)) continue;
    return isAsciiDigit(code) || text.charAt(i) === '=';
  }
  return false;
}

/** Tags of running text, lists and tables. Others (`<think>`) are text. */
const TAGS: ReadonlySet<string> = new Set(
  (
    'a abbr b bdi big blockquote br cite code dd del div dl dt em figcaption font h1 h2 h3 h4 h5 h6 hr i img ins kbd ' +
    'li mark ol p pre q s samp section small span strike strong sub sup table tbody td th thead time tr tt u ul var wbr'
  ).split(' '),
);
const MAX_TAG_UNITS = 300;
const MAX_TAG_NAME_UNITS = 10;

/** Returns where the HTML tag ends whose `<` ends at `from`, or -1. */
function tagEnd(text: string, from: number): number {
  const start = text.charAt(from) === '/' ? from + 1 : from;
  let end = start;
  while (end - start <= MAX_TAG_NAME_UNITS && /[a-z0-9]/i.test(text.charAt(end))) end++;
  if (!TAGS.has(text.slice(start, end).toLowerCase())) return -1;
  if (!CLOSE_ANGLES.includes(text.charAt(end)) && text.charAt(end) !== '/' && !isSpace(text.charCodeAt(end))) return -1;
  for (let i = end; i < Math.min(text.length, from + MAX_TAG_UNITS); i++) {
    const unit = text.charAt(i);
    if (CLOSE_ANGLES.includes(unit)) return i + 1;
    if (OPEN_ANGLES.includes(unit)) return -1;
  }
  return -1;
}

/** Bracket content that no text quotes: `12`, `a`, `note 3`, `citation needed`. */
const FOOTNOTE = /^(?:\d{1,3}|[a-h]|(?:note|nb|n) ?\d{1,2}|citation needed|edit)$/i;
const MAX_FOOTNOTE_UNITS = 20;

/**
 * Returns where the footnote marker ends whose bracket begins at `at`, or -1. A number in brackets within a sentence may
 * be its text: a marker is attached to a word or to punctuation, stands before punctuation, or has blanks inside, as
 * converters write it.
 */
function footnoteEnd(text: string, at: number, from: number): number {
  const limit = Math.min(text.length, from + MAX_FOOTNOTE_UNITS);
  let close = from;
  while (close < limit && !CLOSE_SQUARES.includes(text.charAt(close)) && !OPEN_SQUARES.includes(text.charAt(close)))
    close++;
  if (close === limit || !CLOSE_SQUARES.includes(text.charAt(close))) return -1;
  const inner = text.slice(from, close);
  const content = visibleText(text, from, close).trim();
  if (!FOOTNOTE.test(content)) return -1;
  const end = close + 1;
  if (text.charAt(end) === '(') return -1;
  if (!isAsciiDigit(content.charCodeAt(content.length - 1)) && content.length === 1) {
    // `word[s]`, `[a] river`: a letter is a marker only behind a word or mark, and not within a word.
    return at > 0 && !isSpace(text.charCodeAt(at - 1)) && !isLetterOrDigit(text.charCodeAt(end)) ? end : -1;
  }
  const attached = at === 0 || !isSpace(text.charCodeAt(at - 1));
  return attached || isSpace(inner.charCodeAt(0)) || isMark(text, at - 2) || isMark(text, nextShown(text, end))
    ? end
    : -1;
}

/** Whether there is punctuation at `at`, or the text ends there. */
function isMark(text: string, at: number): boolean {
  const unit = text.charAt(at);
  return at >= 0 && (unit === '' || '.,;:!?)]⁆[⁅。，'.includes(unit));
}

function nextShown(text: string, from: number): number {
  let at = from;
  while (at < from + MAX_BLANKS && isSpace(text.charCodeAt(at))) at++;
  return at;
}

const MAX_ADDRESS_UNITS = 1_000;

/** Returns where the address of a Markdown link ends, `(https://…)`, whose bracket closes before `from`, or -1. */
function addressEnd(text: string, from: number): number {
  if (text.charAt(from) !== '(' || !/^\((?:https?:\/\/|mailto:|\/|#)/i.test(text.slice(from, from + 9))) return -1;
  let depth = 0;
  for (let i = from; i < Math.min(text.length, from + MAX_ADDRESS_UNITS); i++) {
    const unit = text.charAt(i);
    if (unit === '(') depth++;
    else if (unit === ')' && --depth === 0) return i + 1;
    else if (unit === '[' || unit === '⁅' || unit === '\n') return -1;
  }
  return -1;
}

/** Units for one call of `String.fromCharCode`, whose arguments are on the stack. */
const PIECE_UNITS = 4_096;

/** Folded units with their offsets. Grows by doubling: one character can fold to many. */
class UnitList {
  #units: Uint16Array;
  #offsets: Int32Array;
  #count = 0;

  constructor(capacity: number) {
    this.#units = new Uint16Array(capacity);
    this.#offsets = new Int32Array(capacity);
  }

  push(unit: number, offset: number): void {
    if (this.#count === this.#units.length) this.#grow();
    this.#units[this.#count] = unit;
    this.#offsets[this.#count++] = offset;
  }

  finish(): Folded {
    const pieces: string[] = [];
    for (let from = 0; from < this.#count; from += PIECE_UNITS) {
      const to = Math.min(from + PIECE_UNITS, this.#count);
      const piece: string = Reflect.apply(String.fromCharCode, null, this.#units.subarray(from, to));
      pieces.push(piece);
    }
    return { text: pieces.join(''), offsets: this.#offsets.subarray(0, this.#count) };
  }

  #grow(): void {
    const size = 2 * this.#units.length + 16;
    const [units, offsets] = [new Uint16Array(size), new Int32Array(size)];
    units.set(this.#units);
    offsets.set(this.#offsets);
    this.#units = units;
    this.#offsets = offsets;
  }
}
