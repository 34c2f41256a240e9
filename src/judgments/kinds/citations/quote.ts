/**
 * Checks a judge's quote: a cited source must contain it word for word, after folding what copying changes (NFKC, case,
 * white space, quotation marks, dashes, the marks that untrusted.ts puts in). A recipe may zero a claim whose quote is
 * not found. Linear in the cited texts.
 */
import { createRecentlyUsed } from '../../../recently-used.ts';

/**
 * Where a source contains the judge's quote, in UTF-16 code units; `end` is exclusive. The text itself is not stored.
 */
export type Quote = { readonly source: number; readonly start: number; readonly end: number };

/** A folded text, with the offset in the original of each unit. */
type Folded = { readonly text: string; readonly offsets: Int32Array };

const QUOTATION_MARKS = '"\'`´‘’‚‛“”„‟«»‹›<>';
/**
 * Maps a mark that a prompt shows to the original mark that it replaces (untrusted.ts). Angle brackets count as
 * quotation marks.
 */
const SHOWN: Readonly<Record<string, string>> = { '⁅': '[', '⁆': ']', '¦': '|', '▁': '_' };
const DASHES = '-‐‑‒–—―−';

/** No fold of an ASCII unit. */
const DROPPED = 0xff;

/** Units for one call of `String.fromCharCode`, whose arguments are on the stack. */
const PIECE_UNITS = 4_096;

/** Least length of a quote, in folded units. A shorter one proves nothing: every source contains "the". */
const MIN_QUOTE_UNITS = 8;

/** The sources that were folded last, by their text: the replies to the samples of a group quote the same ones. */
const foldedLast = createRecentlyUsed<Folded>({ entries: 512, size: 512 * 1024 });

/** Finds quotes in the sources of one request. Folds each source at its first use. */
export class QuoteFinder {
  readonly #texts: readonly string[];
  readonly #folded = new Map<number, Folded>();

  /** @param texts the texts of the request's sources; an index into this list identifies a source. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /**
   * Returns the quote's place in the first cited source that contains it, `unverified` if none does, or `absent` if the
   * quote is empty once folded.
   */
  locate(quote: string, cited: readonly number[]): Quote | 'unverified' | 'absent' {
    const wanted = foldForQuote(trimEllipsis(quote)).text;
    if (wanted.length === 0) return 'absent';
    for (const source of cited) {
      const folded = this.#fold(source);
      const at = folded.text.indexOf(wanted);
      if (at === -1) continue;
      if (wanted.length < MIN_QUOTE_UNITS && wanted !== folded.text) continue;
      const start = folded.offsets[at];
      const last = folded.offsets[at + wanted.length - 1];
      if (start === undefined || last === undefined) throw new Error('QuoteFinder: a folded unit has no offset');
      return { source, start, end: last + unitsAt(this.#texts[source] ?? '', last) };
    }
    return 'unverified';
  }

  #fold(source: number): Folded {
    const known = this.#folded.get(source);
    if (known !== undefined) return known;
    const text = this.#texts[source];
    if (text === undefined) throw new RangeError(`QuoteFinder: no source ${source}`);
    let folded = foldedLast.get(text);
    if (folded === undefined) {
      folded = foldForQuote(text);
      foldedLast.add(text, folded, text.length);
    }
    this.#folded.set(source, folded);
    return folded;
  }
}

function unitsAt(text: string, at: number): number {
  const code = text.codePointAt(at);
  return code !== undefined && code > 0xffff ? 2 : 1;
}

/** Removes the ellipses with which judges mark cuts at the edges. */
function trimEllipsis(quote: string): string {
  let start = 0;
  let end = quote.length;
  const cut = (unit: string): boolean => unit === '.' || unit === '…' || unit.trim() === '';
  while (start < end && cut(quote.charAt(start))) start++;
  while (end > start && cut(quote.charAt(end - 1))) end--;
  return quote.slice(start, end);
}

/** The fold of each ASCII unit; DROPPED for white space and quotation marks. Nearly all units are read here. */
const ASCII_FOLDS = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const folded = foldUnit(String.fromCharCode(code).toLowerCase());
  return folded === '' ? DROPPED : folded.charCodeAt(0);
});

/** Folds one code point at a time and records where each unit came from. Drops white space and quotation marks. */
export function foldForQuote(text: string): Folded {
  const folded = new UnitList(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) {
      const plain = ASCII_FOLDS[code] ?? DROPPED;
      if (plain !== DROPPED) folded.push(plain, at);
      continue;
    }
    const point = String.fromCodePoint(text.codePointAt(at) ?? code);
    const plain = point.normalize('NFKC').toLowerCase();
    for (let i = 0; i < plain.length; i++) {
      const unit = foldUnit(plain.charAt(i));
      if (unit !== '') folded.push(unit.charCodeAt(0), at);
    }
    at += point.length - 1;
  }
  return folded.finish();
}

/** The fold of a unit after NFKC and lower-casing; empty for white space and quotation marks. */
function foldUnit(unit: string): string {
  if (unit.trim() === '' || QUOTATION_MARKS.includes(unit)) return '';
  return DASHES.includes(unit) ? '-' : (SHOWN[unit] ?? unit);
}

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
