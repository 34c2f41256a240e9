/**
 * From the body of a reply to a generation: events of a stream as they come, or those of a reply in one piece from servers
 * and proxies that do not stream although they were asked to.
 */

import type { GenerationRequest } from '../../../src/generation/generator.ts';
import { backendFault, brokenGeneration } from '../calls/failures.ts';
import type { Generation, Lifetime } from '../calls/lifetime.ts';
import { EventPuller, type StreamBounds, type StreamEnd } from '../calls/response-body.ts';
import { brokeOff, type ChunkResult, readChunkText } from './completion-chunk.ts';
import type { SampleFault, SampleReader } from './sample-reader.ts';

/** What one event of a stream says. `last`: the server says that nothing follows, not that the reply is whole. */
export type StreamItem = { readonly read: ChunkResult | null; readonly last: boolean };

/** A stream spends about 250 bytes of framing on each token; no token needs as much as this. */
const MAX_BYTES_PER_TOKEN = 2_048;
/** Of a reply in one piece, which is read into memory, and of one event. */
const MAX_PIECE_BYTES = 8 * 1024 * 1024;

/** How much a reply to the request can be: whoever sends more does not keep to its length. */
export function boundsOf({ n, max_tokens }: GenerationRequest): StreamBounds {
  return { max_bytes: MAX_PIECE_BYTES + n * max_tokens * MAX_BYTES_PER_TOKEN, max_event_bytes: MAX_PIECE_BYTES };
}

/** One event of a stream in OpenAI's shape. */
export function openAiItem(data: string): StreamItem {
  return data === '[DONE]' ? { read: null, last: true } : { read: readChunkText(data), last: false };
}

/** The generation of a streamed body. @param itemOf reads the data of one event. */
export async function* streamedGeneration(
  body: ReadableStream<Uint8Array>,
  life: Lifetime,
  bounds: StreamBounds,
  reader: SampleReader,
  itemOf: (data: string) => StreamItem,
): Generation {
  const puller = new EventPuller(body, life, bounds);
  try {
    for (;;) {
      const pulled = await puller.next();
      if (pulled.end !== undefined) return yield* ended(reader, faultOfStreamEnd(pulled.end, life));
      const { read, last } = itemOf(pulled.data);
      if (read !== null) {
        const { events, fault } = reader.take(read);
        yield* events;
        if (fault !== null) return brokenGeneration(fault);
      }
      if (last) return yield* ended(reader, null);
    }
  } finally {
    puller.cancel();
  }
}

/** The generation of a reply that came in one piece. */
export async function* wholeGeneration(read: ChunkResult, reader: SampleReader): Generation {
  const { events, fault } = reader.take(read);
  yield* events;
  if (fault !== null) return brokenGeneration(fault);
  return yield* ended(reader, null);
}

/** Where a text that was read whole must end. */
export const MAX_WHOLE_BYTES = MAX_PIECE_BYTES;

/** @param broken why the body ended where the server did not end it; what has finished by then stands. */
async function* ended(reader: SampleReader, broken: SampleFault | null): Generation {
  if (!reader.finished) {
    const fault = broken ?? reader.end();
    if (fault !== null) return brokenGeneration(fault);
  }
  if (reader.usage !== null) yield { type: 'usage', usage: reader.usage };
  return { ok: true };
}

/** `null` for an orderly end. */
function faultOfStreamEnd(end: StreamEnd, life: Lifetime): SampleFault | null {
  switch (end) {
    case 'ended':
      return null;
    case 'broken':
      return brokeOff();
    case 'too_large':
      return tooLarge();
    case 'over':
      return life.fault;
  }
}

/** The fault of a reply that is more than its length can be. */
export function tooLarge(): SampleFault {
  return backendFault('reply_too_large', 'the reply is larger than its length in tokens can be');
}
