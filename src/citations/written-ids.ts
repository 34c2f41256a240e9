/**
 * Reads what is written for the sources of a citation: one id, a range `1-3`, ids joined by a word (`1 and 2`), or an id
 * with a place in its source (`1†L10-L12`).
 */
import { MAX_IDS_PER_CITATION } from '../limits.ts';
import { isAsciiDigit, isSpace } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import type { SourceSet } from './types.ts';
import { citedSource } from './url-ids.ts';

/** One id that is written, and its place: the whole range for an id within a range. */
export type WrittenId = { readonly id: string; readonly span: Span };

/** What follows this mark is a place in the source (gpt-oss, OpenAI file search). */
const PLACE_MARK = '†';
/** Longest number of a range, in digits: a longer one is an identifier. */
const MAX_RANGE_DIGITS = 4;

/** Words that join two ids, in lower case. */
const JOINING_WORDS: ReadonlySet<string> = new Set(['and', '&', '+', 'und', 'et', 'y', 'e', 'en', 'og', 'och', 'и']);

/**
 * The ids that `text[start, end)`, one item of a list, stands for. A source with exactly this id comes first; without
 * one, a range cites the ids from its first to its last if a source has one of these two; everything else is one id.
 * Linear in the item.
 */
export function writtenIds(text: string, { start, end }: Span, sources: SourceSet): readonly WrittenId[] {
  const word = text.slice(start, end);
  const whole = [{ id: word, span: { start, end } }];
  if (citedSource(sources, word) !== null) return whole;
  const place = word.indexOf(PLACE_MARK);
  if (place > 0) {
    const id = word.slice(0, place).trimEnd();
    return [{ id, span: { start, end: start + id.length } }];
  }
  return rangeIn(word, start, sources) ?? joinedIn(word, start, sources) ?? whole;
}

/** Whether an item is another place in the source of the item before it: the `L14` of `1†L10, L14`. */
export function isFurtherPlace(text: string, { start, end }: Span, previous: Span): boolean {
  if (text.charCodeAt(start) !== 0x4c || text.charAt(previous.end) !== PLACE_MARK) return false;
  for (let i = start + 1; i < end; i++) {
    const code = text.charCodeAt(i);
    if (!isAsciiDigit(code) && code !== 0x4c && !isDash(code)) return false;
  }
  return end > start + 1;
}

/** `1-3`, `S1–S3`: the same letters before both numbers. */
function rangeIn(word: string, start: number, sources: SourceSet): WrittenId[] | null {
  let dash = 1;
  while (dash < word.length - 1 && !isDash(word.charCodeAt(dash))) dash++;
  if (dash >= word.length - 1) return null;
  const first = numberAtEnd(word.slice(0, dash).trimEnd());
  const last = numberAtEnd(word.slice(dash + 1).trimStart());
  if (first === null || last === null || (last.letters !== first.letters && last.letters !== '')) return null;
  const count = last.number - first.number + 1;
  if (count < 2 || count > MAX_IDS_PER_CITATION) return null;
  const idOf = (number: number): string => first.letters + String(number).padStart(first.digits, '0');
  if (!sources.byId.has(idOf(first.number)) && !sources.byId.has(idOf(last.number))) return null;
  const span = { start, end: start + word.length };
  return Array.from({ length: count }, (_, n) => ({ id: idOf(first.number + n), span }));
}

function numberAtEnd(
  word: string,
): { readonly letters: string; readonly number: number; readonly digits: number } | null {
  let at = word.length;
  while (at > 0 && isAsciiDigit(word.charCodeAt(at - 1))) at--;
  const digits = word.length - at;
  if (digits === 0 || digits > MAX_RANGE_DIGITS) return null;
  return { letters: word.slice(0, at), number: Number(word.slice(at)), digits };
}

/** Hyphens and dashes of ranges. */
function isDash(code: number): boolean {
  return code === 0x2d || (code >= 0x2010 && code <= 0x2014) || code === 0x2212 || code === 0x301c || code === 0xff5e;
}

/** `1 and 2`: every word is the id of a source or joins two. */
function joinedIn(word: string, start: number, sources: SourceSet): WrittenId[] | null {
  const ids: WrittenId[] = [];
  let wasId = false;
  for (let at = 0; at < word.length; ) {
    while (at < word.length && isSpace(word.charCodeAt(at))) at++;
    const from = at;
    while (at < word.length && !isSpace(word.charCodeAt(at))) at++;
    const part = word.slice(from, at);
    const isId = citedSource(sources, part) !== null;
    if (isId === wasId || (!isId && !JOINING_WORDS.has(part.toLowerCase()))) return null;
    if (isId) ids.push({ id: part, span: { start: start + from, end: start + at } });
    wasId = isId;
  }
  return wasId && ids.length > 1 ? ids : null;
}
