/**
 * Streams the tool loop of a policy (`POST /v1/agent` with `stream`). Ending the iteration early closes the connection,
 * and the Worker stops policy and sandbox; slow reading applies back-pressure to the policy.
 */

import * as z from 'zod';
import type { agentRequestSchema } from '../../src/wire/agent.ts';
import { agentEventSchemas } from '../../src/wire/agent-reply.ts';
import type { Connection } from './connection.ts';
import { type LostEvent, readEvents } from './event-stream.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/** The request without `stream`, which the method sets. */
export type AgentInput = Omit<z.input<typeof agentRequestSchema>, 'stream'>;

const { start, turn, delta, thinking, tool_call, tool_result, turn_end, done, error } = agentEventSchemas;

/** An event of a stream, with its name. */
export const agentStreamEventSchema = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('start'), data: start }),
  z.strictObject({ event: z.literal('turn'), data: turn }),
  z.strictObject({ event: z.literal('delta'), data: delta }),
  z.strictObject({ event: z.literal('thinking'), data: thinking }),
  z.strictObject({ event: z.literal('tool_call'), data: tool_call }),
  z.strictObject({ event: z.literal('tool_result'), data: tool_result }),
  z.strictObject({ event: z.literal('turn_end'), data: turn_end }),
  z.strictObject({ event: z.literal('done'), data: done }),
  z.strictObject({ event: z.literal('error'), data: error }),
]);

/** An event of `agentStream`; `lost` if the connection broke before the end. */
export type AgentStreamEvent = z.output<typeof agentStreamEventSchema> | LostEvent;

/**
 * Starts a trajectory and yields its events up to `done`, `error` or `lost`. A request refused before the first event
 * is a failure.
 */
export async function agentStream(
  connection: Connection,
  request: AgentInput,
): Promise<Reply<AsyncGenerator<AgentStreamEvent, void>>> {
  const opened = await connection.streamPost(routePath('POST /v1/agent', {}), { ...request, stream: true });
  return opened.ok ? { ok: true, body: readEvents(opened.body, agentStreamEventSchema) } : opened;
}
