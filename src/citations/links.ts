/**
 * Finds Markdown links and numbered notes in a text, each line by itself. Linear: no address is read beyond the next
 * `](`, white space or line break, so a broken link never swallows a later one.
 */

import { MAX_ID_CHARS } from '../limits.ts';
import { GREATER_THAN, isAsciiDigit, isSpace, LESS_THAN, LINE_FEED } from '../text/characters.ts';
import { type Span, trimSpan } from '../text/span.ts';
import { normalisedUrl } from '../text/url.ts';
import { isIdSeparator, isIdUnit } from './tags.ts';
import { isJoiningWord } from './written-ids.ts';

/** Longest address of a link, in UTF-16 code units. */
const MAX_URL_CHARS = 2048;
/** Longest number of a note. A longer one is a year or a count. */
const MAX_NOTE_DIGITS = 3;

/** A link, with the places of its text and address, or the numbers of notes in one pair of brackets. */
export type Mark = { readonly span: Span } & (
  | { readonly form: 'link'; readonly text: Span; readonly url: Span }
  | { readonly form: 'notes'; readonly numbers: readonly Span[] }
);

/** What `readMarks` found, in order. Marks do not overlap. */
type Marks = {
  readonly marks: readonly Mark[];
  /** Links whose address has no end or no host, and links around another link. */
  readonly broken: readonly Span[];
};

/**
 * Reads the links `[text](https://…)` and notes `[3]`, `[1, 2]`, `[^3]` of `text[content)`, in full width too.
 *
 * @param isSource Whether a source has an id: then `[text](#id)` is a link to it. Another `[3](#…)` is the note 3.
 * @param isDefined Whether a definition gives the address of a label: then `[text][label]`, `[label][]` and `[label]`
 *   are links, whose `url` is the label.
 */
export function readMarks(
  text: string,
  content: Span,
  isSource: (id: string) => boolean = () => false,
  isDefined: (label: string) => boolean = () => false,
): Marks {
  const marks: Mark[] = [];
  const broken: Span[] = [];
  let open: number[] = [];
  for (let i = content.start; i < content.end; i++) {
    const code = text.charCodeAt(i);
    if (code === LINE_FEED) open = [];
    else if (isOpeningBracket(code)) open.push(i);
    else if (isClosingBracket(code)) {
      const start = open.pop();
      if (start === undefined) continue;
      const inside = { start: start + 1, end: i };
      const reference = definedLabel(text, inside, content.end, isDefined);
      if (reference !== null) {
        marks.push({ form: 'link', span: { start, end: reference.end }, text: inside, url: reference.label });
        i = reference.end - 1;
        continue;
      }
      if (!isOpeningParenthesis(text.charCodeAt(i + 1)) || i + 1 >= content.end) {
        const numbers = noteNumbers(text, inside);
        if (numbers !== null) marks.push({ form: 'notes', span: { start, end: i + 1 }, numbers });
        continue;
      }
      const anchor = readAnchor(text, i + 2, content.end);
      const isCited = anchor !== null && isSource(text.slice(anchor.url.start, anchor.url.end));
      const numbers = anchor === null || isCited ? null : noteNumbers(text, inside);
      if (anchor !== null && numbers !== null) {
        marks.push({ form: 'notes', span: { start, end: anchor.end }, numbers });
        i = anchor.end - 1;
        continue;
      }
      const address = isCited ? anchor : readAddress(text, i + 2, content.end);
      if (address === null) continue;
      const isImage = text[start - 1] === '!';
      // `[[3]](https://…)` is one link.
      while (marks.at(-1)?.form === 'notes' && (marks.at(-1)?.span.start ?? 0) > start) marks.pop();
      if (address.url === null || (marks.at(-1)?.span.end ?? 0) > start) {
        if (!isImage) broken.push({ start, end: address.end });
        continue;
      }
      if (!isImage) marks.push({ form: 'link', span: { start, end: address.end }, text: inside, url: address.url });
      i = address.end - 1;
    }
  }
  return { marks, broken };
}

export function isOpeningBracket(code: number): boolean {
  return code === 0x5b || code === 0x3010 || code === 0xff3b; // [【［
}

function isClosingBracket(code: number): boolean {
  return code === 0x5d || code === 0x3011 || code === 0xff3d; // ]】］
}

function isOpeningParenthesis(code: number): boolean {
  return code === 0x28 || code === 0xff08; // (（
}

function isClosingParenthesis(code: number): boolean {
  return code === 0x29 || code === 0xff09; // )）
}

/** Returns whether `close` closes a bracket or parenthesis that `open` opens, in either width. */
export function encloses(open: number, close: number): boolean {
  return isOpeningBracket(open) ? isClosingBracket(close) : isOpeningParenthesis(open) && isClosingParenthesis(close);
}

/** Longest item of a list of numbers, in UTF-16 code units: two with a word between them. */
const MAX_ITEM_CHARS = 24;

/** Returns the numbers in a list such as `3`, `^3` or `1, 2 and 3`, or `null` if it is none. */
export function noteNumbers(text: string, inside: Span): Span[] | null {
  const numbers: Span[] = [];
  let start = inside.start;
  for (let i = inside.start; i <= inside.end; i++) {
    if (i < inside.end && !isIdSeparator(text.charCodeAt(i))) {
      if (i - start > MAX_ITEM_CHARS) return null;
      continue;
    }
    const item = trimSpan(text, start, i);
    start = i + 1;
    for (const word of wordsOf(text, item)) {
      const isRaised = text[word.start] === '^';
      const isBing = isRaised && text[word.end - 1] === '^';
      const number = isRaised ? { start: word.start + 1, end: word.end - (isBing ? 1 : 0) } : word;
      if (!isNoteNumber(text, number)) return null;
      numbers.push(number);
    }
  }
  return numbers;
}

/** The words of an item without those that join two: the numbers of `1 and 2`, and of `and 3` at the end of a list. */
function wordsOf(text: string, item: Span): Span[] {
  const written = text.slice(item.start, item.end);
  if (!/\s/.test(written)) return [item];
  const words = Array.from(written.matchAll(/\S+/g), ({ 0: word, index }) => ({ word, start: item.start + index }));
  const isList = words.every(({ word }, n) => isJoiningWord(word) === ((words.length - 1 - n) % 2 === 1));
  if (!isList) return [item];
  const numbers = words.filter(({ word }) => !isJoiningWord(word));
  return numbers.map(({ word, start }) => ({ start, end: start + word.length }));
}

function isNoteNumber(text: string, { start, end }: Span): boolean {
  if (end <= start || end - start > MAX_NOTE_DIGITS) return false;
  for (let i = start; i < end; i++) if (!isAsciiDigit(text.charCodeAt(i))) return false;
  return true;
}

const ENTRY = /^(?:[\s|│]|<\/?[a-z][^<>]{0,64}>)*(?:[-*•]\s+)?[[【［(（]?\^?(\d{1,3})[\]】］)）.:：、．]/;

/** The number that begins an entry of a references section (`[3] `, `3. `, `[^3]: `), or `null`. */
export function entryNumber(line: string): string | null {
  return ENTRY.exec(line)?.[1] ?? null;
}

/** Longest id of an entry or label of a definition, in UTF-16 code units. */
const MAX_LABEL_CHARS = 64;
/** List and quotation marks, emphasis, frames, tags, and an id in brackets. */
const BRACKETED = new RegExp(
  `^(?:[\\s>*|│║┃]|[-•+–]\\s|</?[a-z][^<>]{0,64}>)*[[【［]\\^?([^[\\]【】［］]{1,${MAX_LABEL_CHARS}})[\\]】］]\\**`,
  'i',
);
/** What some grammars write before an id, and Bing behind one. */
const AROUND_ID = /^(?:ref|web|cite|citation|source):\s*|\^$/gi;

/** The id in the brackets that begin a line, and where the brackets and the emphasis around them end. */
export function bracketedId(line: string): { readonly id: string; readonly end: number } | null {
  const [all = '', inside = ''] = BRACKETED.exec(line) ?? [];
  const id = inside.replace(AROUND_ID, '').trim();
  return id === '' ? null : { id, end: all.length };
}

/** Whether a text is the number of a note. */
export function isNumberOfNote(text: string): boolean {
  return isNoteNumber(text, { start: 0, end: text.length });
}

/** The first address in a line, bare or in a link, without the punctuation after it; `null` if there is none. */
export function firstUrl(line: string): string | null {
  for (let at = nextAddress(line, 0); at !== -1; at = nextAddress(line, at + 1)) {
    const end = urlEnd(line, at, line.length);
    const url = line.slice(at, end);
    if (url.length <= MAX_URL_CHARS && normalisedUrl(url) !== null) return url;
    if (end > at) at = end;
  }
  return null;
}

/** Where the address that begins at `at` ends, without the punctuation after it. One that is too long is cut. */
export function urlEnd(text: string, at: number, limit: number): number {
  let end = at;
  let depth = 0;
  while (end < limit && end - at <= MAX_URL_CHARS) {
    const code = text.charCodeAt(end);
    if (isOpeningParenthesis(code)) depth++;
    if (isClosingParenthesis(code) && --depth < 0) break;
    if (isSpace(code) || isClosingBracket(code) || '<>"，。；、」》'.includes(text.charAt(end))) break;
    end++;
  }
  while (end > at && ".,;:!?*_'".includes(text.charAt(end - 1))) end--;
  return end;
}

const ADDRESS = /https?:\/\//gi;

function nextAddress(line: string, from: number): number {
  ADDRESS.lastIndex = from;
  return ADDRESS.exec(line)?.index ?? -1;
}

/** The address of a link begins like this: also as browsers write it for the source of a page. */
const TARGET = /(?:view-source:)?https?:\/\//iy;

function isTarget(text: string, at: number): boolean {
  TARGET.lastIndex = at;
  return TARGET.test(text);
}

/**
 * Reads the address of a link after its parenthesis, with an optional title. Returns `null` if no web address begins
 * here; `url` is `null` if one begins but does not end.
 */
function readAddress(
  text: string,
  from: number,
  end: number,
): { readonly url: Span | null; readonly end: number } | null {
  let i = from;
  while (i < end && i - from < MAX_URL_CHARS && isInlineSpace(text.charCodeAt(i))) i++;
  const isAngled = text.charCodeAt(i) === LESS_THAN;
  if (isAngled) i++;
  if (!isTarget(text, i)) return null;
  const start = i;
  const limit = Math.min(end, start + MAX_URL_CHARS);
  let depth = 0;
  for (; i < limit; i++) {
    const code = text.charCodeAt(i);
    if (isSpace(code) || (isAngled && code === GREATER_THAN) || beginsAddress(text, i)) break;
    if (isOpeningParenthesis(code)) depth++;
    if (isClosingParenthesis(code) && --depth < 0 && !isAngled) break;
  }
  const url = { start, end: i };
  if (isAngled) {
    if (i >= limit || text.charCodeAt(i) !== GREATER_THAN) return { url: null, end: i };
    i++;
  }
  i = afterTitle(text, i, limit);
  if (i >= limit || !isClosingParenthesis(text.charCodeAt(i))) return { url: null, end: i };
  const hasHost = normalisedUrl(text.slice(url.start, url.end)) !== null;
  return { url: hasHost ? url : null, end: i + 1 };
}

/** The label of a link whose address is defined elsewhere; `null` if the brackets are none, or the number of a note. */
function definedLabel(
  text: string,
  inside: Span,
  end: number,
  isDefined: (label: string) => boolean,
): { readonly label: Span; readonly end: number } | null {
  const isShort = ({ start, end }: Span): boolean => end > start && end - start <= MAX_LABEL_CHARS;
  const next = inside.end + 1;
  if (next < end && isOpeningBracket(text.charCodeAt(next))) {
    const limit = Math.min(end, next + MAX_LABEL_CHARS + 2);
    let close = next + 1;
    while (close < limit && !isClosingBracket(text.charCodeAt(close)) && text.charCodeAt(close) !== LINE_FEED) close++;
    if (close >= limit || !isClosingBracket(text.charCodeAt(close))) return null;
    const label = close === next + 1 ? inside : { start: next + 1, end: close };
    const isText = noteNumbers(text, inside) === null;
    return isText && isShort(label) && isDefined(text.slice(label.start, label.end)) ? { label, end: close + 1 } : null;
  }
  if (isOpeningParenthesis(text.charCodeAt(next)) || !isShort(inside) || noteNumbers(text, inside) !== null)
    return null;
  return isDefined(text.slice(inside.start, inside.end)) ? { label: inside, end: next } : null;
}

/** Reads `#id)` after the parenthesis of a link: the id without the mark. */
function readAnchor(text: string, from: number, end: number): { readonly url: Span; readonly end: number } | null {
  if (text[from] !== '#') return null;
  const limit = Math.min(end, from + MAX_ID_CHARS);
  let i = from + 1;
  while (i < limit && isIdUnit(text.charCodeAt(i)) && !isClosingParenthesis(text.charCodeAt(i))) i++;
  const isClosed = i < limit && isClosingParenthesis(text.charCodeAt(i)) && i > from + 1;
  return isClosed ? { url: { start: from + 1, end: i }, end: i + 1 } : null;
}

/** White space within a line. */
export function isInlineSpace(code: number): boolean {
  return isSpace(code) && code !== LINE_FEED;
}

/** Returns whether `](` is at the offset: the address of a later link begins. */
function beginsAddress(text: string, at: number): boolean {
  return isClosingBracket(text.charCodeAt(at)) && isOpeningParenthesis(text.charCodeAt(at + 1));
}

/** Skips white space and a title in quotes. */
function afterTitle(text: string, from: number, limit: number): number {
  let i = from;
  while (i < limit && isInlineSpace(text.charCodeAt(i))) i++;
  const quote = text[i];
  if (i === from || i >= limit || (quote !== '"' && quote !== "'")) return i;
  i++;
  while (i < limit && text[i] !== quote && text.charCodeAt(i) !== LINE_FEED && !beginsAddress(text, i)) i++;
  if (text[i] === quote) i++;
  while (i < limit && isInlineSpace(text.charCodeAt(i))) i++;
  return i;
}
