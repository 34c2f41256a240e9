/**
 * Extracts claims and their ids like rlresearch/dr-tulu 6188f34c (`citation_utils.py`). A loose pattern separates cited
 * from uncited text and a strict one reads the ids; text that only the loose pattern matches is lost.
 */

import { stripPythonSpace } from '../../../text/python-text.ts';
import { forwardSearch, isIdUnit, isQuote, readId } from './elements.ts';

/** Both patterns have exactly one blank before `id=`. */
const OPEN = '<cite id=';
const CLOSE = '</cite>';

/** Maps claim texts to ids, ordered by first occurrence: uncited parts (no ids) first, then cited claims. */
export type ExactClaims = ReadonlyMap<string, readonly string[]>;

/** Options that split uncited text further; the reward uses neither. */
type UncitedSplit = { readonly atLineBreaks?: boolean; readonly atSentenceEnds?: boolean };

/**
 * Extracts the claims of a whole text. The reward passes a whole transcript, so thinking and tool output are claims
 * too. Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - of several ids only the last is kept, which after a trailing comma is the empty id;
 * - ids in quotes with a space after the comma, and ids in unequal quotes, drop the claim;
 * - a claim that contains `<` or is empty is uncited text, markup included, and so is one with anything but one blank
 *   before `id=`, with `ids=`, or with white space after the equals sign;
 * - of nested citations only the inner one counts;
 * - of equal claims the last one's id is kept, and a cited one replaces an uncited one;
 * - punctuation between citations is an uncited claim;
 * - a split at sentence ends cuts decimals, drops the mark, and knows `.`, `!` and `?` only.
 */
export function extractClaims(text: string, split: UncitedSplit = {}): ExactClaims {
  const claims = new Map<string, readonly string[]>();
  for (const part of uncitedParts(text, split)) claims.set(part, []);
  for (const { ids, content } of citedElements(text)) {
    const claim = stripPythonSpace(content);
    if (claim !== '') claims.set(claim, [ids.slice(ids.lastIndexOf(',') + 1)]);
  }
  return claims;
}

/** Whether the text has a citation by the loose pattern, which the format reward uses. */
export function hasCitation(text: string): boolean {
  return !looseElements(text).next().done;
}

function uncitedParts(text: string, split: UncitedSplit): readonly string[] {
  let parts: string[] = [];
  let from = 0;
  for (const { start, end } of looseElements(text)) {
    parts.push(text.slice(from, start));
    from = end;
  }
  parts.push(text.slice(from));
  if (split.atLineBreaks === true) parts = parts.flatMap((part) => part.split('\n'));
  if (split.atSentenceEnds === true) parts = parts.flatMap((part) => part.split(/[.!?]/));
  return parts.map(stripPythonSpace).filter((part) => part !== '');
}

type Element = { readonly start: number; readonly end: number };

/** Finds elements whose id begins with none of quote, `>` and white space; a quote may precede it. */
function* looseElements(text: string): Generator<Element> {
  const contentOf = contentReader(text);
  for (let at = text.indexOf(OPEN); at !== -1; ) {
    const value = at + OPEN.length;
    const first = isQuote(text, value) ? value + 1 : value;
    const content = isIdUnit(text, first) ? contentOf(first) : null;
    if (content !== null) yield { start: at, end: content.end + CLOSE.length };
    at = text.indexOf(OPEN, content === null ? at + OPEN.length : content.end);
  }
}

/** Finds elements whose ids have no white space and are in matching quotes or none. */
function* citedElements(text: string): Generator<{ readonly ids: string; readonly content: string }> {
  const contentOf = contentReader(text);
  for (let at = text.indexOf(OPEN); at !== -1; ) {
    const ids = readId(text, at + OPEN.length);
    const content = ids === null ? null : contentOf(ids.end);
    if (ids !== null && content !== null) yield { ids: ids.id, content: text.slice(content.start, content.end) };
    at = text.indexOf(OPEN, content === null ? at + OPEN.length : content.end);
  }
}

/**
 * Reads the content of an element, starting after its ids: the text between the next `>` and `</cite>`. `null` if it is
 * empty or contains `<`. The start offset must not decrease from call to call.
 */
function contentReader(text: string): (afterIds: number) => Element | null {
  const greaterThan = forwardSearch(text, '>');
  const lessThan = forwardSearch(text, '<');
  return (afterIds) => {
    const tagEnd = greaterThan(afterIds);
    if (tagEnd === -1) return null;
    const start = tagEnd + 1;
    const end = lessThan(start);
    return end > start && text.startsWith(CLOSE, end) ? { start, end } : null;
  };
}
