/**
 * Finds the text that markers cite, without the marks around them: `long ([1])`, `long **[1]**`, `long<sup>[1]</sup>`,
 * `long (see [1])`.
 */
import { isSpace } from '../text/characters.ts';
import { type Span, trimSpan } from '../text/span.ts';

/** Marks before a marker: a bracket, also with a word that points to it, the tag of raised text, or opening emphasis. */
const BEFORE = new RegExp(
  '(?:(?:[([{（［【^](?:(?:see|cf|also|ref|sources?|siehe|vgl|quelle|voir)[.:]?)?' +
    '|<(?:sup|sub|small)>|(?<=^|[\\s([{（［【^])[*_]+)\\s*)+$',
  'i',
);
/** Most of these marks that are removed at once, in UTF-16 code units. */
const MAX_MARK_CHARS = 64;
/** A mark behind a marker, or several. */
const BEHIND = /[)\]}）］】\s]+|<\/(?:sup|sub|small)>/iy;

/** The part of `text[start, end)` that a marker at `end` cites, trimmed. Linear in what it leaves out. */
export function citedText(text: string, start: number, end: number): Span {
  const span = trimSpan(text, start, end);
  let { start: from, end: to } = span;
  for (let before = -1; before !== to && to > from; ) {
    before = to;
    to -= BEFORE.exec(text.slice(Math.max(from, to - MAX_MARK_CHARS), to))?.[0].length ?? 0;
    while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  }
  BEHIND.lastIndex = from;
  // One pattern for all marks would need a stack as long as their run.
  while (from < span.end && BEHIND.test(text)) from = BEHIND.lastIndex;
  return from < to ? { start: from, end: to } : { start: span.end, end: span.end };
}
