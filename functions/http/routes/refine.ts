/**
 * `POST /v1/refine`: a question and tool output in, cited answers of a policy out, as JSON or (with `stream`) as
 * server-sent events. In a stream, an error before the first byte is a plain problem, a later one is the event `error`.
 * Generation stops when the caller disconnects, and slows down if the caller reads slowly.
 */

import { RequestError } from '../../../service/failures.ts';
import type { ScoringPlatform } from '../../../service/ports.ts';
import { type ReadyRefinement, readyRefinement, refine } from '../../../service/refine.ts';
import { requiredScopes } from '../../../service/required-scopes.ts';
import type { RefineEvent } from '../../../src/generation/refine.ts';
import { REFINE_STREAM_DEADLINE_MS } from '../../../src/generation/refine.ts';
import { refineRequestSchema } from '../../../src/wire/refine.ts';
import { answered } from '../answered.ts';
import { checkScope } from '../auth.ts';
import { readUnchecked, validated } from '../body.ts';
import { platformOf } from '../context.ts';
import { type EventStream, policyStream } from '../event-stream.ts';
import type { Handlers } from '../handlers.ts';

/** Deadline for all candidates of a reply that is sent at the end; proxies time out after 100 to 120 s. */
const REFINE_DEADLINE_MS = 60_000;

export const refineHandlers = {
  'POST /v1/refine': async (c) => {
    const body = await readUnchecked(c);
    const request = validated(body, refineRequestSchema);
    for (const needed of requiredScopes('/v1/refine', request)) checkScope(c, needed);
    if (!request.stream) {
      // Nothing is written before the end, so this signal is the only sign of a disconnected caller.
      const generation = { deadline_ms: REFINE_DEADLINE_MS, signal: c.req.raw.signal };
      return c.json(await answered(c, '/v1/refine', { body, generation }));
    }
    const platform = await platformOf(c);
    const prepared = await readyRefinement(request, platform);
    if (!prepared.ok) throw new RequestError(prepared.error);
    const stream = policyStream(c.get('requestId'), c.get('bodyLease'), (events) =>
      sendRefinement(prepared.value, platform, events),
    );
    return c.body(stream, 200, { 'content-type': 'text/event-stream' });
  },
} satisfies Partial<Handlers>;

/** Streams a refinement. @throws RequestError if it fails; the stream turns it into an event. */
async function sendRefinement(ready: ReadyRefinement, platform: ScoringPlatform, events: EventStream): Promise<void> {
  events.send('start', { ...ready.start, n: ready.plan.request.n });
  await events.room();
  const result = await refine(ready, platform, {
    deadline_ms: REFINE_STREAM_DEADLINE_MS,
    signal: events.gone,
    async onEvent({ type, ...data }: RefineEvent) {
      events.send(type, data);
      await events.room();
    },
  });
  if (!result.ok) throw new RequestError(result.failure);
  events.send('done', result.reply);
}
