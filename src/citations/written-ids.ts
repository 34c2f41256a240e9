/**
 * Reads what is written for the sources of a citation: one id, a range (`1-3`, `1 to 3`), ids joined by a word
 * (`1 and 2`), an id with a place in its source (`1†L10-L12`, `1, p. 5`, `1: p. 5`), or an id behind a word for a source
 * (`Source 1`, `Docs 1-2`, `#1`).
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
/** A word for a place and its number at the end of an item: `p. 5`, `lines 10–12`, `§5`, or a time. Items are short. */
const PLACE = new RegExp(
  '(?:^|[\\s:(])(?:(?:pp?|pages?|ll?|lines?|sec|sections?|ch|chapter|para|fig|figure|table|slide|s|seiten?|zeile|pág)' +
    '[.\\s]|§§?\\.?)[\\d\\s.:\u2010-\u2014\u2212\u301c\uff5e-]*\\d\\)?$|^\\d\\d?(?::\\d\\d){1,2}$',
  'i',
);
/** Further lines: the `L14` of `1†L10, L14`. */
const LINES = /^L[\dL\u2010-\u2014\u2212\u301c\uff5e-]+$/;
/** A word that names a source before its id; in scripts without spaces also right before it. */
const NAMED = new RegExp(
  '^(?:(?:see |cf\\.? )?@|(?:(?:source|doc|document|ref|reference|citation|cite|snippet|passage|chunk|context|result|id|web)s?|quellen?)' +
    '[\\s.:：#№]+|(?:[#№^]|来源|引用|文档|资料|出典|출처)[\\s.:：#№]*)',
  'i',
);
/** Marks between an id and its place. */
const BEFORE_PLACE = /[\s:(]+$/;
/** Longest place, in UTF-16 code units. */
const MAX_PLACE_CHARS = 48;
/** Longest item that is more than one id, in UTF-16 code units. */
const MAX_ITEM_CHARS = 256;
/** Longest number of a range, in digits: a longer one is an identifier. */
const MAX_RANGE_DIGITS = 4;

/** Words that join two ids, or two markers. In capitals they are names and letters: "A, O and AB", "Tom, Dan". */
const JOINING_WORDS: ReadonlySet<string> = new Set(
  'and or & und oder sowie et ou y o e en og och ja i и или та ve veya dan và 和 与 與 及 以及 と および 및 와 과'.split(
    ' ',
  ),
);
/** Those that also join after a comma. After one, the others are more often letters or codes of languages. */
const AFTER_COMMA: ReadonlySet<string> = new Set(
  'and or & und oder sowie dan veya 和 与 與 及 以及 と および 및'.split(' '),
);
/** Longest of them, in UTF-16 code units. */
const MAX_JOINING_CHARS = 5;
/** Marks that join two ids of sources. */
const JOINING_MARKS: ReadonlySet<string> = new Set('+ / |'.split(' '));
/** Words of a range. */
const RANGE = /^(\S+)\s+(?:to|through|thru|bis|à|al|hasta|до|至|到)\s+(\S+)$/i;
/** A number that may be an id beside others: no year. */
const SHORT_NUMBER = /^\d{1,3}$/;

/** Whether two markers with such a word between them make one citation: `[1] and [2]`. @param isParted behind a comma. */
export function isJoiningWord(word: string, isParted = false): boolean {
  return word.length <= MAX_JOINING_CHARS && (isParted ? AFTER_COMMA : JOINING_WORDS).has(word);
}

/** Whether numbers are an interval, `0, 1`, if no source has the id 0. */
export function isInterval(text: string, { start, end }: Span): boolean {
  return end - start <= 16 && /^0\s*,\s*(?:1|10|100|255)$/.test(text.slice(start, end));
}

/** Whether some joining word begins with a text. */
export function mayBeginJoiningWord(text: string): boolean {
  if (text.length > MAX_JOINING_CHARS) return false;
  for (const word of JOINING_WORDS) if (word.startsWith(text)) return true;
  return false;
}

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
    const before = idBefore(word.slice(0, place).trimEnd(), sources);
    const from = idStart(before, sources);
    return [{ id: before.slice(from), span: { start: start + from, end: start + before.length } }];
  }
  const named = idStart(word, sources) || joiningStart(word, sources);
  if (named > 0) return writtenIds(text, { start: start + named, end }, sources);
  return rangeIn(word, start, sources) ?? joinedIn(word, start, sources) ?? whole;
}

/** The id before a place: `1` of `1: p. 5`. */
function idBefore(written: string, sources: SourceSet): string {
  return citedSource(sources, written) === null ? written.replace(BEFORE_PLACE, '') : written;
}

/** Where the id behind a joining word begins: the last item of `1, 2, and 3`. */
function joiningStart(word: string, sources: SourceSet): number {
  const space = word.search(/\s/);
  if (space === -1 || !isJoiningWord(word.slice(0, space))) return 0;
  const start = word.length - word.slice(space).trimStart().length;
  const ids = word.slice(start);
  const isId = citedSource(sources, ids) !== null || SHORT_NUMBER.test(ids) || idStart(ids, sources) > 0;
  return isId || rangeIn(ids, 0, sources) !== null ? start : 0;
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
  if (start === 0 || citedSource(sources, ids) !== null) return start;
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
  const [, begin = '', end = ''] = RANGE.exec(word) ?? [];
  if (begin !== '') {
    // A range in words is a scale or an interval unless every id in it is a source.
    const ids = rangeIn(`${begin}-${end}`, start, sources);
    if (ids?.every(({ id }) => sources.byId.has(id)) !== true) return null;
    return ids.map(({ id }) => ({ id, span: { start, end: start + word.length } }));
  }
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

/**
 * `1 and 2`, `Source 1 and Source 2`, `1/2`, `1|2`: every word is an id, joins two, or names a source. A mark joins ids
 * of sources only. Beside an id, a word also joins what no source has: a short number, or the same letters with one.
 */
function joinedIn(word: string, start: number, sources: SourceSet): WrittenId[] | null {
  if (!/[\s/|]/.test(word)) return null;
  const ids: WrittenId[] = [];
  const letters = new Set<string>();
  let wasId = false;
  let isMarked = false;
  let isKnown = true;
  for (const { 0: written, index } of word.matchAll(/\S+/g)) {
    // An id may have a joint in it: an address.
    const parts = citedSource(sources, written) === null ? written.split(/([/|])/) : [written];
    let at = start + index;
    for (const one of parts.filter((part) => part !== '')) {
      // Keys of Pandoc need nothing between them: `@smith2004 @doe2010`.
      const isKey = one.startsWith('@') && citedSource(sources, one) === null;
      const part = isKey ? one.slice(1) : one;
      if (isKey) at++;
      const isSource = citedSource(sources, part) !== null;
      const isMark = JOINING_MARKS.has(part);
      if (wasId && !isKey) {
        if (!isMark && !isJoiningWord(part)) return null;
        isMarked ||= isMark;
        wasId = false;
      } else if (isSource || isLikeId(part, letters) || (isKey && /\d$/.test(part))) {
        if (isSource) letters.add(lettersOf(part));
        else isKnown = false;
        ids.push({ id: part, span: { start: at, end: at + part.length } });
        wasId = true;
      } else if (!NAMED.test(`${part} `)) return null;
      at += part.length;
    }
  }
  return wasId && ids.length > 1 && (isKnown || !isMarked) ? ids : null;
}

/** Whether a word may be an id that no source has, beside ids of sources. @param letters those before their numbers. */
function isLikeId(word: string, letters: ReadonlySet<string>): boolean {
  return SHORT_NUMBER.test(word) || (letters.size > 0 && /\d$/.test(word) && letters.has(lettersOf(word)));
}

/** What is before the number at the end of an id. */
export function lettersOf(id: string): string {
  return id.replace(/\d+$/, '');
}
