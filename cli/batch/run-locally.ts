/**
 * A batch in this process: requests in, results out in their order, one at a time, as the work is computing. Ids follow from
 * the input and the line, so that a run that goes on after an interruption knows its own results.
 */
import { createReadStream } from 'node:fs';
import { MAX_BATCH_LINE_BYTES } from '../../src/limits.ts';
import { type ByteLine, isBlank, LineSplitter } from '../../src/wire/batches/byte-lines.ts';
import { readEnvelope } from '../../src/wire/batches/request-line.ts';
import { outputLine, requestId } from '../../src/wire/batches/result-line.ts';
import { RunError } from '../command.ts';
import type { LineFile } from './line-file.ts';
import type { LocalAnswers } from './local-answers.ts';
import type { BatchFile } from './prepare.ts';
import { readResultLine } from './result-lines.ts';
import type { BatchTally } from './tally.ts';

const DIGEST_CHARS = 24;
const encoder = new TextEncoder();

/** The id of a batch that is run here: the same for the same requests on the same lines. */
export function localBatchId({ digest }: Pick<BatchFile, 'digest'>): string {
  return `batch_local${digest.slice(0, DIGEST_CHARS)}`;
}

export type LocalRun = {
  readonly file: BatchFile;
  readonly answers: LocalAnswers;
  readonly output: LineFile;
  readonly errors: LineFile;
  /** custom_ids whose results are there already. */
  readonly finished: ReadonlySet<string>;
  readonly tally: BatchTally;
  /** Told after each line that was done here. */
  readonly onLine: () => void;
};

export async function runLocally({ file, answers, output, errors, finished, tally, onLine }: LocalRun): Promise<void> {
  const batch = localBatchId(file);
  for await (const line of linesOf(file.path)) {
    if (line.bytes === null || isBlank(line.bytes)) continue;
    const read = readEnvelope(line.bytes, line.number, file.endpoint);
    if (!read.ok) throw new RunError(`line ${line.number} has changed since the input was checked`);
    const { custom_id, body } = read.envelope;
    if (finished.has(custom_id)) continue;
    const result = await answers(file.endpoint, body, requestId(batch, line.number));
    const { file: where, text } = outputLine(batch, line.number, custom_id, result);
    const bytes = encoder.encode(text);
    await (where === 'output' ? output : errors).write(bytes);
    const written = readResultLine(bytes);
    if (written === null) throw new Error('runLocally: a result that cannot be read back');
    tally.add(written);
    onLine();
  }
}

async function* linesOf(path: string): AsyncGenerator<ByteLine> {
  const splitter = new LineSplitter(MAX_BATCH_LINE_BYTES);
  for await (const chunk of createReadStream(path)) yield* splitter.push(chunk);
  yield* splitter.finish();
}
