/** Batches: files of requests that the Worker processes in the background, in the wire shape of OpenAI's Batch API. */

import * as z from 'zod';
import {
  type BatchReply,
  type batchListQuerySchema,
  batchListSchema,
  type batchRequestSchema,
  batchSchema,
} from '../../src/wire/batches/batch.ts';
import type { CallOptions, Connection } from './connection.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';

/** The request that creates a batch. */
export type BatchInput = z.input<typeof batchRequestSchema>;
/** A page of batches. */
export type BatchPage = z.infer<typeof batchListSchema>;

const redriveSchema = z.strictObject({ redriven: z.int().min(0), batch: batchSchema });

/** Creates, watches, cancels and repairs batches. */
export type BatchesClient = {
  /**
   * Creates a batch. Not retried after a lost reply, because a second batch would cost the same again: after
   * `unreachable`, check `list` for the batch.
   */
  create(batch: BatchInput): Promise<Reply<BatchReply>>;
  retrieve(id: string, options?: CallOptions): Promise<Reply<BatchReply>>;
  /** Lists batches, newest first. @param query `after`: last id of the previous page; `limit`: at most 100. */
  list(query?: Partial<z.infer<typeof batchListQuerySchema>>): Promise<Reply<BatchPage>>;
  /** Cancels a batch and keeps its finished lines. A finished batch gives the problem `batch_is_over`. */
  cancel(id: string): Promise<Reply<BatchReply>>;
  /** Retries the dead letters of a batch and returns the number of their chunks. */
  redrive(id: string): Promise<Reply<z.infer<typeof redriveSchema>>>;
};

export function createBatches(connection: Connection): BatchesClient {
  return {
    create: (batch) =>
      connection.post(routePath('POST /v1/batches', {}), { json: batch }, batchSchema, { repeats_lost: false }),
    retrieve: (id, options) => connection.get(routePath('GET /v1/batches/{id}', { id }), batchSchema, options),
    list: ({ after, limit } = {}) =>
      connection.get(routePath('GET /v1/batches', {}, { after, limit }), batchListSchema),
    cancel: (id) => connection.post(routePath('POST /v1/batches/{id}/cancel', { id }), { json: {} }, batchSchema),
    redrive: (id) => connection.post(routePath('POST /v1/batches/{id}/redrive', { id }), { json: {} }, redriveSchema),
  };
}
