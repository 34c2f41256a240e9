/** A line of a byte stream, or the reason why it cannot be read. */
import type { Result } from '../result.ts';

export type StreamLine = Result<string, 'line_too_long' | 'line_not_utf8'>;

const LINE_FEED = 0x0a;

/**
 * Reads a byte stream line by line and holds one line in memory. Yields a problem for a line that is too long or not
 * UTF-8 and continues with the next one. A last line without a line feed counts.
 * @param maxBytes limit of one line in bytes, without its line feed.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<StreamLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const add = (piece: Uint8Array): void => {
    bytes += piece.byteLength;
    if (bytes <= maxBytes) pieces.push(piece);
  };
  const take = (): StreamLine => {
    const line = bytes > maxBytes ? ({ ok: false, error: 'line_too_long' } as const) : decodeLine(decoder, pieces);
    pieces = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    // Copies the piece, since the stream may reuse its buffer.
    if (start < chunk.byteLength) add(chunk.slice(start));
  }
  if (bytes > 0) yield take();
}

function decodeLine(decoder: TextDecoder, pieces: readonly Uint8Array[]): StreamLine {
  try {
    let text = '';
    for (const piece of pieces) text += decoder.decode(piece, { stream: true });
    return { ok: true, value: text + decoder.decode() };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { ok: false, error: 'line_not_utf8' };
  }
}
