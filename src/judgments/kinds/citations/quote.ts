/**
 * Checks a judge's quote: a cited source must contain it word for word, after folding what copying changes (NFKC, case,
 * white space, quotation marks, dashes, the marks that untrusted.ts puts in). A recipe may zero a claim whose quote is
 * not found. Linear in the cited texts.
 */

/**
 * Where a source contains the judge's quote, in UTF-16 code units; `end` is exclusive. The text itself is not stored.
 */
export type Quote = { readonly source: number; readonly start: number; readonly end: number };

/** A folded text, with the offset in the original of each unit. */
type Folded = { readonly text: string; readonly offsets: readonly number[] };

const QUOTATION_MARKS = '"\'`´‘’‚‛“”„‟«»‹›<>';
/**
 * Maps a mark that a prompt shows to the original mark that it replaces (untrusted.ts). Angle brackets count as
 * quotation marks.
 */
const SHOWN: Readonly<Record<string, string>> = { '⁅': '[', '⁆': ']', '¦': '|', '▁': '_' };
const DASHES = '-‐‑‒–—―−';

/** Least length of a quote, in folded units. A shorter one proves nothing: every source contains "the". */
const MIN_QUOTE_UNITS = 8;

/** Finds quotes in the sources of one request. Folds each source once, at its first use. */
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
    const folded = foldForQuote(text);
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

/** Folds one code point at a time and records where each unit came from. Drops white space and quotation marks. */
export function foldForQuote(text: string): Folded {
  let folded = '';
  const offsets: number[] = [];
  let at = 0;
  for (const point of text) {
    const plain = point.charCodeAt(0) < 0x80 ? point.toLowerCase() : point.normalize('NFKC').toLowerCase();
    for (let i = 0; i < plain.length; i++) {
      const unit = plain.charAt(i);
      if (unit.trim() === '' || QUOTATION_MARKS.includes(unit)) continue;
      folded += DASHES.includes(unit) ? '-' : (SHOWN[unit] ?? unit);
      offsets.push(at);
    }
    at += point.length;
  }
  return { text: folded, offsets };
}
