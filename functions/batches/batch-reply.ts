/** A batch as the wire shows it. */
import type { BatchReply, BatchStatus } from '../../src/wire/batches/batch.ts';
import type { BatchRecord } from './batch-record.ts';
import type { TaskCounts } from './task-table.ts';

export function batchReply(
  { batch, status, times, errors, error_count, total, files }: BatchRecord,
  counts: TaskCounts,
  dead_letters: BatchReply['dead_letters'],
  now: number,
): BatchReply {
  const at = (reached: BatchStatus): number | null => seconds(times[reached]);
  const unlisted = error_count - errors.length;
  const more = { code: 'more_errors', message: `${unlisted} more lines are wrong.`, param: null, line: null };
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

/** The mean rate since scoring began, and what it means for the rest. */
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
