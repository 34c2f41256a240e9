/**
 * Exports judgments from a Worker as the lines of one file. The keys are requested in parts, and the last line of the
 * file counts all judgments. The key of each record must follow from its content. A reply that breaks off ends the
 * export without the last line, so that an incomplete file is recognised.
 */
import { reasonOf } from '../../../clients/typescript/transport.ts';
import { readLines } from '../../../src/judgments/jsonl.ts';
import { type ReadRecordLine, readRecordLine, writeRecordLine } from '../../../src/judgments/record-file.ts';
import { MAX_IMPORT_LINE_BYTES } from '../../../src/limits.ts';
import { RunError } from '../../shared/exit.ts';
import { chunksOf } from '../../shared/input.ts';
import { unreachableText } from '../../shared/worker-failures.ts';
import { type JudgmentEndpoints, refusedByWorker } from './endpoints.ts';

/** Number of keys in one request; the Worker accepts 50,000. */
const KEYS_PER_REQUEST = 5_000;

type ExportCounts = { readonly judgments: number; readonly missing: number };

/**
 * Writes the judgments in the order of the keys.
 * @throws RunError if the Worker refuses, or if its reply breaks off.
 */
export async function exportJudgments(
  endpoints: JudgmentEndpoints,
  keys: AsyncIterable<string>,
  write: (line: string) => Promise<void>,
): Promise<ExportCounts> {
  const counts = { judgments: 0, missing: 0 };
  const part: string[] = [];
  const flush = async (): Promise<void> => {
    if (part.length === 0) return;
    const { judgments, missing } = await exportPart(endpoints, part, write);
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
  endpoints: JudgmentEndpoints,
  keys: readonly string[],
  write: (line: string) => Promise<void>,
): Promise<ExportCounts> {
  const counts = { judgments: 0, missing: 0 };
  for await (const read of linesOfReply(endpoints, keys)) {
    if (!read.ok) throw new RunError(`the Worker sent a line that is not a judgment: ${read.error.detail}`);
    const { value: line } = read;
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
        throw new RunError('the Worker announced another number of judgments than it sent');
    }
  }
  throw new RunError('the export was interrupted', 'The printed file has no end line; run the command again.');
}

async function* linesOfReply(endpoints: JudgmentEndpoints, keys: readonly string[]): AsyncGenerator<ReadRecordLine> {
  const response = await requested(endpoints, keys);
  if (response.status !== 200) throw refusedByWorker(response.status, await jsonOf(response));
  if (response.body === null) return;
  for await (const line of readLines(chunksOf(response.body, interrupted), MAX_IMPORT_LINE_BYTES)) {
    if (line.ok) yield readRecordLine(line.value);
    else throw new RunError(`the Worker sent a line that cannot be read: ${line.error}`);
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
    throw new RunError(unreachableText(reasonOf(error)));
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new RunError(unreachableText(reasonOf(error)));
  }
}

function interrupted(error: unknown): never {
  throw new RunError(`the export was interrupted: ${reasonOf(error)}`);
}
