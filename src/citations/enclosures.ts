/**
 * Finds stretches that have a begin and an end and hide what is in them: code of HTML (`<code>`, `<pre>`, `<kbd>`,
 * `<samp>`, `<tt>`), comments, and formulas (`$x[1]$`, `$$…$$`, `\(…\)`, `\[…\]`). One without an end is text, and so
 * is all but a `<pre>` that begins a line across a blank line. An end in backticks, `` `</code>` ``, is none.
 *
 * Dollars are more often money: `$` begins a formula only before a letter or mark and ends it only before what is no
 * letter or digit, on the same line. Something in it must be written as formulas are, and nothing as prose or the rows of
 * tables are. In doubt it is money: a lost citation is worse than one that is read in a formula.
 */
import { GREATER_THAN, isAsciiDigit, isLetterOrDigit, isSpace, LESS_THAN, LINE_FEED } from '../text/characters.ts';

export const DOLLAR = 0x24;
const BACKSLASH = 0x5c;

/** Longest stretches, in UTF-16 code units: so long is a stream held back that may be one. */
const MAX_CODE_CHARS = 1024;
const MAX_BLOCK_CHARS = 4096;
const MAX_LINE_FORMULA_CHARS = 128;
/** Longest opening tag, in UTF-16 code units. */
const MAX_TAG_CHARS = 128;
/** Most white space in a closing tag, `</pre >`, and in a blank line. */
const MAX_BLANKS = 32;
/** No end, with what decides whether it is one, is longer, in UTF-16 code units. */
const MAX_CLOSE_CHARS = MAX_BLANKS + 16;

type Kind = {
  readonly open: string;
  readonly close: string;
  /** Longest inside, in UTF-16 code units. */
  readonly most: number;
  readonly isTag: boolean;
  readonly isLine: boolean;
  /** Whether it may go on behind a blank line if it begins a line. */
  readonly isBlock: boolean;
  /** Whether it must look like a formula. */
  readonly isFormula: boolean;
};

const code = (name: string): Kind => ({
  open: `<${name}`,
  close: `</${name}`,
  most: MAX_CODE_CHARS,
  isTag: true,
  isLine: false,
  isBlock: false,
  isFormula: false,
});
const formula = (open: string, close: string, most: number, isLine: boolean): Kind => ({
  open,
  close,
  most,
  isTag: false,
  isLine,
  isBlock: false,
  isFormula: true,
});
const PRE: Kind = { ...code('pre'), most: MAX_BLOCK_CHARS, isBlock: true };
const COMMENT: Kind = { ...code('!--'), close: '-->', isTag: false };
/** Nothing begins with it: only its ends are sought, as those of the others are. */
const BLANK_LINE: Kind = { ...COMMENT, open: '', close: '\n\n' };

/** By the unit that begins them. Of two that begin alike the longer one comes first. */
const KINDS: Readonly<Record<number, readonly Kind[]>> = {
  [LESS_THAN]: [COMMENT, PRE, ...['code', 'kbd', 'samp', 'tt'].map(code)],
  [DOLLAR]: [formula('$$', '$$', MAX_CODE_CHARS, false), formula('$', '$', MAX_LINE_FORMULA_CHARS, true)],
  [BACKSLASH]: [formula('\\(', '\\)', MAX_CODE_CHARS, false), formula('\\[', '\\]', MAX_CODE_CHARS, false)],
};

/** A command, an exponent, an index, an equation, or a variable of one letter before a bracket. */
const FORMULA = /\\[A-Za-z{]|[\w)\]}]\^\S|[A-Za-z0-9)\]}]_[A-Za-z0-9{\\]|[^\s=] ?=|(?:^|[^A-Za-z])[A-Za-z]\[/;
const COMMAND = /\\[A-Za-z]/;
/** Two words, a word of a script that formulas rarely have, an address, or a parenthesis that closes one outside. */
const PROSE =
  /[A-Za-z\u00c0-\u024f]{2,}[,;]?\s+[A-Za-z\u00c0-\u024f]{2,}|[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|:\/\/|^[^([]*\)/;
/** The border of a cell, or of a row. */
const CELLS = /\s\|\s|\|\s*\n/;
/** What stands behind a `$` that is a sign of money: `($)`, `"$"`. */
const BEHIND_MONEY = ')]\'"`\u2019\u201d\u00bb';

/** Where a stretch ends, and whether it is a comment, which no reader of the answer sees. */
type Enclosed = { readonly end: number; readonly isBlank: boolean };
type Close = { readonly start: number; readonly end: number };

/** Finds the stretches of a text that arrives in pieces. Linear: it searches no part of the text twice for one end. */
export class Enclosures {
  /** The last end of each kind, and from where to where it was searched; offsets in the whole text. */
  readonly #ends = new Map<Kind, { readonly from: number; readonly found: Close | null; readonly to: number }>();

  /**
   * The stretch that begins at `text[at]`; `null`: none does; `undecided`: more text must follow first.
   *
   * @param offset of `at` in the whole text. @param last the unit before `at`.
   */
  at(text: string, at: number, complete: boolean, offset: number, last: number): Enclosed | null | 'undecided' {
    for (const kind of KINDS[text.charCodeAt(at)] ?? []) {
      const from = insideOf(kind, text, at, complete, last);
      if (from === 'undecided') return 'undecided';
      if (from === null) continue;
      const close = this.#closeOf(kind, text, from, complete, offset - at);
      if (close === 'undecided') return 'undecided';
      if (close === null) continue;
      if (!(kind.isBlock && last === LINE_FEED)) {
        const blank = this.#nextClose(BLANK_LINE, text, from, complete, offset - at);
        if (blank !== null && blank.end <= close.start) continue;
      }
      if (kind.isFormula && !isFormula(text.slice(from, close.start), kind.open.startsWith('$'))) continue;
      return { end: close.end, isBlank: kind === COMMENT };
    }
    return null;
  }

  /** The end of a stretch whose inside begins at `from`. `base`: the offset of the text. */
  #closeOf(kind: Kind, text: string, from: number, complete: boolean, base: number): Close | null | 'undecided' {
    const limit = from + kind.most;
    if (kind.isLine) return closeInLine(text, from, limit, complete);
    const found = this.#nextClose(kind, text, from, complete, base);
    if (found !== null) return found.start <= limit ? found : null;
    return complete || text.length > limit + MAX_CLOSE_CHARS ? null : 'undecided';
  }

  /** The first end of a kind from `from` on, as far as the text has arrived. What was searched before is not again. */
  #nextClose(kind: Kind, text: string, from: number, complete: boolean, base: number): Close | null {
    const known = this.#ends.get(kind);
    const isSearched = known !== undefined && known.from <= base + from;
    if (isSearched && known.found !== null && known.found.start >= base + from) return shifted(known.found, -base);
    const start = isSearched ? Math.max(from, known.to - base) : from;
    const found = closeFrom(kind, text, start, complete);
    this.#ends.set(kind, {
      from: isSearched && start > from ? known.from : base + from,
      found: found === null ? null : shifted(found, base),
      to: base + (found?.start ?? Math.max(start, text.length - MAX_CLOSE_CHARS)),
    });
    return found;
  }
}

/** Where the inside of a stretch of a kind begins; `null`: none of this kind begins at `at`. */
function insideOf(kind: Kind, text: string, at: number, complete: boolean, last: number): number | null | 'undecided' {
  const { open } = kind;
  const second = text.charCodeAt(at + 1);
  // Most of what begins like a stretch differs in its second unit.
  if (open.length > 1 && second < 0x80 && (second | 0x20) !== (open.charCodeAt(1) | 0x20)) return null;
  const written = text.slice(at, at + open.length).toLowerCase();
  const from = at + open.length;
  const next = text.charCodeAt(from);
  if (written !== open) return !complete && from > text.length && open.startsWith(written) ? 'undecided' : null;
  if (last === LESS_THAN || last === BACKSLASH) return null;
  if (!kind.isTag && !open.startsWith('$')) return from;
  if (from >= text.length) return complete ? null : 'undecided';
  if (!kind.isTag) {
    if (last === DOLLAR || isLetterOrDigit(last) || next === DOLLAR) return null;
    const isMoney = isSpace(next) || isAsciiDigit(next) || BEHIND_MONEY.includes(text.charAt(from));
    return kind.isLine && isMoney ? null : from;
  }
  if (next !== GREATER_THAN && !isSpace(next)) return null;
  for (let i = from; i < at + MAX_TAG_CHARS; i++) {
    if (i >= text.length) return complete ? null : 'undecided';
    const unit = text.charCodeAt(i);
    if (unit === GREATER_THAN) return i + 1;
    if (unit === LESS_THAN) return null;
  }
  return null;
}

/** The `$` that ends a formula within its line. */
function closeInLine(text: string, from: number, limit: number, complete: boolean): Close | null | 'undecided' {
  for (let i = from; i < limit; i++) {
    if (i >= text.length) return complete ? null : 'undecided';
    const code = text.charCodeAt(i);
    if (code === LINE_FEED) return null;
    if (code !== DOLLAR || text.charCodeAt(i - 1) === BACKSLASH) continue;
    if (i + 1 >= text.length && !complete) return 'undecided';
    const isBehindSpace = i === from || isSpace(text.charCodeAt(i - 1)) || text[i - 1] === '(';
    const isBeforeWord = i + 1 < text.length && isLetterOrDigit(text.charCodeAt(i + 1));
    return isBehindSpace || isBeforeWord ? null : { start: i, end: i + 1 };
  }
  return null;
}

/** The first end of a kind from `from` on. One between backticks, and `$$` of a longer row of `$`, is none. */
function closeFrom(kind: Kind, text: string, from: number, complete: boolean): Close | null {
  const pattern = (complete ? CLOSES : DECIDED_CLOSES).get(kind);
  if (pattern === undefined) return null;
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  return found === null ? null : { start: found.index, end: pattern.lastIndex };
}

/** The ends of each kind: in a whole text, and in one where more may follow. */
const CLOSES = new Map([...Object.values(KINDS).flat(), BLANK_LINE].map((kind) => [kind, closing(kind, '|$')]));
const DECIDED_CLOSES = new Map([...CLOSES.keys()].map((kind) => [kind, closing(kind, '')]));

function closing({ close, isTag }: Kind, orEnd: string): RegExp {
  if (close === '$$') return new RegExp(`\\$\\$(?=[^$]${orEnd})`, 'g');
  if (close === BLANK_LINE.close) return new RegExp(`\\n[^\\S\\n]{0,${MAX_BLANKS}}\\n`, 'g');
  if (!isTag) return new RegExp(close.replace(/[\\()[\]]/g, '\\$&'), 'g');
  const tag = `${close}\\s{0,${MAX_BLANKS}}>`;
  return new RegExp(`(?<!\`)${tag}|${tag}(?=[^\`]${orEnd})`, 'gi');
}

function shifted({ start, end }: Close, by: number): Close {
  return { start: start + by, end: end + by };
}

function isFormula(text: string, isInDollars: boolean): boolean {
  if (!FORMULA.test(text)) return false;
  return !isInDollars || !(CELLS.test(text) || (PROSE.test(text) && !COMMAND.test(text)));
}
