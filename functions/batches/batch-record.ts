/**
 * The record of a batch in its object's SQLite, and the reply that the wire shows of it. Another version of the Worker
 * may have written the stored record, so a schema checks it. Fields that a later version added are kept.
 */
import * as z from 'zod';
import { DEFAULT_PROJECT, SCOPES } from '../../src/wire/api-keys.ts';
import {
  BATCH_ENDPOINTS,
  BATCH_STATUSES,
  type BatchReply,
  type BatchStatus,
  batchErrorSchema,
} from '../../src/wire/batches/batch.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import { NEW_BATCH_VERSION } from './batch-messages.ts';
import type { TaskCounts } from './task-table.ts';

const newBatchSchema = z.looseObject({
  v: z.union([z.literal(1), z.literal(NEW_BATCH_VERSION)]),
  id: z.string(),
  project: z.string().default(DEFAULT_PROJECT),
  endpoint: z.enum(BATCH_ENDPOINTS),
  // Version 1 stored no scopes. Such a batch gets all of them, so that none of its lines is refused.
  scopes: z.array(z.enum(SCOPES)).readonly().default(SCOPES),
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
  .looseObject({
    v: z.literal(1),
    batch: newBatchSchema.readonly(),
    status: z.enum(BATCH_STATUSES),
    /** When each status was reached, in milliseconds since 1970. */
    times: z.partialRecord(z.enum(BATCH_STATUSES), z.int()),
    errors: z.array(batchErrorSchema.readonly()).readonly(),
    error_count: z.int(),
    /** Requests of the input. */
    total: z.int(),
    /** Which result files exist; `null` before the end. */
    files: z.looseObject({ output: z.boolean(), error: z.boolean() }).nullable(),
    /** Why no further chunk starts; several reasons may apply. */
    ended_by: z.array(z.enum(['expiry', 'cancellation', 'input_gone'])).readonly(),
    /** Whether the end was announced to the batch's webhook endpoint; true if it has none. */
    announced: z.boolean(),
    /** Whether the stored results of the chunks were deleted. */
    cleared: z.boolean(),
    /** How far the steps of the finaliser have come; absent = no step has ended. */
    assembly: z
      .looseObject({
        /** Chunks that are merged: those before this position. */
        next: z.int(),
        merged: z.array(z.looseObject({ name: z.string(), output: z.int(), error: z.int() }).readonly()).readonly(),
        /** Requests without a line, because the input file was deleted. */
        lost: z.int(),
      })
      .readonly()
      .exactOptional(),
  })
  .readonly();

export type BatchRecord = z.infer<typeof recordSchema>;
export type EarlyEnd = BatchRecord['ended_by'][number];

/** Parses a stored record. @throws UnknownForm */
export function readBatchRecord(text: string): BatchRecord {
  const parsed = recordSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new UnknownForm('batch');
  return parsed.data;
}

/** Returns the status of a batch after its finaliser has ended. */
export function endOf({ ended_by }: BatchRecord): BatchStatus {
  if (ended_by.includes('cancellation')) return 'cancelled';
  if (ended_by.includes('input_gone')) return 'failed';
  return ended_by.includes('expiry') ? 'expired' : 'completed';
}

/** Returns the end of a batch in milliseconds since 1970, or `null` while it runs. */
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

/** Builds the reply. @param now milliseconds since 1970. */
export function batchReply(
  { batch, status, times, errors, error_count, total, files }: BatchRecord,
  counts: TaskCounts,
  dead_letters: BatchReply['dead_letters'],
  now: number,
): BatchReply {
  const at = (reached: BatchStatus): number | null => seconds(times[reached]);
  const unlisted = error_count - errors.length;
  const more = { code: 'more_errors', message: `${unlisted} more lines are wrong.`, param: null, line: null } as const;
  const over = files !== null;
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: error_count === 0 ? null : { object: 'list', data: [...errors, ...(unlisted > 0 ? [more] : [])] },
    input_file_id: batch.input_file_id,
    completion_window: batch.completion_window,
    status,
    output_file_id: files?.output === true ? batch.output_file_id : null,
    error_file_id: files?.error === true ? batch.error_file_id : null,
    created_at: Math.floor(batch.created_at / 1000),
    in_progress_at: at('in_progress'),
    expires_at: Math.floor(batch.expires_at / 1000),
    finalizing_at: at('finalizing'),
    completed_at: at('completed'),
    failed_at: at('failed'),
    expired_at: at('expired'),
    cancelling_at: at('cancelling'),
    cancelled_at: at('cancelled'),
    request_counts: { total, completed: counts.completed, failed: counts.failed + (over ? counts.skipped : 0) },
    metadata: batch.metadata === null ? null : { ...batch.metadata },
    progress: {
      chunks: { total: counts.chunks, done: counts.done, waiting: counts.waiting, dead: counts.dead },
      ...paceOf(times, total, counts, now),
    },
    dead_letters,
  };
}

function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.floor(ms / 1000);
}

/** Returns the mean rate since scoring began and the remaining time that it implies. */
function paceOf(
  times: BatchRecord['times'],
  total: number,
  { completed, failed }: TaskCounts,
  now: number,
): Pick<BatchReply['progress'], 'lines_per_second' | 'eta_s'> {
  const began = times.in_progress;
  const done = completed + failed;
  if (began === undefined || done === 0) return { lines_per_second: null, eta_s: null };
  const ended = times.finalizing ?? now;
  const rate = done / Math.max(0.001, (ended - began) / 1000);
  return {
    lines_per_second: Math.round(rate * 100) / 100,
    eta_s: times.finalizing === undefined ? Math.ceil((total - done) / rate) : null,
  };
}
