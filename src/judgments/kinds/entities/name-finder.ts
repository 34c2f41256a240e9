/**
 * Finds the place of a name in a text. The name must occur as written, after folding what copying changes
 * (quote-fold.ts), and not inside a longer word. Linear in the text, for each name.
 */
import { isAsciiDigit, isAsciiLetter } from '../../../text/characters.ts';
import { characterEnd, foldForQuote } from '../../../text/quote-fold.ts';

/** A half-open range in UTF-16 code units. */
type NameSpan = { readonly start: number; readonly end: number };

/** Names that say that there is none, folded. */
const NO_NAMES: ReadonlySet<string> = new Set(['null', 'none', 'n/a', 'na', 'unknown', 'notstated']);

/** Returns a function that finds names in the text; `null` = the text does not contain the name. */
export function createNameFinder(text: string): (name: string) => NameSpan | null {
  const folded = foldForQuote(text);
  return (name) => {
    const wanted = foldForQuote(name).text;
    if (wanted === '' || NO_NAMES.has(wanted)) return null;
    for (let at = folded.text.indexOf(wanted); at !== -1; at = folded.text.indexOf(wanted, at + wanted.length)) {
      const start = folded.offsets[at];
      const last = folded.offsets[at + wanted.length - 1];
      if (start === undefined || last === undefined) throw new Error('createNameFinder: a folded unit has no offset');
      const end = characterEnd(text, last);
      if (!splitsWord(text, start) && !splitsWord(text, end)) return { start, end };
    }
    return null;
  };
}

/** Whether an ASCII word goes on across the border before `at`. Scripts without blanks between words have no borders. */
function splitsWord(text: string, at: number): boolean {
  return isWordUnit(text.charCodeAt(at - 1)) && isWordUnit(text.charCodeAt(at));
}

function isWordUnit(code: number): boolean {
  return isAsciiLetter(code) || isAsciiDigit(code);
}
