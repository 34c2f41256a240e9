/**
 * Reads what is written for the sources of a citation: one id, a range `1-3`, ids joined by a word (`1 and 2`), an id
 * with a place in its source (`1†L10-L12`, `1, p. 5`), or an id behind a word for a source (`Source 1`, `#1`).
 */
import { MAX_IDS_PER_CITATION } from '../limits.ts';
import { isAsciiDigit, isAsciiLetter, isLetterOrDigit, isSpace } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import type { SourceSet } from './types.ts';
import { citedSource } from './url-ids.ts';

/** One id that is written, and its place: the whole range for an id within a range. */
export type WrittenId = { readonly id: string; readonly span: Span };

/** What follows such a mark is a place in the source (gpt-oss, OpenAI file search), or nothing (`[^1^]` of Bing). */
const PLACE_MARKS = '†‡↑^';
/** Words before the number of a place in a source, in lower case, without a stop. */
const PLACE_WORDS: ReadonlySet<string> = new Set(
  'p pp page pages l ll line lines sec section § §§ ch chapter para fig figure table slide s seite seiten zeile pág'.split(
    ' ',
  ),
);
/** Words that name a source before its id, in lower case. */
const SOURCE_WORDS: ReadonlySet<string> = new Set(
  (
    'source sources doc document documents ref reference citation snippet passage chunk context result quelle # № ^ ' +
    'cite id web file 来源 來源 引用 文档 文檔 资料 資料 出典 参考 出處 출처 источник'
  ).split(' '),
);
/** Longest of these words, and longest place, in UTF-16 code units. */
const MAX_WORD_CHARS = 12;
const MAX_PLACE_CHARS = 48;
/** Longest item that is more than one id, in UTF-16 code units. */
const MAX_ITEM_CHARS = 256;
/** Longest number of a range, in digits: a longer one is an identifier. */
const MAX_RANGE_DIGITS = 4;

/** Words that join two ids, in lower case. */
const JOINING_WORDS: ReadonlySet<string> = new Set([
  'and',
  '&',
  '+',
  '/',
  '|',
  'und',
  'et',
  'y',
  'e',
  'en',
  'og',
  'och',
  'и',
]);

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
  for (let at = 1; at < word.length; at++) if (PLACE_MARKS.includes(word.charAt(at))) return at;
  // The numbers of the place, from their end.
  let at = word.length;
  while (at > 0 && isPartOfPlace(word.charCodeAt(at - 1))) at--;
  const before = word.charAt(at - 1);
  const isApart = '.§'.includes(before) || isSpace(word.charCodeAt(at));
  if (!isApart || !isAsciiDigit(word.charCodeAt(word.length - 1))) return -1;
  const wordEnd = before === '.' ? at - 1 : at;
  const from = startOfWord(word, wordEnd);
  const isAlone = from === 0 || isSpace(word.charCodeAt(from - 1));
  return isAlone && PLACE_WORDS.has(word.slice(from, wordEnd).toLowerCase()) ? from : -1;
}

/** Whether an item is a place in a source and no id: the `p. 5` of `1, p. 5`. */
export function isPlace(text: string, { start, end }: Span, sources: SourceSet): boolean {
  const word = end - start <= MAX_PLACE_CHARS ? text.slice(start, end) : '';
  return placeStart(word) === 0 && citedSource(sources, word) === null;
}

/** Where the ids behind a word for a source begin: the `1` of `Source: 1`, `#1` and `来源1`; 0 without such a word. */
function idStart(word: string, sources: SourceSet): number {
  let wordEnd = 0;
  while (wordEnd < word.length && wordEnd < MAX_WORD_CHARS && isLetter(word.charCodeAt(wordEnd))) wordEnd++;
  if (wordEnd === 0 && '#№^'.includes(word.charAt(0))) wordEnd = 1;
  if (!SOURCE_WORDS.has(word.slice(0, wordEnd).toLowerCase())) return 0;
  let at = wordEnd;
  while (at < word.length && (isSpace(word.charCodeAt(at)) || '.:：#№'.includes(word.charAt(at)))) at++;
  const isApart = at > wordEnd || !isAsciiLetter(word.charCodeAt(0));
  const ids = word.slice(at);
  if (ids === '' || !isApart) return 0;
  if (joinedIn(ids, 0, sources) !== null) return at;
  for (let i = at; i < word.length; i++) if (isSpace(word.charCodeAt(i))) return 0;
  return isAsciiDigit(word.charCodeAt(at)) || isAsciiDigit(word.charCodeAt(word.length - 1)) ? at : 0;
}

/** The ids from the one after `first` to `last`, the ids of two markers with a dash between them: `[1]–[3]`. */
export function idsUpTo(first: string, text: string, { start, end }: Span, sources: SourceSet): WrittenId[] | null {
  const last = text.slice(start, end);
  const ids = rangeIn(`${first}-${last}`, start, sources)?.slice(1);
  return ids?.map(({ id }) => ({ id, span: { start, end } })) ?? null;
}

/** Where the word that ends at `end` begins. A section sign counts as a letter. */
function startOfWord(word: string, end: number): number {
  let from = end;
  while (from > 0 && end - from < MAX_WORD_CHARS && isLetter(word.charCodeAt(from - 1))) from--;
  return from;
}

function isLetter(code: number): boolean {
  return code === 0xa7 || (isLetterOrDigit(code) && !isAsciiDigit(code));
}

/** Digits, and what joins them in a place. */
function isPartOfPlace(code: number): boolean {
  return isAsciiDigit(code) || isDash(code) || isSpace(code) || code === 0x3a;
}

/** Whether an item is a place in the source of the item before it: the `L14` of `1†L10, L14`, the `p. 5` of `1, p. 5`. */
export function isFurtherPlace(text: string, { start, end }: Span, previous: Span, sources: SourceSet): boolean {
  if (previous.end > previous.start && isPlace(text, { start, end }, sources)) return true;
  const mark = text.charAt(previous.end);
  if (text.charCodeAt(start) !== 0x4c || mark === '' || !PLACE_MARKS.includes(mark)) return false;
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
export function isDash(code: number): boolean {
  return code === 0x2d || (code >= 0x2010 && code <= 0x2014) || code === 0x2212 || code === 0x301c || code === 0xff5e;
}

/** `1 and 2`, `1/2`, `1|2`: every word is the id of a source or joins two. */
function joinedIn(word: string, start: number, sources: SourceSet): WrittenId[] | null {
  const ids: WrittenId[] = [];
  let wasId = false;
  for (let at = 0; at < word.length; ) {
    while (at < word.length && isSpace(word.charCodeAt(at))) at++;
    const from = at;
    while (at < word.length && !isSpace(word.charCodeAt(at)) && (at === from || !isJoint(word, at - 1))) {
      if (at > from && isJoint(word, at)) break;
      at++;
    }
    const part = word.slice(from, at);
    const isId = citedSource(sources, part) !== null;
    if (isId === wasId || (!isId && !JOINING_WORDS.has(part.toLowerCase()))) return null;
    if (isId) ids.push({ id: part, span: { start: start + from, end: start + at } });
    wasId = isId;
  }
  return wasId && ids.length > 1 ? ids : null;
}

function isJoint(word: string, at: number): boolean {
  return '/|'.includes(word.charAt(at));
}
