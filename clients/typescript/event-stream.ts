/** Reading server-sent events of a Worker, up to the one that is the last. */
import { createParser } from 'eventsource-parser';
import type { ClientFailure } from './reply.ts';
import { reasonOf } from './transport.ts';

/** Said here, not by the Worker: the connection broke, or something else than an event came. */
export type LostEvent = { readonly event: 'lost'; readonly failure: ClientFailure };

/**
 * The events of a stream, each as it comes. Who stops reading before the last one closes the connection.
 * @param understand what an event's name and data are.
 */
export async function* readEvents<E extends { readonly event: string }>(
  content: ReadableStream<Uint8Array>,
  understand: (event: string | undefined, data: string) => E,
  isLast: (event: E) => boolean,
): AsyncGenerator<E | LostEvent, void> {
  const arrived: E[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => arrived.push(understand(event, data)) });
  const decoder = new TextDecoder();
  const reader = content.getReader();
  try {
    for (;;) {
      const read = await reader.read().catch((broken: unknown) => ({ lost: reasonOf(broken) }));
      if ('lost' in read) return yield lost({ kind: 'unreachable', why: read.lost });
      if (read.done) return yield lost({ kind: 'unreachable', why: 'the stream ended before its last event' });
      parser.feed(decoder.decode(read.value, { stream: true }));
      for (const event of arrived.splice(0)) {
        yield event;
        if (isLast(event)) return;
      }
    }
  } finally {
    // What cannot be cancelled is over already.
    await reader.cancel().catch(() => undefined);
  }
}

/** In place of an event that this version does not know. */
export function unknownEvent(): LostEvent {
  return lost({ kind: 'unexpected_reply', status: 200, detail: '200, but an event that this version does not know' });
}

function lost(failure: ClientFailure): LostEvent {
  return { event: 'lost', failure };
}
