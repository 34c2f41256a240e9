/**
 * What an interrupted run left: the results that are there, and where the last whole one ends. A line that was cut off is
 * taken away, to be made again.
 */
import { createReadStream } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import { LineSplitter } from '../../src/wire/batches/byte-lines.ts';
import { requestId } from '../../src/wire/batches/result-line.ts';
import { RunError } from '../command.ts';
import { MAX_RESULT_LINE_BYTES, type ResultLine, readResultLine } from './result-lines.ts';

/**
 * Reads a file of results, if it is there, and cuts it after its last whole line.
 * @param batch the batch that they have to belong to.
 * @throws RunError if it holds anything else: then it is not touched.
 */
export async function readFinished(path: string, batch: string, onLine: (line: ResultLine) => void): Promise<void> {
  const bytes = await sizeOf(path);
  if (bytes === null) return;
  const splitter = new LineSplitter(MAX_RESULT_LINE_BYTES);
  let whole = 0;
  for await (const chunk of createReadStream(path)) {
    for (const { number, next, bytes: content } of splitter.push(chunk)) {
      onLine(resultOf(content, path, number, batch));
      whole = next;
    }
  }
  if (whole < bytes) await truncate(path, whole);
}

const LINE_NUMBER = /_(\d{1,9})$/;

function resultOf(content: Uint8Array | null, path: string, number: number, batch: string): ResultLine {
  const result = readResultLine(content);
  if (result === null) throw new RunError(`${path} line ${number}: no line of a batch's results; nothing was changed`);
  const line = LINE_NUMBER.exec(result.id)?.[1];
  if (line !== undefined && result.id === requestId(batch, Number(line))) return result;
  throw new RunError(
    `${path} line ${number} is of another input, or was made with other flags; nothing was changed`,
    'Give other names with --output and --errors, or --force to begin anew.',
  );
}

/** `null` = it is not there. */
async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new RunError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
