/** Reads the server-sent events of a Worker up to the final event. */

import { createParser } from 'eventsource-parser';
import type * as z from 'zod';
import { parsedJson } from '../../src/json.ts';
import type { ClientFailure } from './reply.ts';
import { reasonOf } from './transport.ts';

/** An event that the client itself produces: the connection broke, or the stream contained an invalid event. */
export type LostEvent = { readonly event: 'lost'; readonly failure: ClientFailure };

/** Names of the final events, after which no other event follows. */
const LAST: ReadonlySet<string> = new Set(['done', 'error', 'lost']);

/**
 * Yields the events of a stream up to `done`, `error` or `lost`. Ending the iteration early closes the connection.
 * @param schema validates `{event, data}`; an event that fails it ends the stream as `lost`.
 */
export async function* readEvents<E extends { readonly event: string }>(
  content: ReadableStream<Uint8Array>,
  schema: z.ZodType<E>,
): AsyncGenerator<E | LostEvent, void> {
  const arrived: (E | LostEvent)[] = [];
  const parser = createParser({
    onEvent({ event, data }) {
      const parsed = schema.safeParse({ event, data: parsedJson(data) });
      arrived.push(parsed.success ? parsed.data : lost(UNKNOWN_EVENT));
    },
  });
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
        if (LAST.has(event.event)) return;
      }
    }
  } finally {
    // Cancelling fails only if the stream has already ended.
    await reader.cancel().catch(() => undefined);
  }
}

const UNKNOWN_EVENT: ClientFailure = {
  kind: 'unexpected_reply',
  status: 200,
  detail: 'the Worker answered 200 and sent an event that this client version does not know',
};

function lost(failure: ClientFailure): LostEvent {
  return { event: 'lost', failure };
}
