/**
 * Finds stretches that have a begin and an end and hide what is in them: code of HTML (`<code>`, `<pre>`, `<kbd>`,
 * `<samp>`, `<tt>`), comments, and formulas (`$x[1]$`, `$$…$$`, `\(…\)`, `\[…\]`). One without an end is text.
 *
 * Dollars are more often money: `$` begins a formula only before a letter or mark and ends it only before what is no
 * letter or digit, on the same line, and something in it must be written as formulas are.
 */
import { GREATER_THAN, isAsciiDigit, isLetterOrDigit, isSpace, LESS_THAN } from '../text/characters.ts';

export const DOLLAR = 0x24;
const BACKSLASH = 0x5c;

/** Longest stretches, in UTF-16 code units: so long is a stream held back that may be one. */
const MAX_CODE_CHARS = 1024;
const MAX_LINE_FORMULA_CHARS = 128;
/** Longest opening tag, in UTF-16 code units. */
const MAX_TAG_CHARS = 128;

type Kind = {
  readonly open: string;
  readonly close: string;
  readonly most: number;
  readonly isTag: boolean;
  readonly isLine: boolean;
  /** Whether it must look like a formula. */
  readonly isFormula: boolean;
};

const code = (name: string): Kind => ({
  open: `<${name}`,
  close: `</${name}>`,
  most: MAX_CODE_CHARS,
  isTag: true,
  isLine: false,
  isFormula: false,
});
const formula = (open: string, close: string, most: number, isLine: boolean): Kind => ({
  open,
  close,
  most,
  isTag: false,
  isLine,
  isFormula: true,
});
const COMMENT: Kind = { ...code('!--'), close: '-->', isTag: false };

/** By the unit that begins them. Of two that begin alike the longer one comes first. */
const KINDS: Readonly<Record<number, readonly Kind[]>> = {
  [LESS_THAN]: [COMMENT, ...['code', 'pre', 'kbd', 'samp', 'tt'].map(code)],
  [DOLLAR]: [formula('$$', '$$', MAX_CODE_CHARS, false), formula('$', '$', MAX_LINE_FORMULA_CHARS, true)],
  [BACKSLASH]: [formula('\\(', '\\)', MAX_CODE_CHARS, false), formula('\\[', '\\]', MAX_CODE_CHARS, false)],
};

/** A command, an index, an exponent, a relation, a sum, or a variable of one letter before a bracket. */
const FORMULA = /[\\^_{}=+<>|]|(?:^|[^A-Za-z])[A-Za-z]\[/;

/** Where a stretch ends, and whether nobody sees it. */
type Enclosed = { readonly end: number; readonly isBlank: boolean };

/** Finds the stretches of a text that arrives in pieces. Linear: it searches no part of the text twice for one end. */
export class Enclosures {
  /** The last end of each kind, or how far the text has none; offsets in the whole text. */
  readonly #ends = new Map<Kind, { readonly from: number; readonly found: number; readonly to: number }>();

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
      if (kind.isFormula && !isFormula(text.slice(from, close))) continue;
      return { end: close + kind.close.length, isBlank: kind === COMMENT };
    }
    return null;
  }

  /** Where the end of a stretch begins, whose inside begins at `from`. `base`: the offset of the text. */
  #closeOf(kind: Kind, text: string, from: number, complete: boolean, base: number): number | null | 'undecided' {
    const limit = from + kind.most;
    if (kind.isLine) return closeInLine(kind, text, from, limit, complete);
    const known = this.#ends.get(kind);
    let found =
      known !== undefined && known.found >= base + from && known.from <= base + from ? known.found - base : -1;
    if (found === -1) {
      const start = known !== undefined && known.from <= base + from ? Math.max(from, known.to - base) : from;
      found = indexOfClose(text, kind.close, start);
      const to = found === -1 ? Math.max(start, text.length - kind.close.length + 1) : found;
      const first = start > from && known !== undefined ? known.from : base + from;
      this.#ends.set(kind, { from: first, found: found === -1 ? -1 : base + found, to: base + to });
    }
    if (found !== -1) return found <= limit ? found : null;
    return complete || text.length > limit + kind.close.length ? null : 'undecided';
  }
}

/** Where the inside of a stretch of a kind begins; `null`: none of this kind begins at `at`. */
function insideOf(kind: Kind, text: string, at: number, complete: boolean, last: number): number | null | 'undecided' {
  const { open } = kind;
  const written = text.slice(at, at + open.length).toLowerCase();
  const from = at + open.length;
  const next = text.charCodeAt(from);
  if (written !== open) return !complete && from > text.length && open.startsWith(written) ? 'undecided' : null;
  if (last === LESS_THAN) return null;
  if (!kind.isTag && !open.startsWith('$')) return from;
  if (from >= text.length) return complete ? null : 'undecided';
  if (!kind.isTag) {
    if (last === DOLLAR || isLetterOrDigit(last) || next === DOLLAR) return null;
    return kind.isLine && (isSpace(next) || isAsciiDigit(next)) ? null : from;
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

/** The end of a formula within its line. */
function closeInLine(
  { close }: Kind,
  text: string,
  from: number,
  limit: number,
  complete: boolean,
): number | null | 'undecided' {
  for (let i = from; i < limit; i++) {
    if (i >= text.length) return complete ? null : 'undecided';
    if (text[i] === '\n') return null;
    if (!text.startsWith(close, i)) {
      if (!complete && i + close.length > text.length && close.startsWith(text.slice(i))) return 'undecided';
      continue;
    }
    if (close !== '$') return i;
    if (i + 1 >= text.length && !complete) return 'undecided';
    const next = i + 1 < text.length ? text.charCodeAt(i + 1) : DOLLAR - 1;
    if (i > from && !isSpace(text.charCodeAt(i - 1)) && !isLetterOrDigit(next)) return i;
    return null;
  }
  return null;
}

function indexOfClose(text: string, close: string, from: number): number {
  if (!close.startsWith('</')) return text.indexOf(close, from);
  const pattern = new RegExp(close, 'gi');
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}

function isFormula(text: string): boolean {
  return FORMULA.test(text);
}
