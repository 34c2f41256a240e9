/** Validation of a batch's input: one streamed pass, into chunks or errors by line. */
import { BatchPlanner } from '../../src/wire/batches/chunk-plan.ts';
import type { FileStore } from '../storage/files.ts';
import type { NewBatch, TaskReport } from './batch-messages.ts';
import { linesOf } from './lines-of-file.ts';

export async function validateInput(batch: NewBatch, files: FileStore): Promise<TaskReport> {
  const file = await files.open(batch.input_file_id);
  if (file === null) {
    const message = 'The input file is no longer there.';
    const error = { code: 'file_not_found', message, param: 'input_file_id', line: null };
    return { kind: 'invalid', errors: [error], error_count: 1 };
  }
  const planner = new BatchPlanner(batch.endpoint);
  for await (const line of linesOf(file.body)) planner.add(line);
  const plan = planner.finish();
  return plan.ok
    ? { kind: 'planned', chunks: plan.chunks, total: plan.total }
    : { kind: 'invalid', errors: plan.errors, error_count: plan.error_count };
}
