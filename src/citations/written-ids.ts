/**
 * Reads what is written for the sources of a citation: one id, a range `1-3`, ids joined by a word (`1 and 2`), an id
 * with a place in its source (`1†L10-L12`, `1, p. 5`), or an id behind a word for a source (`Source 1`, `#1`).
 */
import { MAX_IDS_PER_CITATION } from '../limits.ts';
import { isAsciiDigit } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import type { SourceSet } from './types.ts';
import { citedSource } from './url-ids.ts';

/** One id that is written, and its place: the whole range for an id within a range. */
export type WrittenId = { readonly id: string; readonly span: Span };

/** What follows such a mark is a place in the source (gpt-oss, OpenAI file search), or nothing (`[^1^]` of Bing). */
const PLACE_MARK = /[†‡↑^]/;
/** A word for a place and its number at the end of an item: `p. 5`, `lines 10–12`, `§5`. Items are short. */
const PLACE = new RegExp(
  '(?:^|\\s)(?:(?:pp?|pages?|ll?|lines?|sec|section|ch|chapter|para|fig|figure|table|slide|s|seiten?|zeile|pág)' +
    '[.\\s]|§§?\\.?)[\\d\\s:\u2010-\u2014\u2212\u301c\uff5e-]*\\d$',
  'i',
);
/** Further lines: the `L14` of `1†L10, L14`. */
const LINES = /^L[\dL\u2010-\u2014\u2212\u301c\uff5e-]+$/;
/** A word that names a source before its id; in scripts without spaces also right before it. */
const NAMED = new RegExp(
  '^(?:(?:sources?|doc|documents?|ref|reference|citation|cite|snippet|passage|chunk|context|result|quelle|id|web)' +
    '[\\s.:：#№]+|(?:[#№^]|来源|引用|文档|资料|出典|출처)[\\s.:：#№]*)',
  'i',
);
/** Longest place, in UTF-16 code units. */
const MAX_PLACE_CHARS = 48;
/** Longest item that is more than one id, in UTF-16 code units. */
const MAX_ITEM_CHARS = 256;
/** Longest number of a range, in digits: a longer one is an identifier. */
const MAX_RANGE_DIGITS = 4;

/** Words that join two ids, in lower case. */
const JOINING_WORDS: ReadonlySet<string> = new Set('and & + / | und et y e en og och и'.split(' '));

/**
 * The ids that `text[start, end)`, one item of a list, stands for. A source with exactly this id comes first; without
 * one, a range cites the ids from its first to its last if a source has one of these two; everything else is one id.
 * Linear in the item.
 */
export function writtenIds(text: string, { start, end }: Span, sources: SourceSet): readonly WrittenId[] {
  const word = text.slice(start, end);
  const whole = [{ id: word, span: { start, end } }];
  if (word.length > MAX_ITEM_CHARS || citedSource(sources, word) !== null) return whole;
  const place = placeStart(word);
  if (place > 0) {
    const before = word.slice(0, place).trimEnd();
    const from = idStart(before, sources);
    return [{ id: before.slice(from), span: { start: start + from, end: start + before.length } }];
  }
  const named = idStart(word, sources);
  if (named > 0) return writtenIds(text, { start: start + named, end }, sources);
  return rangeIn(word, start, sources) ?? joinedIn(word, start, sources) ?? whole;
}

/** Where a place in the source begins in an item: at `†`, or at a word such as `p.` before a number; -1 without one. */
function placeStart(word: string): number {
  const mark = word.slice(1).search(PLACE_MARK) + 1;
  const place = mark > 0 ? null : PLACE.exec(word);
  return mark > 0 ? mark : place === null ? -1 : place.index + place[0].search(/\S/);
}

/** Whether an item is a place in a source and no id: the `p. 5` of `1, p. 5`. */
export function isPlace(text: string, { start, end }: Span, sources: SourceSet): boolean {
  const word = end - start <= MAX_PLACE_CHARS ? text.slice(start, end) : '';
  return placeStart(word) === 0 && citedSource(sources, word) === null;
}

/** Where the ids behind a word for a source begin: the `1` of `Source: 1`, `#1` and `来源1`; 0 without such a word. */
function idStart(word: string, sources: SourceSet): number {
  const start = NAMED.exec(word)?.[0].length ?? 0;
  const ids = word.slice(start);
  return joinedIn(ids, 0, sources) !== null || /^(?:\d\S*|\S*\d)$/.test(ids) ? start : 0;
}

/** The ids from the one after `first` to `last`, the ids of two markers with a dash between them: `[1]–[3]`. */
export function idsUpTo(first: string, text: string, { start, end }: Span, sources: SourceSet): WrittenId[] | null {
  const last = text.slice(start, end);
  const ids = rangeIn(`${first}-${last}`, start, sources)?.slice(1);
  return ids?.map(({ id }) => ({ id, span: { start, end } })) ?? null;
}

/** Whether an item is a place in the source of the item before it: the `L14` of `1†L10, L14`, the `p. 5` of `1, p. 5`. */
export function isFurtherPlace(text: string, { start, end }: Span, previous: Span, sources: SourceSet): boolean {
  if (previous.end > previous.start && isPlace(text, { start, end }, sources)) return true;
  return PLACE_MARK.test(text.charAt(previous.end)) && LINES.test(text.slice(start, end));
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
export function isDash(code: number): boolean {
  return code === 0x2d || (code >= 0x2010 && code <= 0x2014) || code === 0x2212 || code === 0x301c || code === 0xff5e;
}

/** `1 and 2`, `1/2`, `1|2`: every word is the id of a source or joins two. */
function joinedIn(word: string, start: number, sources: SourceSet): WrittenId[] | null {
  const ids: WrittenId[] = [];
  let wasId = false;
  for (const { 0: written, index } of word.matchAll(/\S+/g)) {
    // An id may have a joint in it: an address.
    const parts = citedSource(sources, written) === null ? written.split(/([/|])/) : [written];
    let at = start + index;
    for (const part of parts.filter((one) => one !== '')) {
      const isId = citedSource(sources, part) !== null;
      if (isId === wasId || (!isId && !JOINING_WORDS.has(part.toLowerCase()))) return null;
      if (isId) ids.push({ id: part, span: { start: at, end: at + part.length } });
      at += part.length;
      wasId = isId;
    }
  }
  return wasId && ids.length > 1 ? ids : null;
}
