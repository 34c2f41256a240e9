/**
 * Assembles the output file and the error file from the results of all chunks in order. Requests that were never sent get a
 * line in the error file. Idempotent: a second run writes the same bytes under the same names.
 */

import { isBlankLine } from '../../src/wire/batches/byte-lines.ts';
import { readEnvelope } from '../../src/wire/batches/request-line.ts';
import { outputLine } from '../../src/wire/batches/result-line.ts';
import type { FileStore } from '../storage/files.ts';
import type { PartWriter } from '../storage/part-writer.ts';
import { linesOf } from './batch-input.ts';
import type { ClaimedTask, FinalChunk, NewBatch, TaskReport } from './batch-messages.ts';
import type { ChunkResults } from './chunk-results.ts';

type FinaliseParts = {
  readonly files: FileStore;
  readonly results: ChunkResults;
  readonly isHeld: () => boolean;
  readonly now: () => number;
};

export async function finalise(
  { batch, chunks }: Extract<ClaimedTask, { kind: 'finalise' }>,
  parts: FinaliseParts,
): Promise<TaskReport> {
  const output = new Assembly(parts.files.writer(batch.output_file_id));
  const error = new Assembly(parts.files.writer(batch.error_file_id));
  let lost = 0;
  try {
    for (const chunk of chunks) {
      if (!parts.isHeld()) return await giveUp(output, error, 'lease_lost');
      const part =
        chunk.unsent === null
          ? await copy(batch, chunk, parts, output, error)
          : await unsent(batch, chunk, chunk.unsent, parts, error);
      if (!part.ok) return await giveUp(output, error, part.reason);
      lost += part.lost;
    }
    const files = { output: await output.close(), error: await error.close() };
    await record(batch.output_file_id, `${batch.id}_output.jsonl`, files.output, parts);
    await record(batch.error_file_id, `${batch.id}_error.jsonl`, files.error, parts);
    return { kind: 'finalised', output: files.output > 0, error: files.error > 0, lost };
  } catch (failure) {
    await giveUp(output, error, 'storage_failed');
    throw failure;
  }
}

async function giveUp(output: Assembly, error: Assembly, reason: string): Promise<TaskReport> {
  await Promise.all([output.abort(), error.abort()]);
  return { kind: 'broke', reason };
}

/** `lost` = requests without a line, because the input file was deleted. */
type Part = { readonly ok: true; readonly lost: number } | { readonly ok: false; readonly reason: string };

const WHOLE: Part = { ok: true, lost: 0 };

async function copy(
  batch: NewBatch,
  { n }: FinalChunk,
  { results }: FinaliseParts,
  output: Assembly,
  error: Assembly,
): Promise<Part> {
  const found = await results.open(batch.id, n);
  if (found === null) return { ok: false, reason: 'chunk_results_gone' };
  let read = 0;
  const reader = found.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return read === found.bytes ? WHOLE : { ok: false, reason: 'chunk_results_cut' };
    const own = value.subarray(0, Math.max(0, found.outputBytes - read));
    if (own.byteLength > 0) await output.write(own);
    if (value.byteLength > own.byteLength) await error.write(value.subarray(own.byteLength));
    read += value.byteLength;
  }
}

const encoder = new TextEncoder();

async function unsent(
  batch: NewBatch,
  chunk: FinalChunk,
  reason: 'batch_expired' | 'batch_cancelled',
  { files }: FinaliseParts,
  error: Assembly,
): Promise<Part> {
  const file = await files.open(batch.input_file_id, { offset: chunk.start, length: chunk.end - chunk.start });
  if (file === null) return { ok: true, lost: chunk.requests };
  let lines = 0;
  for await (const { bytes, number } of linesOf(file.body, { number: chunk.first_line, start: chunk.start })) {
    if (bytes === null || isBlankLine(bytes)) continue;
    const read = readEnvelope(bytes, number, batch.endpoint);
    if (!read.ok) return { ok: false, reason: 'input_file_changed' };
    const line = outputLine(batch.id, number, read.envelope.custom_id, { ok: false, unsent: reason });
    await error.write(encoder.encode(line.text));
    lines++;
  }
  return lines === chunk.requests ? WHOLE : { ok: false, reason: 'input_file_cut' };
}

async function record(id: string, filename: string, bytes: number, { files, now }: FinaliseParts): Promise<void> {
  if (bytes === 0) return;
  const created_at = Math.floor(now() / 1000);
  await files.record({ id, purpose: 'batch_output', filename, bytes, created_at, expires_at: null });
}

/** A result file while it is written. A file without lines is not created. */
class Assembly {
  readonly #writer: PartWriter;
  #bytes = 0;

  constructor(writer: PartWriter) {
    this.#writer = writer;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.byteLength;
    await this.#writer.write(bytes);
  }

  /** Completes the file. Returns its size in bytes; 0 = no file. */
  async close(): Promise<number> {
    if (this.#bytes === 0) await this.#writer.abort();
    else await this.#writer.close();
    return this.#bytes;
  }

  async abort(): Promise<void> {
    await this.#writer.abort();
  }
}
