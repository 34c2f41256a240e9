/** The lines of a stored file, or of a stretch of it, as they stream in. */

import { MAX_BATCH_LINE_BYTES } from '../../src/limits.ts';
import { type ByteLine, LineSplitter } from '../../src/wire/batches/byte-lines.ts';

/** @param from the number of the first line and its place in the file, where the stream is a stretch of it. */
export async function* linesOf(
  body: ReadableStream<Uint8Array>,
  from: { readonly number: number; readonly start: number } = { number: 1, start: 0 },
): AsyncGenerator<ByteLine> {
  const splitter = new LineSplitter(MAX_BATCH_LINE_BYTES, from);
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    yield* splitter.push(value);
  }
  yield* splitter.finish();
}
