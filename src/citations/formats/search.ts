/** Finds a quotation in a text in linear time, without regard to white space. */
import { isSpace } from '../../text/characters.ts';
import { bordersOf, unitsOf } from '../../text/contains.ts';

/** Text units that the quotations of one answer may be compared with: a tenth of a second of work. */
const MAX_SEARCHED_CHARS = 20_000_000;

/** Searches the quotations of one answer until their budget is spent. */
export class QuoteSearch {
  #left = MAX_SEARCHED_CHARS;

  /** Whether `text` contains `quote`; `null` if the budget is spent. */
  contains(text: string, quote: string): boolean | null {
    const cost = text.length + quote.length;
    if (cost > this.#left) return null;
    this.#left -= cost;
    return text.includes(quote.trim().slice(0, 1)) && containsFolded(text, quote);
  }
}

/** The only place of a part in a text; -1 if there is none or a second one. Not empty. Linear. */
export function onlyPlaceOf(text: string, part: string): number {
  const borders = bordersOf(unitsOf(part));
  let place = -1;
  for (let i = 0, k = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    while (k > 0 && (k === part.length || code !== part.charCodeAt(k))) k = borders[k - 1] ?? 0;
    if (code === part.charCodeAt(k)) k++;
    if (k < part.length) continue;
    if (place !== -1) return -1;
    place = i + 1 - k;
  }
  return place;
}

/** Compares the units that are no white space. */
function containsFolded(text: string, quote: string): boolean {
  const pattern = withoutSpace(quote);
  if (pattern.length === 0) return true;
  const borders = bordersOf(pattern);
  for (let i = 0, k = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSpace(code)) continue;
    while (k > 0 && code !== pattern[k]) k = borders[k - 1] ?? 0;
    if (code === pattern[k]) k++;
    if (k === pattern.length) return true;
  }
  return false;
}

function withoutSpace(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (!isSpace(code)) units[count++] = code;
  }
  return units.subarray(0, count);
}

/** Whether `text[start, end)` is `quote`, apart from white space. */
export function isQuotedAt(text: string, start: number, end: number, quote: string): boolean {
  let n = 0;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (isSpace(code)) continue;
    while (n < quote.length && isSpace(quote.charCodeAt(n))) n++;
    if (code !== quote.charCodeAt(n)) return false;
    n++;
  }
  while (n < quote.length && isSpace(quote.charCodeAt(n))) n++;
  return n === quote.length;
}
