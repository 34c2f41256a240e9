/**
 * The element patterns of the reference (rlresearch/dr-tulu 6188f34c), as scanners with the same results. The patterns
 * backtrack; the scanners only move forward, so any input takes linear time.
 */
import { isPythonSpace, skipPythonSpace } from '../../../text/python-text.ts';

/**
 * Returns an `indexOf` for start offsets that never decrease. It keeps a hit until the start offset passes it, so all
 * searches together read the text once.
 */
export function forwardSearch(text: string, needle: string): (from: number) => number {
  let found = text.indexOf(needle);
  return (from) => {
    if (found !== -1 && found < from) found = text.indexOf(needle, from);
    return found;
  };
}

/**
 * Returns the start of the value of attribute `name`, which must be the first one after an element's name that ends at
 * `after`; else -1.
 */
export function attributeStart(text: string, after: number, name: string): number {
  const at = skipPythonSpace(text, after);
  return at > after && text.startsWith(`${name}=`, at) ? at + name.length + 1 : -1;
}

type ReadId = {
  readonly id: string;
  /** Offset after the id and its closing quote. */
  readonly end: number;
};

/**
 * Reads an id without white space, quotes or `>`, in matching quotes or none; else returns `null`. `at` is the offset
 * after `id=`.
 */
export function readId(text: string, at: number): ReadId | null {
  const quote = isQuote(text, at) ? text.charAt(at) : '';
  const start = at + quote.length;
  let end = start;
  while (isIdUnit(text, end)) end++;
  if (end === start || !text.startsWith(quote, end)) return null;
  return { id: text.slice(start, end), end: end + quote.length };
}

/** Whether an id can have the unit at `at`: neither white space nor a quote nor `>`. */
export function isIdUnit(text: string, at: number): boolean {
  return at < text.length && !isQuote(text, at) && text.charAt(at) !== '>' && !isPythonSpace(text.charCodeAt(at));
}

export function isQuote(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x22 || code === 0x27;
}

/** Yields the contents between `open` and the next `close`; an opening tag inside is content. */
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
