/**
 * A streaming parser for multipart/form-data (RFC 7578, RFC 2046 section 5.1): chunks of any size in, parts out. The
 * platform's `formData()` keeps whole files in memory; this parser keeps the header of one part and passes content on
 * as it arrives. It runs in linear time.
 */

import { MAX_FORM_IGNORED_BYTES, MAX_FORM_PARTS, MAX_PART_HEADER_BYTES } from '../../src/limits.ts';
import type { Result } from '../../src/result.ts';
import type { MultipartDefect } from '../../src/wire/request-reasons.ts';

/** The body is not a valid form, and the parser cannot continue. */
export class MultipartError extends Error {
  readonly defect: MultipartDefect;

  constructor(defect: MultipartDefect) {
    super(defect);
    this.name = 'MultipartError';
    this.defect = defect;
  }
}

export type MultipartEvent =
  | { readonly kind: 'part'; readonly head: PartHead }
  /** Content of the current part. The bytes belong to the chunk: they are valid until the chunk is reused. */
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' };

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const TAB = 0x09;
const SPACE = 0x20;

/** RFC 2046 section 5.1.1: bchars, the last of which is not a space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/**
 * Reads the boundary of a content type; returns null if the type is not multipart/form-data. @throws MultipartError if
 * the boundary is missing or invalid.
 */
export function boundaryOf(contentType: string): string | null {
  const read = readParameters(contentType);
  if (read === null) throw new MultipartError('boundary');
  if (read.value !== 'multipart/form-data') return null;
  const boundary = read.parameters.get('boundary') ?? '';
  if (!BOUNDARY.test(boundary)) throw new MultipartError('boundary');
  return boundary;
}

/** The section of the form that the parser is in. `head`: between a boundary and the content of the boundary's part. */
type State = 'preamble' | 'head' | 'content' | 'epilogue';

export class MultipartParser {
  /** CRLF, two dashes, the boundary. Only its first byte is a CR, so no second delimiter can begin inside it. */
  readonly #delimiter: Uint8Array;
  #state: State = 'preamble';
  /**
   * Number of bytes of the delimiter that have matched. It starts at 2, as if CR LF had been read, because the start of
   * the body counts as the start of a line.
   */
  #matched = 2;
  readonly #head = new Uint8Array(MAX_PART_HEADER_BYTES);
  #headBytes = 0;
  #parts = 0;
  #ignoredBytes = 0;
  #events: MultipartEvent[] = [];

  constructor(boundary: string) {
    this.#delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  }

  /** Parses the next bytes. @throws MultipartError */
  push(chunk: Uint8Array): readonly MultipartEvent[] {
    this.#events = [];
    for (let at = 0; at < chunk.byteLength; ) at = this.#step(chunk, at);
    return this.#events;
  }

  /** Ends the body. @throws MultipartError if the form is incomplete. */
  finish(): void {
    if (this.#state !== 'epilogue') throw new MultipartError('not_closed');
  }

  /** Parses the chunk from the index `at` on. @returns the index up to which it read; at least `at` + 1. */
  #step(chunk: Uint8Array, at: number): number {
    switch (this.#state) {
      case 'preamble':
      case 'content':
        return this.#readContent(chunk, at);
      case 'head':
        return this.#readHead(chunk, at);
      case 'epilogue':
        this.#ignore(chunk.byteLength - at);
        return chunk.byteLength;
    }
  }

  #readContent(chunk: Uint8Array, start: number): number {
    const before = this.#matched;
    const here = before === 0 ? 0 : this.#match(chunk, start);
    if (this.#matched === this.#delimiter.byteLength) return this.#endContent(start + here);
    if (start + here === chunk.byteLength) return chunk.byteLength;
    // The end of the previous chunks was not a delimiter after all. Those bytes equal the delimiter's start, so they
    // are emitted without having been stored.
    this.#content(this.#delimiter.subarray(0, before));
    this.#matched = 0;
    let next = start;
    for (let cr = chunk.indexOf(CR, next); cr !== -1; cr = chunk.indexOf(CR, next)) {
      next = cr + this.#match(chunk, cr);
      const found = this.#matched === this.#delimiter.byteLength;
      if (found || next === chunk.byteLength) {
        this.#content(chunk.subarray(start, cr));
        return found ? this.#endContent(next) : next;
      }
      this.#matched = 0;
    }
    this.#content(chunk.subarray(start));
    return chunk.byteLength;
  }

  /** Continues to match the delimiter. @returns how many bytes at `start` match. */
  #match(chunk: Uint8Array, start: number): number {
    let at = start;
    while (
      at < chunk.byteLength &&
      this.#matched < this.#delimiter.byteLength &&
      chunk[at] === this.#delimiter[this.#matched]
    ) {
      at++;
      this.#matched++;
    }
    return at - start;
  }

  #endContent(at: number): number {
    if (this.#state === 'content') this.#events.push({ kind: 'end' });
    this.#state = 'head';
    this.#matched = 0;
    this.#headBytes = 0;
    return at;
  }

  #content(bytes: Uint8Array): void {
    if (this.#state === 'preamble') this.#ignore(bytes.byteLength);
    else if (bytes.byteLength > 0) this.#events.push({ kind: 'data', bytes });
  }

  #ignore(bytes: number): void {
    this.#ignoredBytes += bytes;
    if (this.#ignoredBytes > MAX_FORM_IGNORED_BYTES) throw new MultipartError('ignored_too_long');
  }

  /** Reads from a boundary to the empty line that ends the header, or to the two dashes that end the form. */
  #readHead(chunk: Uint8Array, start: number): number {
    for (let at = start; at < chunk.byteLength; at++) {
      if (this.#headBytes === MAX_PART_HEADER_BYTES) throw new MultipartError('header_too_long');
      this.#head[this.#headBytes++] = chunk[at] ?? 0;
      if (this.#headBytes === 2 && this.#head[0] === DASH && this.#head[1] === DASH) {
        this.#state = 'epilogue';
        return at + 1;
      }
      if (chunk[at] === LF && this.#endsInEmptyLine()) {
        this.#beginPart();
        return at + 1;
      }
    }
    return chunk.byteLength;
  }

  #endsInEmptyLine(): boolean {
    const [a, b, c] = this.#head.subarray(Math.max(0, this.#headBytes - 4), this.#headBytes);
    return this.#headBytes >= 4 && a === CR && b === LF && c === CR;
  }

  #beginPart(): void {
    this.#parts++;
    if (this.#parts > MAX_FORM_PARTS) throw new MultipartError('too_many_parts');
    // The head starts with the rest of the boundary's line, which may be padded.
    let padding = 0;
    while (this.#head[padding] === SPACE || this.#head[padding] === TAB) padding++;
    if (this.#head[padding] !== CR || this.#head[padding + 1] !== LF) throw new MultipartError('delimiter');
    const head = readPartHead(this.#head.subarray(padding + 2, this.#headBytes - 2));
    if (!head.ok) throw new MultipartError(head.error);
    this.#events.push({ kind: 'part', head: head.value });
    this.#state = 'content';
  }
}

export type PartHead = {
  readonly name: string;
  /** As sent, possibly with a path; `null` = a plain field. */
  readonly filename: string | null;
};

/** Value and parameter names in lower case. */
type Parameters = { readonly value: string; readonly parameters: ReadonlyMap<string, string> };

const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/**
 * Parses the header of a part: `form-data; name="file"; filename="a.jsonl"`. Names are UTF-8 with the three escapes of
 * browsers and fetch (%22, %0D, %0A); a file name in RFC 5987 form (`filename*=UTF-8''…`) takes precedence.
 */
function readPartHead(bytes: Uint8Array): Result<PartHead, 'header' | 'name_missing' | 'encoding'> {
  const fields = readFields(bytes);
  if (fields === null) return { ok: false, error: 'header' };
  const encoding = fields.get('content-transfer-encoding') ?? 'binary';
  if (!PLAIN_ENCODINGS.has(encoding.toLowerCase())) return { ok: false, error: 'encoding' };
  const disposition = fields.get('content-disposition');
  if (disposition === undefined) return { ok: false, error: 'name_missing' };
  const read = readParameters(disposition);
  if (read === null || read.value !== 'form-data') return { ok: false, error: 'header' };
  const name = read.parameters.get('name') ?? '';
  if (name === '') return { ok: false, error: 'name_missing' };
  const extended = read.parameters.get('filename*');
  const plain = read.parameters.get('filename');
  const filename = extended === undefined ? unescapeName(plain ?? null) : decodeExtended(extended);
  if (extended !== undefined && filename === null) return { ok: false, error: 'header' };
  return { ok: true, value: { name: unescapeName(name), filename } };
}

/** Fields by lower-case name, folded lines joined; `null` = malformed, or a field occurs twice. */
function readFields(bytes: Uint8Array): Map<string, string> | null {
  const text = decodeUtf8(bytes);
  if (text === null) return null;
  const lines: string[] = [];
  for (const line of text.split('\r\n').slice(0, -1)) {
    if (hasControl(line)) return null;
    const isContinued = line.startsWith(' ') || line.startsWith('\t');
    const last = isContinued ? lines.pop() : '';
    if (last === undefined) return null;
    lines.push(last + line);
  }
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined || fields.has(name.toLowerCase())) return null;
    fields.set(name.toLowerCase(), value.trim());
  }
  return fields;
}

/** Whether a line contains a control character other than the tab. */
function hasControl(line: string): boolean {
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}

const PARAMETER_NAME = /[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"[ \t]*(?:;|$)/y;
const UNQUOTED = /([^\s";]+)[ \t]*(?:;|$)/y;
const NOTHING = /[ \t]*$/y;

/** Parses a header value with its parameters, quoted or not; `null` = malformed. */
function readParameters(text: string): Parameters | null {
  const end = text.indexOf(';');
  const value = (end === -1 ? text : text.slice(0, end)).trim().toLowerCase();
  const parameters = new Map<string, string>();
  let at = end === -1 ? text.length : end + 1;
  while (matchAt(NOTHING, text, at) === null) {
    const named = matchAt(PARAMETER_NAME, text, at);
    if (named === null) return null;
    const quoted = matchAt(QUOTED, text, named.end);
    const found = quoted ?? matchAt(UNQUOTED, text, named.end);
    const name = named.group.toLowerCase();
    if (found === null || parameters.has(name)) return null;
    parameters.set(name, quoted === null ? found.group : unquote(found.group));
    at = found.end;
  }
  return { value, parameters };
}

/** Matches a sticky pattern at an index of the text, so that each pattern reads every character once. */
function matchAt(pattern: RegExp, text: string, at: number): { readonly group: string; readonly end: number } | null {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? null : { group: match[1] ?? '', end: pattern.lastIndex };
}

/** Only the quote and the backslash are escapes in a quoted string: older browsers send `C:\path` unescaped. */
function unquote(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}

function unescapeName<T extends string | null>(name: T): T | string {
  if (name === null) return name;
  return name.replace(/%22|%0d|%0a/gi, (code) => decodeURIComponent(code));
}

const EXTENDED = /^([A-Za-z0-9-]+)'[A-Za-z0-9-]*'((?:[!#$&+.^_`|~0-9A-Za-z-]|%[0-9A-Fa-f]{2})*)$/;

/** RFC 5987: charset, language, percent-encoded bytes. `null` = malformed or an unsupported charset. */
function decodeExtended(text: string): string | null {
  const [, charset = '', encoded = ''] = EXTENDED.exec(text) ?? [];
  const bytes = Uint8Array.from(
    encoded.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    (character) => character.charCodeAt(0),
  );
  switch (charset.toLowerCase()) {
    case 'utf-8':
      return decodeUtf8(bytes);
    case 'iso-8859-1':
      return String.fromCharCode(...bytes);
    default:
      return null;
  }
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
