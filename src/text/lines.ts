/**
 * Splits a byte stream of any size into lines, with one line in memory at a time. node:readline is unsuitable: it also
 * breaks lines at U+2028, which is legal inside JSON text, and replaces bytes that are not UTF-8 by U+FFFD.
 */
import type { Result } from '../result.ts';

export type LineFault = 'not_utf8' | 'too_long';

export type Line = {
  /** From 1, blank lines included, as an editor counts. */
  readonly number: number;
  /** Bytes of the stream up to and including this line. */
  readonly bytesRead: number;
  readonly content: Result<string, LineFault>;
};

const NEWLINE = 0x0a;

const CARRIAGE_RETURN = 0x0d;

const BOM = '\uFEFF';

/** Splits at LF and CRLF; drops a byte order mark and blank lines. A line over `maxBytes` is skipped, not buffered. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  let number = 0;
  let bytesRead = 0;
  let pieces: Uint8Array[] = [];
  let length = 0;

  const take = (): Line | null => {
    number++;
    const tooLong = length > maxBytes;
    const content = contentOfLine(tooLong ? null : joined(pieces, length), number === 1);
    pieces = [];
    length = 0;
    return content.ok && content.value.trim() === '' ? null : { number, bytesRead, content };
  };
  const keep = (piece: Uint8Array): void => {
    bytesRead += piece.byteLength;
    length += piece.byteLength;
    if (length <= maxBytes) pieces.push(piece);
    else pieces = [];
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      bytesRead++;
      const line = take();
      if (line !== null) yield line;
      start = end + 1;
    }
    if (start < chunk.byteLength) keep(chunk.subarray(start));
  }
  if (length > 0) {
    const line = take();
    if (line !== null) yield line;
  }
}

/** The pieces in one array; a single piece is not copied. @param length the sum of their bytes. */
export function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return only;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a line. @param bytes without the line feed; `null` = the line is too long. */
export function contentOfLine(bytes: Uint8Array | null, isFirst: boolean): Line['content'] {
  if (bytes === null) return { ok: false, error: 'too_long' };
  const text = decode(bytes, isFirst);
  return text === null ? { ok: false, error: 'not_utf8' } : { ok: true, value: text };
}

function decode(bytes: Uint8Array, isFirst: boolean): string | null {
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.byteLength - 1 : bytes.byteLength;
  try {
    const text = decoder.decode(bytes.subarray(0, end));
    return isFirst && text.startsWith(BOM) ? text.slice(1) : text;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
