/** Batches: files of requests that the Worker processes in the background, in the wire shape of OpenAI's Batch API. */

import * as z from 'zod';
import { pathSegment } from '../../src/text/path-segment.ts';
import {
  type BatchReply,
  type batchListQuerySchema,
  batchListSchema,
  type batchRequestSchema,
  batchSchema,
} from '../../src/wire/batches/batch.ts';
import type { CallOptions, Connection } from './connection.ts';
import type { Reply } from './reply.ts';

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
  const path = (id: string): string => `v1/batches/${pathSegment(id)}`;
  return {
    create: (batch) => connection.post('v1/batches', { json: batch }, batchSchema, { repeats_lost: false }),
    retrieve: (id, options) => connection.get(path(id), batchSchema, options),
    list({ after, limit } = {}) {
      const query = new URLSearchParams();
      if (after !== undefined) query.set('after', after);
      if (limit !== undefined) query.set('limit', String(limit));
      return connection.get(query.size === 0 ? 'v1/batches' : `v1/batches?${query}`, batchListSchema);
    },
    cancel: (id) => connection.post(`${path(id)}/cancel`, { json: {} }, batchSchema),
    redrive: (id) => connection.post(`${path(id)}/redrive`, { json: {} }, redriveSchema),
  };
}
