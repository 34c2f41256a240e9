/** Lines of a file that is read piece by piece, with one line in memory at a time. */

/** The lines without their ends; blank ones are left out. @throws what the stream throws. */
export async function* textLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  // Pieces of one line, so that a long one is joined once.
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
