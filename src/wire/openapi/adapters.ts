/** The routes for trainers, for the OpenAPI document (openapi.ts). */
import { longTraceRlReplySchema, longTraceRlRequestSchema } from '../adapters/longtracerl.ts';
import { nemoGymReplySchema, nemoGymRequestSchema } from '../adapters/nemo-gym.ts';
import { openRlhfReplySchema, openRlhfRequestSchema } from '../adapters/openrlhf.ts';
import { adapterQuerySchema, labelSchema, longTraceRlQuerySchema, slimeQuerySchema } from '../adapters/request.ts';
import { slimeReplySchema, slimeRequestSchema } from '../adapters/slime.ts';
import { BODY_PROBLEMS, KEY_PROBLEMS, type Route } from './route.ts';

/** What they have in common. */
const ADAPTER = {
  method: 'post',
  scope: 'score',
  keyInUrl: true,
  problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 503],
} as const;

export const ADAPTER_ROUTES: readonly Route[] = [
  {
    ...ADAPTER,
    path: '/v1/adapters/slime',
    summary: "slime's remote reward model: one sample, answered with a number.",
    query: slimeQuerySchema,
    request: 'SlimeRequest',
    replies: { 200: { description: 'The reward.', schema: 'SlimeReply' } },
  },
  {
    ...ADAPTER,
    path: '/v1/adapters/longtracerl/evaluate',
    summary: "LongTraceRL's reward server: outcome, rubric and reward of one sample.",
    query: longTraceRlQuerySchema,
    request: 'LongTraceRlRequest',
    replies: { 200: { description: 'All three rewards.', schema: 'LongTraceRlReply' } },
  },
  {
    ...ADAPTER,
    path: '/v1/adapters/openrlhf/get_reward',
    summary: "OpenRLHF's remote reward model: lists, answered with lists of the same length.",
    query: adapterQuerySchema,
    request: 'OpenRlhfRequest',
    replies: { 200: { description: 'Rewards, scores and logs.', schema: 'OpenRlhfReply' } },
  },
  {
    ...ADAPTER,
    path: '/v1/adapters/nemo-gym/verify',
    summary: "A NeMo Gym resources server's verification: the row with its reward.",
    query: adapterQuerySchema,
    request: 'NemoGymRequest',
    replies: { 200: { description: 'The row and its reward.', schema: 'NemoGymReply' } },
  },
];

export const ADAPTER_REQUESTS = {
  SlimeRequest: slimeRequestSchema,
  LongTraceRlRequest: longTraceRlRequestSchema,
  OpenRlhfRequest: openRlhfRequestSchema,
  NemoGymRequest: nemoGymRequestSchema,
  Label: labelSchema,
};

export const ADAPTER_REPLIES = {
  SlimeReply: slimeReplySchema,
  LongTraceRlReply: longTraceRlReplySchema,
  OpenRlhfReply: openRlhfReplySchema,
  NemoGymReply: nemoGymReplySchema,
};
