/**
 * Imports judgments into a Worker from a file of any length. The file is sent in parts, and refused lines are reported
 * by their number in the file. Importing a file again is harmless, as nothing is overwritten.
 */
import { DEFAULT_TRANSPORT, send } from '../../../clients/typescript/transport.ts';
import { readRecordLine, writeRecordLine } from '../../../src/judgments/record-file.ts';
import type { Line } from '../../../src/text/lines.ts';
import { importReportSchema } from '../../../src/wire/judgment-files.ts';
import { RunError } from '../../shared/exit.ts';
import { unreachableText } from '../../shared/worker-failures.ts';
import { type JudgmentEndpoints, refusedByWorker } from './endpoints.ts';

/** Maximum lines and UTF-16 code units of one request, far below the limits of a Worker. */
const LINES_PER_REQUEST = 2_000;

const UNITS_PER_REQUEST = 8 * 1024 * 1024;

type Refusal = { readonly line: number; readonly why: string };

type ImportCounts = {
  readonly imported: number;
  readonly already_there: number;
  readonly refused: number;
  /** Whether the last line of the file states the right counts. */
  readonly complete: boolean;
};

type Part = { readonly lines: { readonly number: number; readonly text: string }[]; units: number };

/**
 * Imports a file in parts.
 * @throws RunError if the Worker refuses a request or stops answering; the judgments imported before stay.
 */
export async function importJudgments(
  endpoints: JudgmentEndpoints,
  lines: AsyncIterable<Line>,
  onRefusal: (refusal: Refusal) => void,
  onRetry: (why: string) => void,
): Promise<ImportCounts> {
  const counts = { imported: 0, already_there: 0, refused: 0 };
  const read = { judgments: 0, missing: 0 };
  let complete = false;
  let part: Part = { lines: [], units: 0 };
  const refuse = (line: number, why: string): void => {
    counts.refused++;
    onRefusal({ line, why });
  };
  const flush = async (): Promise<void> => {
    if (part.lines.length === 0) return;
    const report = await importPart(endpoints, part, onRetry);
    counts.imported += report.imported;
    counts.already_there += report.already_there;
    counts.refused += report.refused;
    for (const { line, reason, detail } of report.refused_lines) {
      const number = part.lines[line - 1]?.number;
      if (number === undefined) throw new RunError(`the Worker refused line ${line} of a part that does not have it`);
      onRefusal({ line: number, why: `${reason}: ${detail}` });
    }
    part = { lines: [], units: 0 };
  };

  for await (const { number, content } of lines) {
    complete = false;
    if (!content.ok) {
      refuse(number, content.error === 'not_utf8' ? 'not UTF-8' : 'too long');
      continue;
    }
    const record = readRecordLine(content.value);
    if (!record.ok) {
      refuse(number, `${record.error.problem}: ${record.error.detail}`);
      continue;
    }
    const { value: line } = record;
    switch (line.kind) {
      case 'missing':
        read.missing++;
        break;
      case 'end':
        complete = line.judgments === read.judgments && line.missing === read.missing;
        break;
      case 'judgment':
        read.judgments++;
        part.lines.push({ number, text: content.value });
        part.units += content.value.length;
        if (part.lines.length >= LINES_PER_REQUEST || part.units >= UNITS_PER_REQUEST) await flush();
        break;
    }
  }
  await flush();
  return { ...counts, complete };
}

async function importPart(
  { import: url, headers }: JudgmentEndpoints,
  { lines }: Part,
  onRetry: (why: string) => void,
) {
  const end = writeRecordLine({ kind: 'end', judgments: lines.length, missing: 0 });
  const body = `${lines.map(({ text }) => `${text}\n`).join('')}${end}`;
  const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/jsonl' }, body };
  const answer = await send(url, init, { ...DEFAULT_TRANSPORT, onRetry: ({ why }) => onRetry(why) });
  if (answer.kind === 'unreachable') throw new RunError(unreachableText(answer.why));
  if (answer.status !== 200) throw refusedByWorker(answer.status, answer.body);
  const report = importReportSchema.safeParse(answer.body);
  if (!report.success) throw new RunError('the Worker gave an unexpected reply: 200 without a report of the import');
  return report.data;
}
