/** Reading what a server sends without trusting it to stop: whole texts and event streams, up to a number of bytes. */
import { createParser } from 'eventsource-parser';

/** The connection broke while a body was read. Says nothing more: what it knows are hosts and ports of the inside. */
export class BrokenBodyError extends Error {
  constructor() {
    super('the connection broke while its body was read');
    this.name = 'BrokenBodyError';
  }
}

/**
 * The text of a body, or `null` if it is larger than `maxBytes`. The rest of a larger one is not read.
 * @throws BrokenBodyError
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
 * @throws BrokenBodyError
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
    const { done, value } = await reader.read().catch(breakOff);
    if (done) return true;
    if (onChunk(value) === 'stop') {
      await reader.cancel().catch(breakOff);
      return false;
    }
  }
}

function breakOff(): never {
  throw new BrokenBodyError();
}
