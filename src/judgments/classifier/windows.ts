/** Cuts a source into overlapping windows that a classifier can read, in linear time. */
import { unitsWithin } from '../protocol/token-estimate.ts';

/** A window begins within the last quarter of the one before it, so a sentence at an end is whole in one of the two. */
const OVERLAP = 0.25;

/**
 * The windows of a text, in order: each has at most `tokens` by the estimate, and ends between two words where it can.
 * Blank ones are left out.
 * @param tokens at least 32.
 */
export function windowsOf(text: string, tokens: number): string[] {
  const windows: string[] = [];
  for (let start = 0; start < text.length; ) {
    const most = unitsWithin(text.slice(start, start + MAX_UNITS_PER_TOKEN * tokens), tokens);
    const isLast = start + most >= text.length;
    const quarter = Math.floor(most * OVERLAP);
    const end = isLast ? text.length : lastBreak(text, start + most - quarter, start + most);
    const window = text.slice(start, end);
    if (window.trim() !== '') windows.push(window);
    start = isLast ? end : firstBreak(text, end - quarter, end);
  }
  return windows;
}

/** A window has no more units than this for each token: long white space counts almost nothing. */
const MAX_UNITS_PER_TOKEN = 16;

/** The position after the last white space in a part of the text; its end if there is none. */
function lastBreak(text: string, from: number, to: number): number {
  for (let at = to; at > from; at--) if (isSpace(text, at - 1)) return at;
  return wholeCharacter(text, to);
}

/** The position after the first white space in a part of the text; its beginning if there is none. */
function firstBreak(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) if (isSpace(text, at)) return at + 1;
  return wholeCharacter(text, from);
}

function isSpace(text: string, at: number): boolean {
  return text.charAt(at).trim() === '';
}

/** The position, or the one before it if it is inside a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
