/** Reading server-sent events of a Worker, up to the one that is the last. */
import { createParser } from 'eventsource-parser';
import type * as z from 'zod';
import type { ClientFailure } from './reply.ts';
import { parseJson, reasonOf } from './transport.ts';

/** Said here, not by the Worker: the connection broke, or something else than an event came. */
export type LostEvent = { readonly event: 'lost'; readonly failure: ClientFailure };

/** Nothing follows one of these. */
const LAST: ReadonlySet<string> = new Set(['done', 'error', 'lost']);

/**
 * The events of a stream, each as it comes, up to `done`, `error` or `lost`. Who stops reading before closes the connection.
 * @param schema of `{event, data}`; what it does not take is `lost`.
 */
export async function* readEvents<E extends { readonly event: string }>(
  content: ReadableStream<Uint8Array>,
  schema: z.ZodType<E>,
): AsyncGenerator<E | LostEvent, void> {
  const arrived: (E | LostEvent)[] = [];
  const parser = createParser({
    onEvent({ event, data }) {
      const parsed = schema.safeParse({ event, data: parseJson(data) });
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
    // What cannot be cancelled is over already.
    await reader.cancel().catch(() => undefined);
  }
}

const UNKNOWN_EVENT: ClientFailure = {
  kind: 'unexpected_reply',
  status: 200,
  detail: '200, but an event that this version does not know',
};

function lost(failure: ClientFailure): LostEvent {
  return { event: 'lost', failure };
}
