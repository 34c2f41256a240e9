/**
 * Reads one tag. Names and attribute names match in any case. A `>` inside quotes does not end a header. A header never
 * crosses the next tag-like `<`, quoted or not, so headers do not overlap and any input takes linear time.
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
 * The attributes of a tag, as four numbers each: start and end of the name, start and end of the value without quotes.
 * Flat for speed, because tool output has hundreds. Read them with the functions below.
 */
type Attributes = readonly number[];

const NUMBERS_PER_ATTRIBUTE = 4;
/** Marks an attribute that has no value: a bare word, such as S2 in `<snippet id=S1 S2>`. */
const BARE_WORD = -1;

/** Returns the number of attributes. */
export function attributeCount(attributes: Attributes): number {
  return attributes.length / NUMBERS_PER_ATTRIBUTE;
}

/** Returns whether attribute `n` has the name `name` (lower case), in any case. */
export function isNamed(text: string, attributes: Attributes, n: number, name: string): boolean {
  const start = attributes[n * NUMBERS_PER_ATTRIBUTE] ?? 0;
  const end = attributes[n * NUMBERS_PER_ATTRIBUTE + 1] ?? 0;
  if (end - start !== name.length) return false;
  for (let k = 0; k < name.length; k++) {
    if (!sameFolded(text.charCodeAt(start + k), name.charCodeAt(k))) return false;
  }
  return true;
}

/** Returns the place of attribute `n`'s value without quotes, or `null` for a bare word. */
export function valueSpan(attributes: Attributes, n: number): Span | null {
  const start = attributes[n * NUMBERS_PER_ATTRIBUTE + 2] ?? BARE_WORD;
  const end = attributes[n * NUMBERS_PER_ATTRIBUTE + 3] ?? BARE_WORD;
  return start === BARE_WORD ? null : { start, end };
}

/** Returns the place of attribute `n`'s name, or of the bare word. */
export function nameSpan(attributes: Attributes, n: number): Span {
  const at = n * NUMBERS_PER_ATTRIBUTE;
  return { start: attributes[at] ?? 0, end: attributes[at + 1] ?? 0 };
}

/** Returns whether the value begins with a quote that is never closed inside the tag. */
export function isQuoteUnclosed(text: string, value: Span): boolean {
  const before = closingQuote(text.charCodeAt(value.start - 1));
  return before !== -1 && text.charCodeAt(value.end) !== before;
}

/** A tag that `readTag` found. */
export type Tag = {
  /** Index of the tag's name in the list of names that `readTag` was given. */
  readonly name: number;
  readonly closing: boolean;
  readonly selfClosing: boolean;
  readonly span: Span;
  /** Attributes of an opening tag. */
  readonly attributes: Attributes;
};

const NO_ATTRIBUTES: Attributes = [];

/** Returns whether two units are equal except for ASCII case. `lower` must be lower case. */
function sameFolded(code: number, lower: number): boolean {
  return code === lower || (isAsciiLetter(code) && (code | 0x20) === lower);
}

/** Moves a tag by `by` units. */
export function shiftTag(tag: Tag, by: number): Tag {
  const attributes = tag.attributes.map((at) => (at === BARE_WORD ? at : at + by));
  return { ...tag, span: { start: tag.span.start + by, end: tag.span.end + by }, attributes };
}

/** Returns which of `names` (lower case) is the tag name at `at`, or -1. */
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
 * Reads the tag at `lessThan`, where `text` has a `<`. Returns `null` if its name is not one of `names` (lower case),
 * or if it has no end before `end` or before the next tag.
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

/** Returns the limit of a header: the next tag-like `<`, or `end`. */
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
  // Kinds of closing quotes that the rest of the header lacks. Each is searched once, which keeps time linear.
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
    // The value is unquoted, or its quote is never closed. Then the quotes at its edges do not belong to it.
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

/** Returns the closing mark of an opening quote, or -1. Models do write typographic quotes around ids. */
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

/** Maps each closing quote to a bit. */
function quoteBit(closing: number): number {
  if (closing === 0x22) return 1;
  if (closing === 0x27) return 2;
  return closing === 0x201d ? 4 : 8;
}

/**
 * Finds the next closing quote in `text[from, limit)`, or -1. The search for a straight quote may go beyond the limit
 * and still be linear in total, because it ends at the next quote of its kind, where the next search begins. For a
 * typographic quote that does not hold: its opening mark is another unit.
 */
function closingQuoteAt(text: string, quote: number, from: number, limit: number): number {
  if (quote === 0x22 || quote === 0x27) {
    const at = text.indexOf(quote === 0x22 ? '"' : "'", from);
    return at < limit ? at : -1;
  }
  for (let i = from; i < limit; i++) if (text.charCodeAt(i) === quote) return i;
  return -1;
}

/** Returns the end of an unquoted value: white space without an id separator beside it, or the end of the tag. */
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

/** A comma or semicolon, also in full-width or ideographic form. */
export function isIdSeparator(code: number): boolean {
  return code === 0x2c || code === 0x3b || code === 0xff0c || code === 0x3001 || code === 0xff1b;
}

/** Returns whether an id may contain the unit: no white space, control character, quote or angle bracket. */
export function isIdUnit(code: number): boolean {
  if (isAsciiLetter(code) || isAsciiDigit(code)) return true;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  return !(isSpace(code) || isQuote(code) || code === LESS_THAN || code === GREATER_THAN);
}

/**
 * Returns `text[span)` without the tags between `opener` and `closer`, trimmed. Takes time linear in the span; callers
 * bound the nesting. Span and tags are relative to `offset` units before `text`.
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
