/**
 * Checking a judge's quote: it must stand in a cited source, word for word, after folding what copying changes (NFKC,
 * case, white space, quotation marks, dashes, our own angle brackets). A quote that does not is `unverified`: the judge
 * made it up, and a recipe may zero its claim. Linear in the cited texts.
 */
import type { Quote } from './types.ts';

/** What a folded text keeps: the folded units, and for each the offset of what it came from. */
type Folded = { readonly text: string; readonly offsets: readonly number[] };

const QUOTATION_MARKS = '"\'`´‘’‚‛“”„‟«»‹›<>';
const DASHES = '-‐‑‒–—―−';

/** Fewer folded units than this prove nothing: "the" stands in every source. */
const MIN_QUOTE_UNITS = 8;

/** Finds quotes in the sources of one request; each source is folded once, when it is first needed. */
export class QuoteFinder {
  readonly #texts: readonly string[];
  readonly #folded = new Map<number, Folded>();

  /** @param texts of the request's sources, by position. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /**
   * Where the quote stands in one of the cited sources, in the order given; `unverified` if in none, `absent` if nothing
   * that could be checked was quoted.
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
      if (start === undefined || last === undefined) throw new Error('QuoteFinder: a folded unit without its offset');
      return { source, start, end: last + unitsAt(this.#texts[source] ?? '', last) };
    }
    return 'unverified';
  }

  #fold(source: number): Folded {
    const known = this.#folded.get(source);
    if (known !== undefined) return known;
    const text = this.#texts[source];
    if (text === undefined) throw new RangeError(`QuoteFinder: no source ${source}`);
    const folded = foldForQuote(text);
    this.#folded.set(source, folded);
    return folded;
  }
}

function unitsAt(text: string, at: number): number {
  const code = text.codePointAt(at);
  return code !== undefined && code > 0xffff ? 2 : 1;
}

/** Judges like to mark cuts at the edges. */
function trimEllipsis(quote: string): string {
  let start = 0;
  let end = quote.length;
  const cut = (unit: string): boolean => unit === '.' || unit === '…' || unit.trim() === '';
  while (start < end && cut(quote.charAt(start))) start++;
  while (end > start && cut(quote.charAt(end - 1))) end--;
  return quote.slice(start, end);
}

/** Folds code point by code point, so that each folded unit knows its origin. White space and marks are dropped. */
function foldForQuote(text: string): Folded {
  let folded = '';
  const offsets: number[] = [];
  let at = 0;
  for (const point of text) {
    const plain = point.charCodeAt(0) < 0x80 ? point.toLowerCase() : point.normalize('NFKC').toLowerCase();
    for (let i = 0; i < plain.length; i++) {
      const unit = plain.charAt(i);
      if (unit.trim() === '' || QUOTATION_MARKS.includes(unit)) continue;
      folded += DASHES.includes(unit) ? '-' : unit;
      offsets.push(at);
    }
    at += point.length;
  }
  return { text: folded, offsets };
}
