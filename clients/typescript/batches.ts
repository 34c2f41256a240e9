/** Batches: many requests in one file, scored while nobody waits, in OpenAI's Batch wire shape. */
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

export type BatchInput = z.input<typeof batchRequestSchema>;
export type BatchPage = z.infer<typeof batchListSchema>;

const redriveSchema = z.strictObject({ redriven: z.int().min(0), batch: batchSchema });

export type BatchesClient = {
  /**
   * Not repeated after a lost reply, as a second batch would cost as much again: after `unreachable`, look whether `list`
   * has it.
   */
  create(batch: BatchInput): Promise<Reply<BatchReply>>;
  retrieve(id: string, options?: CallOptions): Promise<Reply<BatchReply>>;
  /** The newest first. @param query `after` is the last id of the page before; `limit` at most 100. */
  list(query?: Partial<z.infer<typeof batchListQuerySchema>>): Promise<Reply<BatchPage>>;
  /** What is scored by then is kept. A batch that is over is a problem `batch_is_over`. */
  cancel(id: string): Promise<Reply<BatchReply>>;
  /** Tries the dead letters anew; how many chunks they are. */
  redrive(id: string): Promise<Reply<z.infer<typeof redriveSchema>>>;
};

export function createBatches(connection: Connection): BatchesClient {
  const path = (id: string): string => `v1/batches/${encodeURIComponent(id)}`;
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
