/** `citeward runs export` and `citeward runs import`: the ledger of a run as a file, from one deployment into another. */
import { openAsBlob } from 'node:fs';
import { readRecordLine } from '../../../src/judgments/record-file.ts';
import { MAX_IMPORT_LINE_BYTES, MAX_RUN_IMPORT_LINE_BYTES } from '../../../src/limits.ts';
import { readRunLine } from '../../../src/runs/run-file.ts';
import type { Flags } from '../../arguments/flags.ts';
import { type Command, EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../command.ts';
import { readLines } from '../../input/lines.ts';
import { Screen } from '../../output/screen.ts';
import { runErrorOf } from '../../remote/failures.ts';
import { RUN_FLAGS, reachRuns, runIdOf } from '../../runs/worker.ts';

/** Refused lines that are named; the rest are counted. */
const MAX_REFUSALS_SHOWN = 20;

export const exportCommand: Command = {
  name: 'runs export',
  summary: 'The ledger of a run, or the judgments it rests on, as JSON lines on standard output.',
  usage: ['runs export RUN --url URL > RUN.jsonl', 'runs export RUN --judgments --url URL > JUDGMENTS.jsonl'],
  flags: [
    { name: 'judgments', kind: 'switch', help: 'The judgments, for citeward judgments import elsewhere.' },
    ...RUN_FLAGS,
  ],
  details: [
    'Neither file holds text. With both, the run can be replayed in a deployment that has no judge.',
    'Exit code: 0 whole, 1 not, 2 wrong command line.',
  ],
  run: runExport,
};

export const importCommand: Command = {
  name: 'runs import',
  summary: 'Bring the ledger of a run into a Worker. Nothing is overwritten.',
  usage: ['runs import RUN FILE.jsonl --url URL'],
  flags: RUN_FLAGS,
  details: [
    'RUN is what it will be called there. Needs a key with the scope admin.',
    'Exit code: 0 all there, 1 lines refused or the file not whole, 2 wrong command line.',
  ],
  run: runImport,
};

async function runExport(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'export');
  const screen = new Screen(flags.isOn('no-color'));
  const { runs } = await reachRuns(flags, screen);
  const isJudgments = flags.isOn('judgments');
  const opened = await (isJudgments ? runs.judgments(id) : runs.export(id));
  if (!opened.ok) throw runErrorOf(opened.failure);
  const counts = { lines: 0, missing: 0, whole: false };
  for await (const { content } of readLines(chunksOf(opened.body), LINE_BYTES)) {
    if (!content.ok) throw new RunError('the Worker gave an unexpected reply: a line that cannot be read');
    await screen.result(content.text);
    const kind = isJudgments ? await judgmentLineKind(content.text) : runLineKind(content.text);
    if (kind === 'end') counts.whole = true;
    if (kind === 'missing') counts.missing++;
    if (kind === 'rollout' || kind === 'judgment') counts.lines++;
  }
  const missing = counts.missing > 0 ? ` · ${counts.missing} not there` : '';
  screen.message(`${counts.lines} ${isJudgments ? 'judgments' : 'rollouts'}${missing}`, 'bold');
  if (!counts.whole) screen.message('the connection broke: the file is not whole', 'red');
  return counts.whole && counts.missing === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

const LINE_BYTES = Math.max(MAX_IMPORT_LINE_BYTES, MAX_RUN_IMPORT_LINE_BYTES);

async function judgmentLineKind(text: string): Promise<string | null> {
  const read = await readRecordLine(text);
  return read.ok ? read.line.kind : null;
}

function runLineKind(text: string): string | null {
  const read = readRunLine(text);
  return read.ok ? read.line.kind : null;
}

/** A connection that breaks ends the lines: the last one is missing then. */
async function* chunksOf(content: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = content.getReader();
  for (;;) {
    const read = await reader.read().catch(() => null);
    if (read === null || read.done) return;
    yield read.value;
  }
}

async function runImport(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'import');
  const [, file] = flags.positionals;
  if (file === undefined) throw new UsageError('expected: citeward runs import RUN FILE.jsonl');
  const screen = new Screen(flags.isOn('no-color'));
  const content = await openAsBlob(file).catch(() => {
    throw new UsageError(`cannot read ${file}`);
  });
  const { runs } = await reachRuns(flags, screen);
  const reply = await runs.import(id, content);
  if (!reply.ok) throw runErrorOf(reply.failure);
  const { imported, already_there, refused, refused_lines, complete } = reply.body;
  for (const { line, reason, detail } of refused_lines.slice(0, MAX_REFUSALS_SHOWN)) {
    screen.message(`line ${line}: ${reason}: ${detail}`, 'red');
  }
  const parts = [`${imported} imported`, `${already_there} already there`];
  if (refused > 0) parts.push(`${refused} refused`);
  screen.message(parts.join(' · '), 'bold');
  if (!complete)
    screen.message('the file does not end with the right count of its rollouts: cut off, or edited', 'red');
  return refused === 0 && complete ? EXIT_OK : EXIT_INCOMPLETE;
}
