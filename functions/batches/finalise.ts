/**
 * Assembles the output file and the error file from the results of all chunks in order, in steps (`FinalStep`): a step
 * merges the results of the next chunks, and the last one writes the files. Requests without a result get a line in the
 * error file. A step that is repeated writes the same bytes.
 */

import type { Result } from '../../src/result.ts';
import { isBlankLine } from '../../src/wire/batches/byte-lines.ts';
import { readEnvelope } from '../../src/wire/batches/request-line.ts';
import { outputLine } from '../../src/wire/batches/result-line.ts';
import type { FileStore } from '../storage/files.ts';
import type { PartWriter } from '../storage/part-writer.ts';
import { inputLines } from './batch-input.ts';
import type {
  ClaimedTask,
  FinalChunk,
  MergedResults,
  NewBatch,
  TaskFailureReason,
  TaskReport,
} from './batch-messages.ts';
import type { ChunkResults, OpenPart, ResultFile } from './chunk-results.ts';

type FinaliseParts = {
  readonly files: FileStore;
  readonly results: ChunkResults;
  readonly isHeld: () => boolean;
  readonly now: () => number;
};

/** Does one step of the assembly. */
export async function finalise(
  { batch, token, chunks, merged, last }: Extract<ClaimedTask, { kind: 'finalise' }>,
  parts: FinaliseParts,
): Promise<TaskReport> {
  const { files, results } = parts;
  const ids = { output: batch.output_file_id, error: batch.error_file_id };
  // A step that may be repeated by another consumer writes under its token, so that the two cannot mix.
  const assemblyOf = (file: ResultFile): Assembly =>
    new Assembly(last ? files.writer(ids[file]) : results.mergedWriter(batch.id, token, file));
  const output = assemblyOf('output');
  const error = assemblyOf('error');
  let lost = 0;
  try {
    if (last) {
      for (const one of merged) {
        if (!parts.isHeld()) return await giveUp(output, error, 'lease_lost');
        const problem = await copyMerged(batch, one, parts, { output, error });
        if (problem !== null) return await giveUp(output, error, problem);
      }
    }
    for (const chunk of chunks) {
      if (!parts.isHeld()) return await giveUp(output, error, 'lease_lost');
      const part = await assemble(batch, chunk, parts, { output, error });
      if (!part.ok) return await giveUp(output, error, part.error);
      lost += part.value;
    }
    const bytes = { output: await output.close(), error: await error.close() };
    if (!last) return { kind: 'merged', merged: { name: token, ...bytes }, lost };
    await record(ids.output, `${batch.id}_output.jsonl`, bytes.output, parts);
    await record(ids.error, `${batch.id}_error.jsonl`, bytes.error, parts);
    return { kind: 'finalised', output: bytes.output > 0, error: bytes.error > 0, lost };
  } catch (failure) {
    await giveUp(output, error, 'storage_failed');
    throw failure;
  }
}

/** Copies what an earlier step has merged. Returns why it could not. */
async function copyMerged(
  batch: NewBatch,
  merged: MergedResults,
  { results }: FinaliseParts,
  into: Assemblies,
): Promise<TaskFailureReason | null> {
  for (const file of ['output', 'error'] as const) {
    if (merged[file] === 0) continue;
    const object = await results.openMerged(batch.id, merged.name, file);
    if (object === null) return 'chunk_results_gone';
    let read = 0;
    for await (const bytes of object.body) {
      read += bytes.byteLength;
      await into[file].write(bytes);
    }
    if (read !== merged[file]) return 'chunk_results_cut';
  }
  return null;
}

async function giveUp(output: Assembly, error: Assembly, reason: TaskFailureReason): Promise<TaskReport> {
  await Promise.all([output.abort(), error.abort()]);
  return { kind: 'broke', reason };
}

/** The number of requests without a line, because the input file was deleted. */
type Part = Result<number, TaskFailureReason>;

const WHOLE: Part = { ok: true, value: 0 };

type Assemblies = { readonly output: Assembly; readonly error: Assembly };

/** Writes the lines of one chunk: its stored results, and an error line for each other request. */
async function assemble(batch: NewBatch, chunk: FinalChunk, parts: FinaliseParts, into: Assemblies): Promise<Part> {
  const lines: FinalLine[] = [];
  for (let number = 0; lines.length < chunk.finished; number++) {
    const part = await parts.results.open(batch.id, chunk.n, number);
    if (part === null) return { ok: false, error: 'chunk_results_gone' };
    if (part.completed + part.failed === chunk.requests) return (await copy(part, into)) ? WHOLE : CUT;
    // The lines of several rounds are sorted in memory. They fit there, because the consumer that scored the chunk held
    // them in memory, too.
    const read = await linesOfPart(part);
    if (read === null) return CUT;
    lines.push(...read);
  }
  const others = chunk.finished === chunk.requests ? [] : await unsentLines(batch, chunk, lines, parts);
  if (others === null) return { ok: false, error: 'input_file_changed' };
  lines.push(...(others === 'input_gone' ? [] : others));
  for (const { file, bytes } of lines.sort((one, other) => one.line - other.line)) await into[file].write(bytes);
  return { ok: true, value: others === 'input_gone' ? chunk.requests - chunk.finished : 0 };
}

const CUT: Part = { ok: false, error: 'chunk_results_cut' };

/** Copies a part that holds the whole chunk. Returns false if its bytes end early. */
async function copy({ body, bytes, outputBytes }: OpenPart, { output, error }: Assemblies): Promise<boolean> {
  let read = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return read === bytes;
    const own = value.subarray(0, Math.max(0, outputBytes - read));
    if (own.byteLength > 0) await output.write(own);
    if (value.byteLength > own.byteLength) await error.write(value.subarray(own.byteLength));
    read += value.byteLength;
  }
}

/** A line of a result file, with the number of its line in the input file and its line feed. */
type FinalLine = { readonly line: number; readonly file: ResultFile; readonly bytes: Uint8Array };

/** Reads the lines of a part. Returns `null` if its bytes end early. */
async function linesOfPart({ body, bytes, outputBytes, lines }: OpenPart): Promise<FinalLine[] | null> {
  const whole = new Uint8Array(await new Response(body).arrayBuffer());
  if (whole.byteLength !== bytes || lines === null) return null;
  const found: FinalLine[] = [];
  let at = 0;
  for (const file of ['output', 'error'] as const) {
    for (const line of lines[file]) {
      const end = whole.indexOf(LINE_FEED, at) + 1;
      if (end === 0) return null;
      found.push({ line, file, bytes: whole.subarray(at, end) });
      at = end;
    }
    if (file === 'output' && at !== outputBytes) return null;
  }
  return at === bytes ? found : null;
}

const LINE_FEED = 0x0a;
const encoder = new TextEncoder();

/** Makes the error lines of the requests without a result; `null` = the input file changed, `input_gone` = deleted. */
async function unsentLines(
  batch: NewBatch,
  chunk: FinalChunk,
  finished: readonly FinalLine[],
  { files }: FinaliseParts,
): Promise<FinalLine[] | 'input_gone' | null> {
  const file = await files.open(batch.input_file_id, { offset: chunk.start, length: chunk.end - chunk.start });
  if (file === null) return 'input_gone';
  const have = new Set(finished.map(({ line }) => line));
  const lines: FinalLine[] = [];
  for await (const { bytes, number } of inputLines(file.body, { number: chunk.first_line, start: chunk.start })) {
    if (bytes === null || isBlankLine(bytes) || have.has(number)) continue;
    const read = readEnvelope(bytes, number, batch.endpoint);
    if (!read.ok) return null;
    const { text } = outputLine(batch.id, number, read.value.custom_id, { ok: false, unsent: chunk.unsent });
    lines.push({ line: number, file: 'error', bytes: encoder.encode(text) });
  }
  return have.size + lines.length === chunk.requests ? lines : null;
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
