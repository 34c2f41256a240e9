/** Splits a streamed file into lines, holding one line in memory at a time. */

/** Yields the lines without line breaks and skips blank lines. @throws what the stream throws. */
export async function* textLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  // The pieces of the current line: a long line is joined only once.
  let held: string[] = [];
  for await (const text of decoded(stream)) {
    const [first = '', ...rest] = text.split('\n');
    held.push(first);
    for (const next of rest) {
      const line = held.join('').trim();
      if (line !== '') yield line;
      held = [next];
    }
  }
  const last = held.join('').trim();
  if (last !== '') yield last;
}

async function* decoded(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
