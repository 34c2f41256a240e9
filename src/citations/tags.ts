/**
 * Reading one tag. A header never crosses the next tag-like `<`, quoted or not, so that the regions read for different
 * tags do not overlap and any input is read in linear time; a `>` inside quotes does not end it. Names and attribute
 * names are matched in any case.
 */
import {
  EQUALS,
  GREATER_THAN,
  isAsciiDigit,
  isAsciiLetter,
  isSpace,
  isTagLike,
  LESS_THAN,
  SLASH,
} from '../text/characters.ts';
import type { Span } from '../text/span.ts';

/**
 * Attributes of a tag, flat for speed (a response has dozens, a page of results hundreds): four numbers each, where the
 * name begins and ends and where the value does, quotes left out. Read them with the functions below.
 */
export type Attributes = readonly number[];

const NUMBERS_PER_ATTRIBUTE = 4;
/** In place of a value's start: a bare word, as S2 in `<snippet id=S1 S2>`. */
const BARE_WORD = -1;

/** How many attributes there are. */
export function attributeCount(attributes: Attributes): number {
  return attributes.length / NUMBERS_PER_ATTRIBUTE;
}

/** True if attribute `n` is called `name` (lower case), in any case. */
export function isNamed(text: string, attributes: Attributes, n: number, name: string): boolean {
  const start = attributes[n * NUMBERS_PER_ATTRIBUTE] ?? 0;
  const end = attributes[n * NUMBERS_PER_ATTRIBUTE + 1] ?? 0;
  if (end - start !== name.length) return false;
  for (let k = 0; k < name.length; k++) {
    if (!sameFolded(text.charCodeAt(start + k), name.charCodeAt(k))) return false;
  }
  return true;
}

/** Where the value of attribute `n` stands, quotes left out; `null` for a bare word. */
export function valueSpan(attributes: Attributes, n: number): Span | null {
  const start = attributes[n * NUMBERS_PER_ATTRIBUTE + 2] ?? BARE_WORD;
  const end = attributes[n * NUMBERS_PER_ATTRIBUTE + 3] ?? BARE_WORD;
  return start === BARE_WORD ? null : { start, end };
}

/** Where the name of attribute `n` stands: of a bare word, the word. */
export function nameSpan(attributes: Attributes, n: number): Span {
  const at = n * NUMBERS_PER_ATTRIBUTE;
  return { start: attributes[at] ?? 0, end: attributes[at + 1] ?? 0 };
}

/** True if the value begins with a quote that has no closing one before the tag's end. */
export function isQuoteUnclosed(text: string, value: Span): boolean {
  const before = closingQuote(text.charCodeAt(value.start - 1));
  return before !== -1 && text.charCodeAt(value.end) !== before;
}

export type Tag = {
  /** Position in the list of names asked for. */
  readonly name: number;
  readonly closing: boolean;
  readonly selfClosing: boolean;
  readonly span: Span;
  /** Of opening tags. */
  readonly attributes: Attributes;
};

const NO_ATTRIBUTES: Attributes = [];

/** Equal but for ASCII case; `lower` is lower case already. */
function sameFolded(code: number, lower: number): boolean {
  return code === lower || (isAsciiLetter(code) && (code | 0x20) === lower);
}

/** The same tag in a text that `by` units were put in front of. */
export function shiftTag(tag: Tag, by: number): Tag {
  const attributes = tag.attributes.map((at) => (at === BARE_WORD ? at : at + by));
  return { ...tag, span: { start: tag.span.start + by, end: tag.span.end + by }, attributes };
}

/** Which of `names` (lower case) stands at `at`, followed by something that ends a tag name; -1 if none does. */
function nameAt(text: string, at: number, end: number, names: readonly string[]): number {
  const first = text.charCodeAt(at) | 0x20;
  for (let n = 0; n < names.length; n++) {
    const name = names[n] ?? '';
    if (name.charCodeAt(0) !== first || at + name.length > end) continue;
    let k = 1;
    while (k < name.length && sameFolded(text.charCodeAt(at + k), name.charCodeAt(k))) k++;
    if (k < name.length) continue;
    const after = at + name.length < end ? text.charCodeAt(at + name.length) : GREATER_THAN;
    if (after === GREATER_THAN || after === SLASH || isSpace(after)) return n;
  }
  return -1;
}

/**
 * The tag at `lessThan` (where `text` holds `<`) if its name is one of `names`; `null` if it is another tag, no tag, or
 * has no end before `end` or the next tag.
 */
export function readTag(text: string, lessThan: number, end: number, names: readonly string[]): Tag | null {
  const closing = text.charCodeAt(lessThan + 1) === SLASH;
  const nameStart = lessThan + (closing ? 2 : 1);
  const name = nameAt(text, nameStart, end, names);
  if (name === -1) return null;
  const afterName = nameStart + (names[name]?.length ?? 0);
  if (afterName < end && text.charCodeAt(afterName) === GREATER_THAN) {
    const span = { start: lessThan, end: afterName + 1 };
    return { name, closing, selfClosing: false, span, attributes: NO_ATTRIBUTES };
  }
  return readHeader(text, lessThan, afterName, headerLimit(text, afterName, end), name, closing);
}

/** Where a header must have ended: the next tag-like `<`, or `end`. */
function headerLimit(text: string, from: number, end: number): number {
  let next = text.indexOf('<', from);
  while (next !== -1 && next < end && !isTagLike(text, next)) next = text.indexOf('<', next + 1);
  return next === -1 || next > end ? end : next;
}

function readHeader(
  text: string,
  start: number,
  afterName: number,
  limit: number,
  name: number,
  closing: boolean,
): Tag | null {
  const attributes: number[] = [];
  let selfClosing = false;
  // Closing quotes that the rest of the header does not hold: looked for once, or many openings would cost quadratic time.
  let absentQuotes = 0;
  let i = afterName;
  while (i < limit) {
    const code = text.charCodeAt(i);
    if (code === GREATER_THAN) {
      return { name, closing, selfClosing, span: { start, end: i + 1 }, attributes };
    }
    if (isSpace(code) || code === SLASH) {
      selfClosing = code === SLASH;
      i++;
      continue;
    }
    selfClosing = false;
    const nameStart = i;
    while (i < limit && !endsAttributeName(text, i)) i++;
    if (i === nameStart) i++;
    const nameEnd = i;
    let equals = i;
    while (equals < limit && isSpace(text.charCodeAt(equals))) equals++;
    if (equals >= limit || text.charCodeAt(equals) !== EQUALS || code === EQUALS) {
      attributes.push(nameStart, nameEnd, BARE_WORD, BARE_WORD);
      continue;
    }
    let from = equals + 1;
    while (from < limit && isSpace(text.charCodeAt(from))) from++;
    const quote = from < limit ? closingQuote(text.charCodeAt(from)) : -1;
    const quoted = quote !== -1;
    if (quoted && (absentQuotes & quoteBit(quote)) === 0) {
      const close = closingQuoteAt(text, quote, from + 1, limit);
      if (close !== -1) {
        attributes.push(nameStart, nameEnd, from + 1, close);
        i = close + 1;
        continue;
      }
      absentQuotes |= quoteBit(quote);
    }
    // Unquoted, or a quote that is never closed: then the quotes at either end are no part of the value.
    const valueStart = quoted ? from + 1 : from;
    i = unquotedEnd(text, valueStart, limit);
    let valueEnd = i;
    if (quoted) while (valueEnd > valueStart && isQuote(text.charCodeAt(valueEnd - 1))) valueEnd--;
    attributes.push(nameStart, nameEnd, valueStart, valueEnd);
  }
  return null;
}

function endsAttributeName(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === EQUALS || code === GREATER_THAN || isSpace(code)) return true;
  return code === SLASH && text.charCodeAt(at + 1) === GREATER_THAN;
}

/** The closing mark of a quote, -1 for what opens none; typographic quotes around ids do occur in model output. */
export function closingQuote(code: number): number {
  switch (code) {
    case 0x22:
    case 0x27:
      return code;
    case 0x201c: // “…”
      return 0x201d;
    case 0x201d: // ”…”
      return 0x201d;
    case 0x2018: // ‘…’
      return 0x2019;
    default:
      return -1;
  }
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || (code >= 0x2018 && code <= 0x201f);
}

/** One bit a closing quote. */
function quoteBit(closing: number): number {
  if (closing === 0x22) return 1;
  if (closing === 0x27) return 2;
  return closing === 0x201d ? 4 : 8;
}

/**
 * Where a closing quote next stands in `text[from, limit)`, -1 if nowhere. A straight quote may be looked for past the
 * limit: the search runs from one to the next of its kind, and no two such stretches overlap. A typographic one may not:
 * what opens it is another unit.
 */
function closingQuoteAt(text: string, quote: number, from: number, limit: number): number {
  if (quote === 0x22 || quote === 0x27) {
    const at = text.indexOf(quote === 0x22 ? '"' : "'", from);
    return at < limit ? at : -1;
  }
  for (let i = from; i < limit; i++) if (text.charCodeAt(i) === quote) return i;
  return -1;
}

/** Up to white space that no id separator touches, or the end of the tag. */
function unquotedEnd(text: string, start: number, limit: number): number {
  let i = start;
  while (i < limit) {
    const code = text.charCodeAt(i);
    if (code === GREATER_THAN || (code === SLASH && text.charCodeAt(i + 1) === GREATER_THAN)) break;
    if (!isSpace(code)) {
      i++;
      continue;
    }
    let next = i;
    while (next < limit && isSpace(text.charCodeAt(next))) next++;
    const joined = isIdSeparator(text.charCodeAt(next)) || (i > start && isIdSeparator(text.charCodeAt(i - 1)));
    if (!joined || next >= limit || text.charCodeAt(next) === GREATER_THAN) break;
    i = next;
  }
  return i;
}

/** Comma, semicolon, and their full-width and ideographic forms. */
export function isIdSeparator(code: number): boolean {
  return code === 0x2c || code === 0x3b || code === 0xff0c || code === 0x3001 || code === 0xff1b;
}

/** True for what an id may hold: no white space, control, quote or angle bracket. */
export function isIdUnit(code: number): boolean {
  if (isAsciiLetter(code) || isAsciiDigit(code)) return true;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  return !(isSpace(code) || isQuote(code) || code === LESS_THAN || code === GREATER_THAN);
}

/**
 * `text[span)` without the tags between `opener` and `closer`, edges trimmed. Callers bound the nesting, so that each tag
 * is left out a bounded number of times. Span and tags count from `offset` units before the text.
 */
export function textWithoutTags(
  text: string,
  span: Span,
  tags: readonly Tag[],
  opener: number,
  closer: number,
  offset = 0,
): string {
  let kept = '';
  let from = span.start;
  for (let inner = opener + 1; inner < closer; inner++) {
    const tag = tags[inner];
    if (tag === undefined || tag.span.start < from) continue;
    kept += text.slice(from - offset, tag.span.start - offset);
    from = tag.span.end;
  }
  return (kept + text.slice(from - offset, Math.max(from, span.end) - offset)).trim();
}
