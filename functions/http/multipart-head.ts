/**
 * The header of one part of a form, and headers with parameters in general: `form-data; name="file"; filename="a.jsonl"`.
 * Names are UTF-8 with the three escapes of browsers and fetch (%22, %0D, %0A); file names also come as RFC 5987 has them
 * (`filename*=UTF-8''…`), which then wins.
 */
export type PartHead = {
  readonly name: string;
  /** As it was sent, so that it may hold a path; `null` = a plain field. */
  readonly filename: string | null;
};

export type PartHeadResult =
  | { readonly ok: true; readonly head: PartHead }
  | { readonly ok: false; readonly defect: 'header' | 'name_missing' | 'encoding' };

/** Lower-case value and parameter names. */
export type Parameters = { readonly value: string; readonly parameters: ReadonlyMap<string, string> };

const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/** Reads the lines of a header, each with its line end. */
export function readPartHead(bytes: Uint8Array): PartHeadResult {
  const fields = readFields(bytes);
  if (fields === null) return { ok: false, defect: 'header' };
  const encoding = fields.get('content-transfer-encoding') ?? 'binary';
  if (!PLAIN_ENCODINGS.has(encoding.toLowerCase())) return { ok: false, defect: 'encoding' };
  const disposition = fields.get('content-disposition');
  if (disposition === undefined) return { ok: false, defect: 'name_missing' };
  const read = readParameters(disposition);
  if (read === null || read.value !== 'form-data') return { ok: false, defect: 'header' };
  const name = read.parameters.get('name') ?? '';
  if (name === '') return { ok: false, defect: 'name_missing' };
  const extended = read.parameters.get('filename*');
  const plain = read.parameters.get('filename');
  const filename = extended === undefined ? unescapeName(plain ?? null) : decodeExtended(extended);
  if (extended !== undefined && filename === null) return { ok: false, defect: 'header' };
  return { ok: true, head: { name: unescapeName(name), filename } };
}

/** Fields by lower-case name, long ones unfolded; `null` = malformed, or a field comes twice. */
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

/** Control characters but the tab. */
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

/** A value and its parameters, quoted or not; `null` = malformed. */
export function readParameters(text: string): Parameters | null {
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

/** Sticky, so that each pattern reads from its place on and no character is tried twice by one. */
function matchAt(pattern: RegExp, text: string, at: number): { readonly group: string; readonly end: number } | null {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? null : { group: match[1] ?? '', end: pattern.lastIndex };
}

/** Of a quoted string only the quote and the backslash are escaped: older browsers send `C:\path` as it is. */
function unquote(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}

function unescapeName<T extends string | null>(name: T): T | string {
  if (name === null) return name;
  return name.replace(/%22|%0d|%0a/gi, (code) => decodeURIComponent(code));
}

const EXTENDED = /^([A-Za-z0-9-]+)'[A-Za-z0-9-]*'((?:[!#$&+.^_`|~0-9A-Za-z-]|%[0-9A-Fa-f]{2})*)$/;

/** RFC 5987: charset, language, percent-encoded bytes. `null` = malformed, or of a charset that it does not know. */
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
