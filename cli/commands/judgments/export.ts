/**
 * Judgments out of a Worker, as the lines of one file. Keys are asked for in parts; the file has one end line that counts
 * all of them. Each record is checked to hash to its key, and a reply that breaks off ends the run: no file looks whole
 * that is not.
 */

import { reasonOf } from '../../../clients/typescript/transport.ts';
import { readLines } from '../../../src/judgments/jsonl.ts';
import { type ReadRecordLine, readRecordLine, writeRecordLine } from '../../../src/judgments/record-file.ts';
import { MAX_IMPORT_LINE_BYTES } from '../../../src/limits.ts';
import { RunError } from '../../shared/exit.ts';
import { type JudgmentEndpoints, refusedByWorker } from './endpoints.ts';

/** Keys of one request; the Worker takes 50,000. */
const KEYS_PER_REQUEST = 5_000;

type ExportCounts = { readonly judgments: number; readonly missing: number };

/** Writes the judgments of the keys, in their order. @throws RunError if the JudgmentEndpoints refuses or breaks off. */
export async function exportJudgments(
  worker: JudgmentEndpoints,
  keys: AsyncIterable<string>,
  write: (line: string) => Promise<void>,
): Promise<ExportCounts> {
  const counts = { judgments: 0, missing: 0 };
  const part: string[] = [];
  const flush = async (): Promise<void> => {
    if (part.length === 0) return;
    const { judgments, missing } = await exportPart(worker, part, write);
    counts.judgments += judgments;
    counts.missing += missing;
    part.length = 0;
  };
  for await (const key of keys) {
    part.push(key);
    if (part.length === KEYS_PER_REQUEST) await flush();
  }
  await flush();
  await write(writeRecordLine({ kind: 'end', ...counts }));
  return counts;
}

async function exportPart(
  worker: JudgmentEndpoints,
  keys: readonly string[],
  write: (line: string) => Promise<void>,
): Promise<ExportCounts> {
  const counts = { judgments: 0, missing: 0 };
  for await (const read of linesOfReply(worker, keys)) {
    if (!read.ok) throw new RunError(`the JudgmentEndpoints sent a line that is no judgment: ${read.detail}`);
    const { line } = read;
    switch (line.kind) {
      case 'judgment':
        counts.judgments++;
        await write(writeRecordLine(line));
        break;
      case 'missing':
        counts.missing++;
        await write(writeRecordLine(line));
        break;
      case 'end':
        if (line.judgments === counts.judgments && line.missing === counts.missing) return counts;
        throw new RunError('the JudgmentEndpoints counted other lines than it sent');
    }
  }
  throw new RunError('the export broke off', 'What is printed so far has no end line; run it again.');
}

async function* linesOfReply(worker: JudgmentEndpoints, keys: readonly string[]): AsyncGenerator<ReadRecordLine> {
  const response = await requested(worker, keys);
  if (response.status !== 200) throw refusedByWorker(response.status, await jsonOf(response));
  if (response.body === null) return;
  for await (const line of readLines(chunksOf(response.body), MAX_IMPORT_LINE_BYTES)) {
    if (line.ok) yield await readRecordLine(line.text);
    else throw new RunError(`the JudgmentEndpoints sent a line that cannot be read: ${line.problem}`);
  }
}

async function requested({ export: url, headers }: JudgmentEndpoints, keys: readonly string[]): Promise<Response> {
  const init = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    redirect: 'manual',
  } as const;
  try {
    return await fetch(url, { ...init, body: JSON.stringify({ keys }) });
  } catch (error) {
    throw new RunError(`the JudgmentEndpoints stopped answering: ${reasonOf(error)}`);
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new RunError(`the JudgmentEndpoints stopped answering: ${reasonOf(error)}`);
  }
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw new RunError(`the export broke off: ${reasonOf(error)}`);
    });
    if (done) return;
    yield value;
  }
}
