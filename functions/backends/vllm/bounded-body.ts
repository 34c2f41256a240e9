/** Reading what a server sends without trusting it to stop: whole texts and event streams, up to a number of bytes. */
import { createParser } from 'eventsource-parser';

/**
 * The text of a body, or `null` if it is larger than `maxBytes`. The rest of a larger one is not read.
 * @throws what the connection throws when it breaks.
 */
export async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string | null> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const whole = await readChunks(body, (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return 'stop';
    text += decoder.decode(chunk, { stream: true });
    return 'more';
  });
  return whole ? text + decoder.decode() : null;
}

export type EventsEnd = 'stopped' | 'ended' | 'too_large';

/**
 * Hands the data of each server-sent event to `onData` until it says stop, the stream ends or is larger than `maxBytes`.
 * An event that the stream breaks off in is never handed on.
 * @throws what the connection throws when it breaks.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  onData: (data: string) => 'more' | 'stop',
): Promise<EventsEnd> {
  const decoder = new TextDecoder();
  let end: EventsEnd = 'ended';
  let bytes = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (end !== 'stopped' && onData(data) === 'stop') end = 'stopped';
    },
  });
  await readChunks(body, (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) end = 'too_large';
    else parser.feed(decoder.decode(chunk, { stream: true }));
    return end === 'ended' ? 'more' : 'stop';
  });
  return end;
}

/** True if the stream was read to its end; after a stop the rest is cancelled. */
async function readChunks(
  body: ReadableStream<Uint8Array>,
  onChunk: (chunk: Uint8Array) => 'more' | 'stop',
): Promise<boolean> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    if (onChunk(value) === 'stop') {
      await reader.cancel();
      return false;
    }
  }
}
