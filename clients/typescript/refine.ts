/**
 * Candidates of a policy while they are written (`POST /v1/refine` with `stream`). Whoever stops reading before the end
 * closes the connection, and the Worker stops the policy; whoever reads slowly slows it.
 */
import { createParser } from 'eventsource-parser';
import * as z from 'zod';
import type { refineRequestSchema } from '../../src/schema/refine.ts';
import { refineEventSchemas } from '../../src/schema/refine-stream.ts';
import type { Connection } from './connection.ts';
import type { ClientFailure, Reply } from './reply.ts';
import { parseJson, reasonOf } from './transport.ts';

/** Whether it is streamed is for the method to say. */
export type RefineInput = Omit<z.input<typeof refineRequestSchema>, 'stream'>;

const { start, delta, thinking, claim, finding, candidate, done, error } = refineEventSchemas;

const eventSchema = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('start'), data: start }),
  z.strictObject({ event: z.literal('delta'), data: delta }),
  z.strictObject({ event: z.literal('thinking'), data: thinking }),
  z.strictObject({ event: z.literal('claim'), data: claim }),
  z.strictObject({ event: z.literal('finding'), data: finding }),
  z.strictObject({ event: z.literal('candidate'), data: candidate }),
  z.strictObject({ event: z.literal('done'), data: done }),
  z.strictObject({ event: z.literal('error'), data: error }),
]);

/** `lost` is said here, not by the Worker: the connection broke, or something else than an event came. */
export type RefineStreamEvent =
  | z.output<typeof eventSchema>
  | { readonly event: 'lost'; readonly failure: ClientFailure };

/** Begins a refinement and reads its events; what is refused before the first one is a failure. */
export async function refineStream(
  connection: Connection,
  request: RefineInput,
): Promise<Reply<AsyncGenerator<RefineStreamEvent, void>>> {
  const opened = await connection.streamPost('v1/refine', { ...request, stream: true });
  return opened.ok ? { ok: true, body: eventsOf(opened.body) } : opened;
}

/** Events until the last one, which is `done`, `error` or `lost`. */
async function* eventsOf(content: ReadableStream<Uint8Array>): AsyncGenerator<RefineStreamEvent, void> {
  const arrived: RefineStreamEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => arrived.push(understoodEvent(event, data)) });
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
        if (event.event === 'done' || event.event === 'error' || event.event === 'lost') return;
      }
    }
  } finally {
    // What cannot be cancelled is over already.
    await reader.cancel().catch(() => undefined);
  }
}

function lost(failure: ClientFailure): RefineStreamEvent {
  return { event: 'lost', failure };
}

function understoodEvent(event: string | undefined, data: string): RefineStreamEvent {
  const parsed = eventSchema.safeParse({ event, data: parseJson(data) });
  if (parsed.success) return parsed.data;
  return lost({ kind: 'unexpected_reply', status: 200, detail: '200, but an event that this version does not know' });
}
