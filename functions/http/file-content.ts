/** How the content of a file is served: the range that was asked for (RFC 9110 section 14), and the headers. */
import type { StoredFile } from '../storage/files.ts';

export type ContentRange = { readonly offset: number; readonly length: number };

/** One range of bytes: `0-99`, `100-`, `-50`. */
const RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/** `null` = the whole file: no range was asked for, or several, or of another version of it. */
export function rangeOf(headers: Headers, file: StoredFile): ContentRange | 'unsatisfiable' | null {
  const condition = headers.get('if-range');
  if (condition !== null && condition !== etagOf(file)) return null;
  const [match, first, last, suffix] = RANGE.exec(headers.get('range')?.trim() ?? '') ?? [];
  if (match === undefined) return null;
  const offset = first === undefined ? Math.max(0, file.bytes - Number(suffix)) : Number(first);
  const end = last === undefined ? file.bytes : Math.min(Number(last) + 1, file.bytes);
  if (last !== undefined && Number(last) < offset) return null;
  return offset < end ? { offset, length: end - offset } : 'unsatisfiable';
}

/** The content is a caller's: a browser is to save it, and never to read it as a page. */
export function contentHeaders(file: StoredFile, range: ContentRange | null): Record<string, string> {
  const { offset, length } = range ?? { offset: 0, length: file.bytes };
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': disposition(file.filename),
    'content-length': String(length),
    'accept-ranges': 'bytes',
    etag: etagOf(file),
    ...(range === null ? {} : { 'content-range': `bytes ${offset}-${offset + length - 1}/${file.bytes}` }),
  };
}

/** Content never changes under an id. */
function etagOf({ id }: StoredFile): string {
  return `"${id}"`;
}

/** RFC 6266: the name in ASCII, and as it is. */
function disposition(filename: string): string {
  const ascii = filename.replace(/[^A-Za-z0-9._ -]/g, '_');
  const extended = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${extended}`;
}
