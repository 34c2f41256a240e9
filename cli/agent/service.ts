/** Agents by a Worker, with events as they come. */
import type { AgentStreamEvent } from '../../clients/typescript/agent.ts';
import type { Client } from '../../clients/typescript/client.ts';
import type { AgentRequest } from '../../src/wire/agent.ts';
import type { AgentResponse } from '../../src/wire/agent-reply.ts';
import type { Outcome } from '../outcome.ts';
import { outcomeOfFailure } from '../remote/failures.ts';

/** What a page shows of a trajectory while it goes on. */
export type PageEvent = Exclude<AgentStreamEvent, { readonly event: 'done' | 'error' | 'lost' }>;

export type Tell = (event: PageEvent) => Promise<void>;

/**
 * One trajectory, always streamed: what waits for its end alone has to be there within a proxy's patience.
 * @param flagFields fields that flags set for every row.
 */
export async function runRemoteAgent(
  client: Client,
  { stream: _stream, ...request }: AgentRequest,
  flagFields: ReadonlySet<string>,
  tell: Tell,
): Promise<Outcome<AgentResponse>> {
  const opened = await client.agentStream(request);
  if (!opened.ok) return outcomeOfFailure(opened.failure, flagFields);
  for await (const event of opened.body) {
    switch (event.event) {
      case 'done':
        return { kind: 'done', reply: event.data };
      case 'error':
        return outcomeOfFailure({ kind: 'problem', status: event.data.status, problem: event.data }, flagFields);
      case 'lost':
        return outcomeOfFailure(event.failure, flagFields);
      default:
        await tell(event);
    }
  }
  throw new Error('runRemoteAgent: a stream without a last event');
}
