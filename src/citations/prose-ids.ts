/**
 * Finds ids that stand in the text of an answer instead of in a citation: `… in 1937 (S1).`, `Sources: 1, 2`, and ids
 * that look like those of the sources but are none of them. They cite nothing, so they earn nothing.
 */
import { isAsciiDigit, isAsciiLetter, isLetterOrDigit, isSpace, LESS_THAN } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import { withoutCode } from './code.ts';
import { idRecogniser, MAX_ID_CHARS } from './id-forms.ts';
import { encloses, isOpeningBracket, urlEnd } from './links.ts';
import { isSourcesHeading } from './source-headings.ts';
import type { Claim, SourceSet } from './types.ts';
import { citedSource } from './url-ids.ts';
import { isInterval } from './written-ids.ts';

/** `indexOf` found nothing. */
const NONE = -1;

const DIGIT = 0x30;
const COLON = 0x3a;
const DAGGER = 0x2020;
/** The units where something may begin: `<`, digits, `_` and the colon of an address. One look-up dismisses all others. */
const MARKS = new Uint8Array(128);
MARKS[LESS_THAN] = LESS_THAN;
MARKS.fill(DIGIT, DIGIT, DIGIT + 10);
MARKS[0x5f] = DIGIT;
MARKS[COLON] = COLON;

/**
 * The ids in the text of an answer outside the markup of its claims, in time linear in its length.
 *
 * An id is a word with a letter, and a digit or `_`, that is the id of a source, or has the form of one (id-forms.ts), or
 * the address of a source whose id is one. A number of a source is one only between marks that no grammar read, as in
 * `[1](…)` and `【1】`, behind a word for a source (`document 1`), raised behind a word (`bridge¹`), and in a last line
 * such as `Sources: 1, 2.`, because years and counts are none.
 *
 * @param answer the content of the answer.
 * @param references places in it that define sources.
 */
export function idsInProse(
  text: string,
  answer: Span,
  claims: readonly Claim[],
  sources: SourceSet,
  references: readonly Span[] = [],
): Span[] {
  const found: Span[] = [];
  if (sources.byId.size === 0) return found;
  const isId = idRecogniser(sources);
  const parts = proseOf(answer, claims, references);
  let masked: ReturnType<typeof withoutCode> | null = null;
  let piece = 0;
  /** The text without escaped marks, unless the place is in code: `null`. Few answers need it; the places only rise. */
  const plainAt = (at: number): string | null => {
    masked ??= withoutCode(text, answer);
    while ((masked.code[piece]?.end ?? text.length) <= at) piece++;
    return (masked.code[piece]?.start ?? text.length) <= at ? null : masked.text;
  };
  let close = 0;
  let readTo = 0;
  for (const { start, end } of parts) {
    let wordFrom = start;
    for (let at = start; at < end; at++) {
      let code = text.charCodeAt(at);
      while (MARKS[code] === 0 && ++at < end) code = text.charCodeAt(at);
      if (at >= end) break;
      const mark = MARKS[code];
      if (mark === LESS_THAN) {
        // Tags without a claim have findings of their own. The place is kept, so that many open tags cost one search.
        if (beginsTag(text, at)) {
          if (close <= at && close !== NONE) close = text.indexOf('>', at);
          if (close > at && close < end) at = close;
        }
        wordFrom = at + 1;
      } else if (mark === COLON) {
        // An address within an address is not read again.
        if (at < readTo || !text.startsWith('//', at + 1)) continue;
        const from = Math.max(start, at - (text[at - 1] === 's' ? 5 : 4));
        if (!/^https?$/i.test(text.slice(from, at))) continue;
        readTo = urlEnd(text, from, end);
        if (citedSource(sources, text.slice(from, readTo)) === null || plainAt(from) === null) continue;
        wordFrom = readTo;
        at = wordFrom - 1;
        found.push({ start: from, end: wordFrom });
      } else if (mark === DIGIT) {
        // Few words have a digit or `_`: only theirs are read, from their beginning.
        let from = at;
        while (from > wordFrom && isWordPart(text.charCodeAt(from - 1))) from--;
        let letters = 0;
        for (let i = from; i < at; i++) if (isAsciiLetter(text.charCodeAt(i))) letters++;
        for (; at < end && isWordPart(text.charCodeAt(at)); at++) if (isAsciiLetter(text.charCodeAt(at))) letters++;
        // The word ends before `at`, which begins no other word and is read again if it begins a tag.
        const to = at--;
        wordFrom = to;
        if (to - from > MAX_ID_CHARS) continue;
        const span = { start: from, end: trimmedEnd(text, from, to) };
        if (letters > 0) {
          if (isId(text.slice(span.start, span.end))) found.push(span);
        } else if (sources.byId.has(text.slice(from, to)) && isMarkedOrNamed(text, span, sources)) {
          const plain = plainAt(from);
          if (plain !== null && isMarkedOrNamed(plain, span, sources)) found.push(span);
        }
      } else if (mark === undefined && superscriptDigit(code) !== null) {
        const from = at;
        let number = '';
        for (let digit = superscriptDigit(code); digit !== null && at < end; ) {
          number += digit;
          digit = superscriptDigit(text.charCodeAt(++at));
        }
        const to = at--;
        if (sources.byId.has(number) && isNote(text, from) && plainAt(from) !== null)
          found.push({ start: from, end: to });
      }
    }
  }
  return [...found, ...listedNumbers(text, parts.at(-1), sources)];
}

/** A word for a source before its number. It has at most 14 UTF-16 code units with what is around it. */
const NAMED = /\b(?:source|doc|document|snippet|citation|reference)s? #?$/i;

function isMarkedOrNamed(text: string, span: Span, sources: SourceSet): boolean {
  return isMarked(text, span, sources) || NAMED.test(text.slice(Math.max(0, span.start - 14), span.start));
}

/** Longest list of numbers between marks, in UTF-16 code units. */
const MAX_LIST_CHARS = 64;

/** Whether a number stands alone or in a list between the marks of a citation: `[1]`, `[^1]`, `[1, 2]`, `【1†L2】`. */
function isMarked(text: string, { start, end }: Span, { byId }: SourceSet): boolean {
  let from = start;
  while (start - from < MAX_LIST_CHARS && isListPart(text, from - 1)) from--;
  const open = text.charCodeAt(text.charAt(from - 1) === '^' ? from - 2 : from - 1);
  let to = end;
  while (to - end < MAX_LIST_CHARS && isListPart(text, to)) to++;
  const close = text.charCodeAt(to);
  if (!byId.has('0') && isInterval(text, { start: from, end: to })) return false;
  return isOpeningBracket(open) && (encloses(open, close) || close === DAGGER);
}

function isListPart(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return isAsciiDigit(code) || code === 0x20 || code === 0x2c || code === 0x3b;
}

/** The digit of `¹` and others; `null` = another character. */
function superscriptDigit(code: number): string | null {
  const digit = '⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(String.fromCharCode(code));
  return digit === -1 ? null : String(digit);
}

/** Letters that a word before a note has at least: `km²` and `x²` are units and powers. */
const MIN_NOTED_LETTERS = 4;

/** Whether a raised number marks a note: it follows a word, or a stop behind one. */
function isNote(text: string, at: number): boolean {
  let from = at;
  while ('.,;:!?)"”’»'.includes(text.charAt(from - 1)) && from > 0) from--;
  const stopped = from < at;
  let letters = 0;
  while (
    letters < MIN_NOTED_LETTERS &&
    from > 0 &&
    isLetterOrDigit(text.charCodeAt(from - 1)) &&
    !isAsciiDigit(text.charCodeAt(from - 1))
  ) {
    from--;
    letters++;
  }
  return letters === MIN_NOTED_LETTERS || (stopped && letters > 0);
}

/** The numbers of sources behind a heading of sources, if the answer ends with them. */
function listedNumbers(text: string, last: Span | undefined, { byId }: SourceSet): Span[] {
  if (last === undefined) return [];
  const numbers: Span[] = [];
  let at = last.end;
  while (at > last.start) {
    const before = text.charCodeAt(at - 1);
    if (isAsciiDigit(before)) {
      const end = at;
      while (at > last.start && isAsciiDigit(text.charCodeAt(at - 1))) at--;
      numbers.push({ start: at, end });
    } else if (isSpace(before) || ',;.&'.includes(text.charAt(at - 1))) at--;
    else if (at - 4 >= last.start && text.startsWith(' and', at - 4)) at -= 3;
    else break;
  }
  const heading = text.slice(Math.max(last.start, text.lastIndexOf('\n', at - 1) + 1), at);
  if (!isSourcesHeading(heading)) return [];
  return numbers.reverse().filter(({ start, end }) => byId.has(text.slice(start, end)));
}

/** The parts of the answer that are no markup of a claim, in order. */
export function proseOf(answer: Span, claims: readonly Claim[], references: readonly Span[]): Span[] {
  const markup: Span[] = [...references];
  for (const { element, span } of claims) {
    if (span.start > element.start) markup.push({ start: element.start, end: span.start });
    if (element.end > span.end) markup.push({ start: span.end, end: element.end });
  }
  // Nested claims and references are out of order.
  if (markup.some(({ start }, n) => start < (markup[n - 1]?.start ?? 0))) {
    markup.sort((one, other) => one.start - other.start);
  }
  const parts: Span[] = [];
  let from = answer.start;
  for (const { start, end } of markup) {
    if (start > from) parts.push({ start: from, end: start });
    from = Math.max(from, end);
  }
  if (answer.end > from) parts.push({ start: from, end: answer.end });
  return parts;
}

/** Whether `<` begins a tag. */
function beginsTag(text: string, at: number): boolean {
  return /[/a-z]/i.test(text.charAt(at + 1));
}

/** Letters, digits and what joins them in ids. */
function isWordPart(code: number): boolean {
  return isAsciiLetter(code) || isAsciiDigit(code) || code === 0x5f || code === 0x2d || code === 0x3a;
}

/** Without marks at the end: `S1:` and `S1-` are `S1`. */
function trimmedEnd(text: string, start: number, end: number): number {
  let to = end;
  while (to > start && !isAsciiLetter(text.charCodeAt(to - 1)) && !isAsciiDigit(text.charCodeAt(to - 1))) to--;
  return to;
}
