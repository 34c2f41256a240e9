/**
 * Reading one tag. A header never crosses the next tag-like `<`, quoted or not, so that the regions read for different
 * tags do not overlap and any input is read in linear time; a `>` inside quotes does not end it. Names and attribute
 * names are matched in any case.
 */
import { GREATER_THAN, EQUALS, isAsciiDigit, isAsciiLetter, isSpace, isTagLike, LESS_THAN, SLASH } from './characters.ts';
import type { Span } from './types.ts';

export type Attribute = {
  /** Lower case. */
  readonly name: string;
  /** Where the value stands, quotes left out; empty where there is none. */
  readonly value: Span;
  /** False for a bare word: `<snippet id=S1 S2>` has the bare word S2. */
  readonly hasValue: boolean;
  /** An opening quote without its closing one before the tag's end. */
  readonly quoteUnclosed: boolean;
};

export type Tag = {
  /** Position in the list of names asked for. */
  readonly name: number;
  readonly closing: boolean;
  readonly selfClosing: boolean;
  readonly span: Span;
  /** Of opening tags. */
  readonly attributes: readonly Attribute[];
};

const NO_ATTRIBUTES: readonly Attribute[] = [];

/** Which of `names` (lower case) stands at `at`, followed by something that ends a tag name; -1 if none does. */
function nameAt(text: string, at: number, end: number, names: readonly string[]): number {
  const first = text.charCodeAt(at) | 0x20;
  for (let n = 0; n < names.length; n++) {
    const name = names[n] ?? '';
    if (name.charCodeAt(0) !== first || at + name.length > end) continue;
    let k = 1;
    while (k < name.length && (text.charCodeAt(at + k) | 0x20) === name.charCodeAt(k)) k++;
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
    return {
      name,
      closing,
      selfClosing: false,
      span: { start: lessThan, end: afterName + 1 },
      attributes: NO_ATTRIBUTES,
    };
  }
  return readHeader(text, lessThan, afterName, end, name, closing);
}

function readHeader(
  text: string,
  start: number,
  afterName: number,
  end: number,
  name: number,
  closing: boolean,
): Tag | null {
  const attributes: Attribute[] = [];
  let selfClosing = false;
  let i = afterName;
  while (i < end) {
    const code = text.charCodeAt(i);
    if (code === GREATER_THAN) {
      return { name, closing, selfClosing, span: { start, end: i + 1 }, attributes };
    }
    if (code === LESS_THAN && isTagLike(text, i)) return null;
    if (isSpace(code) || code === SLASH) {
      selfClosing = code === SLASH;
      i++;
      continue;
    }
    selfClosing = false;
    const nameStart = i;
    while (i < end && !endsAttributeName(text, i)) i++;
    if (i === nameStart) i++;
    const attributeName = text.slice(nameStart, i).toLowerCase();
    let equals = i;
    while (equals < end && isSpace(text.charCodeAt(equals))) equals++;
    if (text.charCodeAt(equals) !== EQUALS || equals >= end || attributeName === '=') {
      attributes.push({
        name: attributeName,
        value: { start: nameStart, end: i },
        hasValue: false,
        quoteUnclosed: false,
      });
      continue;
    }
    let from = equals + 1;
    while (from < end && isSpace(text.charCodeAt(from))) from++;
    const value = readValue(text, from, end);
    attributes.push({ name: attributeName, value: value.span, hasValue: true, quoteUnclosed: value.quoteUnclosed });
    i = value.next;
  }
  return null;
}

function endsAttributeName(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === EQUALS || code === GREATER_THAN || isSpace(code)) return true;
  if (code === SLASH) return text.charCodeAt(at + 1) === GREATER_THAN;
  return code === LESS_THAN && isTagLike(text, at);
}

type Value = { readonly span: Span; readonly next: number; readonly quoteUnclosed: boolean };

/** The closing mark of a quote; typographic quotes around ids do occur in model output. */
function closingQuote(code: number): number {
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

function readValue(text: string, from: number, end: number): Value {
  const quote = from < end ? closingQuote(text.charCodeAt(from)) : -1;
  if (quote !== -1) {
    for (let i = from + 1; i < end; i++) {
      const code = text.charCodeAt(i);
      if (code === quote) return { span: { start: from + 1, end: i }, next: i + 1, quoteUnclosed: false };
      if (code === LESS_THAN && isTagLike(text, i)) break;
    }
  }
  // Unquoted, or a quote that is never closed: up to white space that no comma touches, or the end of the tag.
  let i = quote === -1 ? from : from + 1;
  const start = i;
  while (i < end) {
    const code = text.charCodeAt(i);
    if (code === GREATER_THAN || (code === SLASH && text.charCodeAt(i + 1) === GREATER_THAN)) break;
    if (code === LESS_THAN && isTagLike(text, i)) break;
    if (isSpace(code)) {
      let next = i;
      while (next < end && isSpace(text.charCodeAt(next))) next++;
      const joined = isIdSeparator(text.charCodeAt(next)) || (i > start && isIdSeparator(text.charCodeAt(i - 1)));
      if (!joined || next >= end || text.charCodeAt(next) === GREATER_THAN) break;
      i = next;
      continue;
    }
    i++;
  }
  let stop = i;
  if (quote !== -1) while (stop > start && isQuote(text.charCodeAt(stop - 1))) stop--;
  return { span: { start, end: stop }, next: i, quoteUnclosed: quote !== -1 };
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
