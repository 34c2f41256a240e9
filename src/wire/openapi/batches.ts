/** Batches in the OpenAPI document. */
import {
  batchListQuerySchema,
  batchListSchema,
  batchRedriveSchema,
  batchRequestSchema,
  batchSchema,
} from '../batches/batch.ts';
import type { Route } from './route.ts';

const COMMON = { scope: 'batch' } as const;
const PROBLEMS = [401, 403, 500, 503] as const;

export const BATCH_ROUTES: readonly Route[] = [
  {
    ...COMMON,
    method: 'post',
    path: '/v1/batches',
    summary: 'Begins a batch over an uploaded file.',
    request: 'BatchRequest',
    replies: { 200: { description: 'The batch.', schema: 'Batch' } },
    problems: [400, 404, 413, 415, 422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'get',
    path: '/v1/batches',
    summary: 'Batches, the newest first.',
    query: batchListQuerySchema,
    replies: { 200: { description: 'One page.', schema: 'BatchList' } },
    problems: [422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'get',
    path: '/v1/batches/{id}',
    summary: 'How a batch stands.',
    replies: { 200: { description: 'The batch.', schema: 'Batch' } },
    problems: [404, 422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'post',
    path: '/v1/batches/{id}/cancel',
    summary: 'Ends a batch early; what has been scored stays.',
    replies: { 200: { description: 'The batch.', schema: 'Batch' } },
    problems: [404, 409, 422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'post',
    path: '/v1/batches/{id}/redrive',
    summary: 'Tries the dead letters of a batch anew.',
    replies: { 200: { description: 'The batch.', schema: 'BatchRedrive' } },
    problems: [404, 422, ...PROBLEMS],
  },
];

export const BATCH_REQUESTS = { BatchRequest: batchRequestSchema };

export const BATCH_REPLIES = { Batch: batchSchema, BatchList: batchListSchema, BatchRedrive: batchRedriveSchema };
