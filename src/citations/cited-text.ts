/**
 * Finds the text that markers cite, without the marks around them: `long ([1])`, `long **[1]**`, `long<sup>[1]</sup>`,
 * `long (see [1])`.
 */
import { isAsciiLetter, isSpace } from '../text/characters.ts';
import { type Span, trimSpan } from '../text/span.ts';

const OPENING = '([{（［【^';
const CLOSING = ')]}）］】';
const EMPHASIS = '*_';
/** Tags around raised markers, in lower case. */
const OPENING_TAGS = ['<sup>', '<sub>', '<small>'];
const CLOSING_TAGS = ['</sup>', '</sub>', '</small>'];
/** Words between a bracket and a marker, without the stop or colon behind them, in lower case. */
const POINTERS: ReadonlySet<string> = new Set('see cf also ref source sources siehe vgl quelle voir'.split(' '));
const MAX_POINTER_CHARS = 12;

/** The part of `text[start, end)` that a marker at `end` cites, trimmed. Linear in what it leaves out. */
export function citedText(text: string, start: number, end: number): Span {
  const span = trimSpan(text, start, end);
  let { start: from, end: to } = span;
  for (let before = -1; before !== to && to > from; ) {
    before = to;
    to = beforeMark(text, from, to);
    while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  }
  for (let before = -1; before !== from && from < to; ) {
    before = from;
    const tag = CLOSING_TAGS.find((one) => startsWith(text, from, one));
    if (tag !== undefined) from += tag.length;
    else if (CLOSING.includes(text.charAt(from))) from++;
    while (from < to && isSpace(text.charCodeAt(from))) from++;
  }
  return from < to ? { start: from, end: to } : { start: span.end, end: span.end };
}

/** The end of the text before the mark that ends at `to`; `to` if there is none. */
function beforeMark(text: string, from: number, to: number): number {
  const last = text.charAt(to - 1);
  if (OPENING.includes(last)) return to - 1;
  const tag = OPENING_TAGS.find((one) => to - one.length >= from && startsWith(text, to - one.length, one));
  if (tag !== undefined) return to - tag.length;
  if (EMPHASIS.includes(last)) {
    // Emphasis that begins here, not one that ends.
    let at = to;
    while (at > from && EMPHASIS.includes(text.charAt(at - 1))) at--;
    const isOpening = at === from || isSpace(text.charCodeAt(at - 1)) || OPENING.includes(text.charAt(at - 1));
    return isOpening ? at : to;
  }
  const wordEnd = '.:'.includes(last) ? to - 1 : to;
  const limit = Math.max(from, wordEnd - MAX_POINTER_CHARS);
  let at = wordEnd;
  while (at > limit && isLetter(text.charCodeAt(at - 1))) at--;
  const isBracketed = at > from && at < wordEnd && OPENING.includes(text.charAt(at - 1));
  return isBracketed && POINTERS.has(text.slice(at, wordEnd).toLowerCase()) ? at - 1 : to;
}

function isLetter(code: number): boolean {
  return isAsciiLetter(code) || code === 0xe9;
}

function startsWith(text: string, at: number, tag: string): boolean {
  return text.slice(at, at + tag.length).toLowerCase() === tag;
}
