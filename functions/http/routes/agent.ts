/**
 * `POST /v1/agent`: runs a policy with tools and returns its trajectory and reward, as JSON or as server-sent events.
 */

import { type AgentPlan, type AgentRunOptions, planAgent, runAgent } from '../../../service/agent.ts';
import { RequestError } from '../../../service/failures.ts';
import type { AgentPlatform } from '../../../service/ports.ts';
import { scoreOne } from '../../../service/score.ts';
import { type AgentObserver, NO_OBSERVER } from '../../../service/trajectory.ts';
import { agentRequestSchema } from '../../../src/wire/agent.ts';
import type { AgentEventData, AgentEventName, AgentResponse } from '../../../src/wire/agent-reply.ts';
import { checkScope } from '../auth.ts';
import { readJson } from '../body.ts';
import { type Context, platformOf, succeeded } from '../context.ts';
import { type EventStream, policyStream } from '../event-stream.ts';
import type { Handlers } from '../handlers.ts';

/** Deadline of a trajectory whose reply is sent at its end; proxies time out after 100 to 120 s. */
const AGENT_DEADLINE_MS = 90_000;
/** Deadline of a streamed trajectory: sixteen turns with reasoning at 30 tokens per second take 11 minutes. */
const AGENT_STREAM_DEADLINE_MS = 15 * 60 * 1000;

/** The scope that a request needs if its trajectory is scored. */
const REWARD_SCOPE = { scope: 'score', needed_by: '/v1/agent with "reference" or "tests"' } as const;

export const agentHandlers = {
  'POST /v1/agent': async (c) => {
    const request = await readJson(c, agentRequestSchema);
    if (request.reference !== undefined || request.tests !== undefined) checkScope(c, REWARD_SCOPE);
    const platform = await platformOf(c);
    const planned = await planAgent(request, platform);
    if (!planned.ok) throw new RequestError(planned.error);
    const plan = planned.value;
    const asking = { c, platform, plan };
    if (!request.stream) {
      const waiting = { observer: NO_OBSERVER, caller: c.req.raw.signal, deadline_ms: AGENT_DEADLINE_MS };
      return c.json(await answer(asking, waiting));
    }
    const stream = policyStream(c.get('requestId'), c.get('bodyLease'), async (events) => {
      const observer = observerOf(events);
      observer.send('start', plan.start);
      const waiting = { observer, caller: events.gone, deadline_ms: AGENT_STREAM_DEADLINE_MS };
      observer.send('done', await answer(asking, waiting));
    });
    return c.body(stream, 200, { 'content-type': 'text/event-stream' });
  },
} satisfies Partial<Handlers>;

type Asking = { readonly c: Context; readonly platform: AgentPlatform; readonly plan: AgentPlan };

/** @throws RequestError if there is no reply. */
async function answer(
  { c, platform, plan }: Asking,
  waiting: Pick<AgentRunOptions, 'observer' | 'caller' | 'deadline_ms'>,
): Promise<AgentResponse> {
  const result = await runAgent(plan, {
    ...waiting,
    elapsed: () => performance.now(),
    score: async (rollout, options) => succeeded(c, await scoreOne(rollout, options, platform)).reply,
  });
  if (!result.ok) throw new RequestError(result.error);
  return result.value;
}

/** Sends events with the names and data that the schema defines. */
function observerOf(events: EventStream): AgentObserver {
  return {
    send: <Name extends AgentEventName>(name: Name, data: AgentEventData[Name]) => events.send(name, data),
    room: () => events.room(),
  };
}
