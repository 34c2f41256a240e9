/**
 * Verifies a response while it is written (`POST /v1/verify/stream`): uploads its pieces and receives events in
 * parallel. Browsers do not support that: they send the whole body first and then receive the events.
 */

import * as z from 'zod';
import { verifyStreamEventSchemas, type verifyStreamHeadSchema } from '../../src/wire/verify-stream.ts';
import type { Connection } from './connection.ts';
import { type LostEvent, readEvents } from './event-stream.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/** The first part of the request, sent before the response: the sources, and how the response is read. */
export type VerifyStreamHeadInput = z.input<typeof verifyStreamHeadSchema>;
/** `evidence`: `lexical` compares each claim with its sources. Default `none`. */
export type VerifyStreamOptions = { readonly evidence?: 'none' | 'lexical' };

const { answer, claim, finding, done, error } = verifyStreamEventSchemas;

const eventSchema = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('answer'), data: answer }),
  z.strictObject({ event: z.literal('claim'), data: claim }),
  z.strictObject({ event: z.literal('finding'), data: finding }),
  z.strictObject({ event: z.literal('done'), data: done }),
  z.strictObject({ event: z.literal('error'), data: error }),
]);

/** An event of `verifyStream`; `lost` if the connection broke before the end. */
export type VerifyStreamEvent = z.output<typeof eventSchema> | LostEvent;

/** The pieces of a response, split anywhere, as a model server streams them. */
export type Pieces = AsyncIterable<string> | Iterable<string>;

/**
 * Sends `pieces` and yields events. If the Worker refuses the request at once, the reply is a failure. Never retried.
 */
export async function verifyStream(
  connection: Connection,
  head: VerifyStreamHeadInput,
  pieces: Pieces,
  { evidence }: VerifyStreamOptions,
): Promise<Reply<AsyncGenerator<VerifyStreamEvent, void>>> {
  const path = routePath('POST /v1/verify/stream', {}, { evidence });
  const all = deltasOf(pieces);
  const opened = await connection.exchange(path, requestLines(head, all), 'application/jsonl');
  return opened.ok ? { ok: true, body: eventsOf(opened.body, all) } : opened;
}

type Deltas = AsyncGenerator<{ readonly delta: string }, void, void>;

function requestLines(head: VerifyStreamHeadInput, all: Deltas): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const line = (value: unknown): Uint8Array => encoder.encode(`${JSON.stringify(value)}\n`);
  return new ReadableStream({
    start: (controller) => controller.enqueue(line(head)),
    async pull(controller) {
      const { done, value } = await all.next();
      if (done === true) controller.close();
      else controller.enqueue(line(value));
    },
    async cancel() {
      await all.return();
    },
  });
}

async function* deltasOf(pieces: Pieces): Deltas {
  for await (const delta of pieces) yield { delta };
}

/** Yields events up to the last one, then stops reading pieces. */
async function* eventsOf(content: ReadableStream<Uint8Array>, all: Deltas): AsyncGenerator<VerifyStreamEvent, void> {
  try {
    yield* readEvents(content, eventSchema);
  } finally {
    // Not awaited: the next piece may take long to arrive.
    all.return().catch(() => undefined);
  }
}
