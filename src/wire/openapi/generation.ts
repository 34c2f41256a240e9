/** `POST /v1/refine` and `POST /v1/agent` in the OpenAPI document. */
import { agentRequestSchema } from '../agent.ts';
import { agentEventSchema, agentResponseSchema } from '../agent-reply.ts';
import { makeRubricsReplySchema, makeRubricsRequestSchema } from '../make-rubrics.ts';
import { candidateSchema, refineEventSchema, refineRequestSchema, refineResponseSchema } from '../refine.ts';
import type { Section } from './route.ts';

export const GENERATION = {
  tag: { name: 'generation', description: 'Answers that are generated, verified and scored.' },
  routes: {
    'POST /v1/refine': {
      summary:
        'Generates n candidates from tool output, verifies them, scores them if the request names a recipe, best first.',
      moreScopes: 'with a recipe also score',
      request: 'RefineRequest',
      replies: {
        200: { description: 'The candidates.', schema: 'RefineResponse', events: 'RefineEvent' },
      },
      problems: [400, 401, 403, 409, 413, 415, 422, 500, 502, 503],
    },
    'POST /v1/agent': {
      summary:
        'Runs a policy with tools: returns its trajectory, with a reward if the request has a reference or tests.',
      moreScopes: 'with a reference or tests also score',
      request: 'AgentRequest',
      replies: {
        200: {
          description: 'The trajectory with its reward, or null and the reason. With stream: events.',
          schema: 'AgentResponse',
          events: 'AgentEvent',
        },
      },
      problems: [400, 413, 415, 422, 401, 403, 500, 409, 503],
    },
    'POST /v1/rubrics': {
      summary: 'Writes positive and negative criteria for a question, checks them, and stores them by their content.',
      request: 'MakeRubricsRequest',
      replies: { 200: { description: 'The criteria, and those that failed a check.', schema: 'MakeRubricsReply' } },
      problems: [400, 401, 403, 409, 413, 415, 422, 500, 503],
    },
  },
  requests: {
    RefineRequest: refineRequestSchema,
    AgentRequest: agentRequestSchema,
    MakeRubricsRequest: makeRubricsRequestSchema,
  },
  replies: {
    RefineResponse: refineResponseSchema,
    RefineEvent: refineEventSchema,
    Candidate: candidateSchema,
    AgentResponse: agentResponseSchema,
    AgentEvent: agentEventSchema,
    MakeRubricsReply: makeRubricsReplySchema,
  },
} satisfies Section;
