/** The batch's own row: what its object knows beside the tasks. Read back through a schema, as older code may have written it. */
import * as z from 'zod';
import { BATCH_ENDPOINTS, BATCH_STATUSES, type BatchStatus, batchErrorSchema } from '../../src/wire/batches/batch.ts';
import { BATCH_MESSAGE_VERSION } from './batch-messages.ts';

const newBatchSchema = z.object({
  v: z.literal(BATCH_MESSAGE_VERSION),
  id: z.string(),
  endpoint: z.enum(BATCH_ENDPOINTS),
  input_file_id: z.string(),
  completion_window: z.string(),
  metadata: z.record(z.string(), z.string()).nullable(),
  webhook: z.string().nullable(),
  created_at: z.int(),
  expires_at: z.int(),
  output_file_id: z.string(),
  error_file_id: z.string(),
});

const recordSchema = z
  .object({
    v: z.literal(1),
    batch: newBatchSchema.readonly(),
    status: z.enum(BATCH_STATUSES),
    /** When each status was reached, in milliseconds since 1970. */
    times: z.partialRecord(z.enum(BATCH_STATUSES), z.int()),
    errors: z.array(batchErrorSchema.readonly()).readonly(),
    error_count: z.int(),
    /** Requests of the input. */
    total: z.int(),
    /** Which files there are; `null` before the end. */
    files: z.object({ output: z.boolean(), error: z.boolean() }).nullable(),
    /** Why no chunk is begun any more. More than one may hold. */
    ended_by: z.array(z.enum(['expiry', 'cancellation', 'input_gone'])).readonly(),
    /** Whether the batch's webhook endpoint has been told of the end; true where there is none. */
    announced: z.boolean(),
    /** Whether the results of the chunks have been removed. */
    cleared: z.boolean(),
  })
  .readonly();

export type BatchRecord = z.infer<typeof recordSchema>;
export type EarlyEnd = BatchRecord['ended_by'][number];

/** @throws Error for a row that this code does not know. */
export function readRecord(text: string): BatchRecord {
  const parsed = recordSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error('readRecord: a batch of another form');
  return parsed.data;
}

/** The status that the finaliser's end leads to. */
export function endOf({ ended_by }: BatchRecord): BatchStatus {
  if (ended_by.includes('cancellation')) return 'cancelled';
  if (ended_by.includes('input_gone')) return 'failed';
  return ended_by.includes('expiry') ? 'expired' : 'completed';
}

/** When a batch that is over came to its end; `null` = it is not. */
export function endedAt({ status, times }: BatchRecord): number | null {
  switch (status) {
    case 'failed':
    case 'completed':
    case 'expired':
    case 'cancelled':
      return times[status] ?? 0;
    case 'validating':
    case 'in_progress':
    case 'finalizing':
    case 'cancelling':
      return null;
  }
}
