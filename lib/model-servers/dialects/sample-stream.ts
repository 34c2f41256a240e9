/**
 * Turns the body of a reply into a generation: events of a stream as they arrive, or those of a whole reply from
 * servers and proxies that ignore `stream`.
 */

import type { GenerationRequest } from '../../../src/generation/generator.ts';
import { backendFault, brokenGeneration } from '../calls/failures.ts';
import type { Generation, Lifetime } from '../calls/lifetime.ts';
import { EventPuller, type StreamBounds, type StreamEnd } from '../calls/response-body.ts';
import { type ChunkResult, interruptedReply, readChunkText } from './completion-chunk.ts';
import type { SampleFault, SampleReader } from './sample-reader.ts';

/** One event of a stream. `last` = the server ends the stream here, though the reply may be incomplete. */
export type StreamItem = { readonly read: ChunkResult | null; readonly last: boolean };

/** Upper limit for one token of a stream; the framing takes about 250 bytes. */
const MAX_BYTES_PER_TOKEN = 2_048;
/** Upper limit of a whole reply, which is read into memory, and of one event. */
const MAX_PIECE_BYTES = 8 * 1024 * 1024;

/** The size limits of a stream that follow from the request's `max_tokens`. */
export function boundsOf({ n, max_tokens }: GenerationRequest): StreamBounds {
  return { max_bytes: MAX_PIECE_BYTES + n * max_tokens * MAX_BYTES_PER_TOKEN, max_event_bytes: MAX_PIECE_BYTES };
}

/** Reads one event of a stream in OpenAI's format. */
export function openAiItem(data: string): StreamItem {
  return data === '[DONE]' ? { read: null, last: true } : { read: readChunkText(data), last: false };
}

/** Reads a streamed body as a generation. @param itemOf reads the data of one event. */
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
      if (last) {
        await puller.finish();
        return yield* ended(reader, null);
      }
    }
  } finally {
    puller.cancel();
  }
}

/** Reads a whole reply as a generation. */
export async function* wholeGeneration(read: ChunkResult, reader: SampleReader): Generation {
  const { events, fault } = reader.take(read);
  yield* events;
  if (fault !== null) return brokenGeneration(fault);
  return yield* ended(reader, null);
}

/** Upper limit of a whole reply, in bytes. */
export const MAX_WHOLE_BYTES = MAX_PIECE_BYTES;

/** @param broken the fault that ended the body, if the server did not. Finished choices stay valid. */
async function* ended(reader: SampleReader, broken: SampleFault | null): Generation {
  if (!reader.finished) {
    const fault = broken ?? reader.end();
    if (fault !== null) return brokenGeneration(fault);
  }
  if (reader.usage !== null) yield { type: 'usage', usage: reader.usage };
  return { ok: true };
}

/** Returns `null` if the body ended normally. */
function faultOfStreamEnd(end: StreamEnd, life: Lifetime): SampleFault | null {
  switch (end) {
    case 'ended':
      return null;
    case 'broken':
      return interruptedReply();
    case 'too_large':
      return tooLarge();
    case 'over':
      return life.fault;
  }
}

/** The fault of a reply that is larger than its length in tokens allows. */
export function tooLarge(): SampleFault {
  return backendFault('reply_too_large', 'the reply is larger than its length in tokens can be');
}
