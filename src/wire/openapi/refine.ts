/** Refining in the OpenAPI document. */

import { candidateSchema, refineEventSchema, refineRequestSchema, refineResponseSchema } from '../refine.ts';
import type { Route } from './route.ts';

export const REFINE_ROUTES: readonly Route[] = [
  {
    method: 'post',
    path: '/v1/refine',
    summary: 'Has a policy answer from tool output: n candidates, verified, scored if a recipe is given, best first.',
    scope: 'generate',
    request: 'RefineRequest',
    replies: {
      200: { description: 'The candidates.', schema: 'RefineResponse', events: 'RefineEvent' },
    },
    problems: [400, 401, 403, 409, 413, 415, 422, 500, 502, 503],
  },
];

export const REFINE_REQUESTS = { RefineRequest: refineRequestSchema };

export const REFINE_REPLIES = {
  RefineResponse: refineResponseSchema,
  RefineEvent: refineEventSchema,
  Candidate: candidateSchema,
};
