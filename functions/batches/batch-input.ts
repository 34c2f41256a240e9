/** Reads the input file of a batch: its lines as they stream in, and their validation before anything is scored. */
import { MAX_BATCH_LINE_BYTES } from '../../src/limits.ts';
import { type ByteLine, LineSplitter } from '../../src/wire/batches/byte-lines.ts';
import { BatchPlanner, type ChunkLimits } from '../../src/wire/batches/chunk-plan.ts';
import type { FileStore } from '../storage/files.ts';
import type { NewBatch, TaskReport } from './batch-messages.ts';

/** Validates the whole file in one streamed pass. Reports the chunks, or the errors by line. */
export async function validateInput(batch: NewBatch, files: FileStore, limits: ChunkLimits): Promise<TaskReport> {
  const file = await files.open(batch.input_file_id);
  if (file === null) {
    const message = 'The input file was deleted; upload it again and create a new batch.';
    const error = { code: 'file_not_found', message, param: 'input_file_id', line: null } as const;
    return { kind: 'invalid', errors: [error], error_count: 1 };
  }
  const planner = new BatchPlanner(batch.endpoint, limits);
  for await (const line of inputLines(file.body)) planner.add(line);
  const plan = planner.finish();
  return plan.ok ? { kind: 'planned', ...plan.value } : { kind: 'invalid', ...plan.error };
}

/**
 * Yields the lines of a stored file.
 * @param from number and byte offset of the first line, if the stream starts inside the file.
 */
export async function* inputLines(
  body: ReadableStream<Uint8Array>,
  from: { readonly number: number; readonly start: number } = { number: 1, start: 0 },
): AsyncGenerator<ByteLine> {
  const splitter = new LineSplitter(MAX_BATCH_LINE_BYTES, from);
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    yield* splitter.push(value);
  }
  yield* splitter.finish();
}
