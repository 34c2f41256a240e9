/** The agent's route in the description of the API. */
import { agentRequestSchema } from '../agent.ts';
import { agentEventSchema, agentResponseSchema } from '../agent-reply.ts';
import type { Route } from './route.ts';

export const AGENT_ROUTES: readonly Route[] = [
  {
    method: 'post',
    path: '/v1/agent',
    summary: 'Lets a policy with tools work: its trajectory, and its reward where something says what is right.',
    scope: 'generate',
    request: 'AgentRequest',
    replies: {
      200: {
        description: 'The trajectory, with the reward or null and the reason. With stream: events.',
        schema: 'AgentResponse',
        events: 'AgentEvent',
      },
    },
    problems: [400, 413, 415, 422, 401, 403, 500, 409, 503],
  },
];

export const AGENT_REQUESTS = { AgentRequest: agentRequestSchema };

export const AGENT_REPLIES = { AgentResponse: agentResponseSchema, AgentEvent: agentEventSchema };
