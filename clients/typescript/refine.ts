/**
 * Streams the candidates of a policy (`POST /v1/refine` with `stream`). Ending the iteration early closes the
 * connection, and the Worker stops the policy; slow reading applies back-pressure.
 */

import * as z from 'zod';
import type { refineRequestSchema } from '../../src/wire/refine.ts';
import { refineEventSchemas } from '../../src/wire/refine.ts';
import type { Connection } from './connection.ts';
import { type LostEvent, readEvents } from './event-stream.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/** The request without `stream`, which the method sets. */
export type RefineInput = Omit<z.input<typeof refineRequestSchema>, 'stream'>;

const { start, delta, thinking, claim, finding, candidate, done, error } = refineEventSchemas;

/** An event of a stream, with its name. */
export const refineStreamEventSchema = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('start'), data: start }),
  z.strictObject({ event: z.literal('delta'), data: delta }),
  z.strictObject({ event: z.literal('thinking'), data: thinking }),
  z.strictObject({ event: z.literal('claim'), data: claim }),
  z.strictObject({ event: z.literal('finding'), data: finding }),
  z.strictObject({ event: z.literal('candidate'), data: candidate }),
  z.strictObject({ event: z.literal('done'), data: done }),
  z.strictObject({ event: z.literal('error'), data: error }),
]);

/** An event of `refineStream`; `lost` if the connection broke before the end. */
export type RefineStreamEvent = z.output<typeof refineStreamEventSchema> | LostEvent;

/** Starts a refinement and yields its events. A request refused before the first event is a failure. */
export async function refineStream(
  connection: Connection,
  request: RefineInput,
): Promise<Reply<AsyncGenerator<RefineStreamEvent, void>>> {
  const opened = await connection.streamPost(routePath('POST /v1/refine', {}), { ...request, stream: true });
  return opened.ok ? { ok: true, body: readEvents(opened.body, refineStreamEventSchema) } : opened;
}
