/** The routes for trainers in the OpenAPI document. */
import * as z from 'zod';
import { carrAdapterReplySchema, carrRequestSchema } from '../adapters/carr.ts';
import { longTraceRlReplySchema, longTraceRlRequestSchema } from '../adapters/longtracerl.ts';
import { nemoGymReplySchema, nemoGymRequestSchema } from '../adapters/nemo-gym.ts';
import { genRmReplySchema, genRmRequestSchema } from '../adapters/nemo-gym-compare.ts';
import { openRlhfReplySchema, openRlhfRequestSchema } from '../adapters/openrlhf.ts';
import { labelSchema } from '../adapters/request.ts';
import { slimeReplySchema, slimeRequestSchema } from '../adapters/slime.ts';
import { BODY_PROBLEMS, KEY_PROBLEMS, type Section } from './route.ts';

/** The properties that all adapter routes share. */
const ADAPTER = {
  keyInUrl: true,
  problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 503],
} as const;

export const ADAPTERS = {
  tag: { name: 'trainers', description: 'The shapes that trainers send and read.' },
  routes: {
    'POST /v1/adapters/slime': {
      ...ADAPTER,
      summary: "slime's remote reward model: one sample in, a number out.",
      request: 'SlimeRequest',
      replies: { 200: { description: 'The reward.', schema: 'SlimeReply' } },
    },
    'POST /v1/adapters/longtracerl/evaluate': {
      ...ADAPTER,
      summary: 'The reward servers of LongTraceRL and CaRR: outcome, rubric and reward of one sample.',
      request: 'LongTraceRlRequest',
      replies: { 200: { description: 'The three rewards.', schema: 'LongTraceRlReply' } },
    },
    'POST /v1/adapters/openrlhf/get_reward': {
      ...ADAPTER,
      summary: "OpenRLHF's remote reward model: lists in, lists of the same length out.",
      request: 'OpenRlhfRequest',
      replies: { 200: { description: 'Rewards, scores and logs.', schema: 'OpenRlhfReply' } },
    },
    'POST /v1/adapters/nemo-gym/verify': {
      ...ADAPTER,
      summary: 'NeMo Gym resources server: verifies a row and returns it with its reward.',
      request: 'NemoGymRequest',
      replies: { 200: { description: 'The row with its reward.', schema: 'NemoGymReply' } },
    },
    'POST /v1/adapters/nemo-gym/compare': {
      ...ADAPTER,
      summary: "NeMo Gym's genrm_compare: compares the answers to one prompt in pairs.",
      request: 'GenRmRequest',
      replies: { 200: { description: 'A reward from 1 to 5 for each answer.', schema: 'GenRmReply' } },
    },
  },
  requests: {
    SlimeRequest: slimeRequestSchema,
    LongTraceRlRequest: z.union([longTraceRlRequestSchema, carrRequestSchema]),
    OpenRlhfRequest: openRlhfRequestSchema,
    NemoGymRequest: nemoGymRequestSchema,
    GenRmRequest: genRmRequestSchema,
    Label: labelSchema,
  },
  replies: {
    SlimeReply: slimeReplySchema,
    LongTraceRlReply: z.union([longTraceRlReplySchema, carrAdapterReplySchema]),
    OpenRlhfReply: openRlhfReplySchema,
    NemoGymReply: nemoGymReplySchema,
    GenRmReply: genRmReplySchema,
  },
} satisfies Section;
