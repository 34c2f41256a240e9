/**
 * The reference's patterns for elements, as scanners with the same result. The patterns backtrack; here every search runs
 * forward only, so that any input is read in linear time.
 */
import { isPythonSpace, skipSpace } from './python-text.ts';

/**
 * `indexOf` for positions that never go back: a hit is kept until it is passed, so that all searches together read the
 * text once.
 */
export function forwardSearch(text: string, needle: string): (from: number) => number {
  let found = text.indexOf(needle);
  return (from) => {
    if (found !== -1 && found < from) found = text.indexOf(needle, from);
    return found;
  };
}

/** Where the value of attribute `name` begins, if it stands first behind an element's name that ends at `after`; else -1. */
export function attributeStart(text: string, after: number, name: string): number {
  const at = skipSpace(text, after);
  return at > after && text.startsWith(`${name}=`, at) ? at + name.length + 1 : -1;
}

export type ReadId = {
  readonly id: string;
  /** Behind the id and its closing quote. */
  readonly end: number;
};

/** An id without white space, quotes or `>`, in equal quotes or none; `null` for any other. `at`: behind `id=`. */
export function readId(text: string, at: number): ReadId | null {
  const quote = isQuote(text, at) ? text.charAt(at) : '';
  const start = at + quote.length;
  let end = start;
  while (end < text.length && !isQuote(text, end) && text.charAt(end) !== '>' && !isPythonSpace(text.charCodeAt(end)))
    end++;
  if (end === start || !text.startsWith(quote, end)) return null;
  return { id: text.slice(start, end), end: end + quote.length };
}

export function isQuote(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x22 || code === 0x27;
}

/** Contents between `open` and the next `close`, in order; an opening tag inside one is content. */
export function contentsBetween(text: string, open: string, close: string): string[] {
  const contents: string[] = [];
  for (let at = text.indexOf(open); at !== -1; ) {
    const start = at + open.length;
    const end = text.indexOf(close, start);
    if (end === -1) break;
    contents.push(text.slice(start, end));
    at = text.indexOf(open, end + close.length);
  }
  return contents;
}
