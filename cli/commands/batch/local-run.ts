/**
 * `citeward batch run`: scores a batch in this process, with the checks and result lines of a Worker. Result ids depend
 * only on the input, its line and the flags, so that an interrupted run recognises its results.
 */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { MemoryHost } from '../../../hosts/memory/memory-host.ts';
import { problemOf } from '../../../service/problems.ts';
import { MAX_BATCH_LINE_BYTES } from '../../../src/limits.ts';
import { type ByteLine, isBlankLine, LineSplitter } from '../../../src/wire/batches/byte-lines.ts';
import { type Envelope, readEnvelope } from '../../../src/wire/batches/request-line.ts';
import { type LineResult, outputLine, requestId } from '../../../src/wire/batches/result-line.ts';
import { checkRecipe } from '../../shared/check-recipe.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { mapInOrder } from '../../shared/in-order.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { countText } from '../../shared/number-text.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { type LocalHost, openLocalHost } from '../../shared/row-host.ts';
import { readScoringOptions } from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { type BatchFile, checkedInput, withWorkspace } from './input.ts';
import { LineFile } from './line-file.ts';
import { localRunPaths, localRunSyntax, type ResultPaths } from './options.ts';
import { BatchProgress } from './render.ts';
import { BatchSummary, readFinishedLines, readResultLine } from './results.ts';

export const localRunCommand: Command = { ...localRunSyntax, run };

async function run(flags: Flags): Promise<number> {
  const paths = localRunPaths(flags);
  const scoring = await readScoringOptions(flags);
  await checkRecipe(scoring);
  const screen = new Screen(flags);
  let progress: BatchProgress | null = null;
  const local = await openLocalHost(flags, scoring, (text) => progress?.remark(text));
  const input = await openRows(flags, 'batch run examples/rollouts.jsonl --output scores.jsonl');
  return withWorkspace(async (directory) => {
    const file = await checkedInput(flags, input, scoring, directory, screen);
    if (file.endpoint !== '/v1/verify') for (const notice of local.judgeNotices) screen.message(notice, 'dim');
    progress = new BatchProgress(screen, 'in_progress');
    return scoreHere(file, paths, flags, local, { screen, progress });
  });
}

async function scoreHere(
  file: BatchFile,
  paths: ResultPaths,
  flags: Flags,
  { host, concurrency, judged }: LocalHost,
  { screen, progress }: { readonly screen: Screen; readonly progress: BatchProgress },
): Promise<number> {
  const summary = new BatchSummary();
  const finished = new Set<string>();
  if (flags.isOn('resume')) {
    for (const path of [paths.output, paths.errors]) {
      await readFinishedLines(path, localBatchId(file), (line) => {
        finished.add(line.custom_id);
        summary.add(line);
      });
    }
    screen.message(`${countText(finished.size)} of ${countText(file.requests)} lines have their results`, 'dim');
  } else {
    // Old files of another run would be mistaken for results of this one.
    for (const path of [paths.output, paths.errors]) await rm(path, { force: true });
  }
  const [output, errors] = [new LineFile(paths.output, 'a'), new LineFile(paths.errors, 'a')];
  const started = performance.now();
  const done = (): number => summary.done + summary.failed;
  const removeHandler = onInterruption(() => {
    const where = `interrupted after ${countText(done())} of ${countText(file.requests)} lines`;
    screen.message(`${where}. Continue with the same command and --resume`, 'bold');
  });
  const show = (): void => {
    const seconds = (performance.now() - started) / 1000;
    const rate = (done() - finished.size) / seconds;
    const left_s = rate > 0 ? (file.requests - done()) / rate : null;
    const share = { done: done(), total: file.requests, failed: summary.failed };
    progress.update('in_progress', { ...share, lines_per_second: rate, left_s });
  };
  try {
    await runLocally({ file, host, concurrency, output, errors, finished, summary, onLine: show });
  } finally {
    await output.close();
    await errors.close();
    progress.end();
    removeHandler();
  }
  screen.message(summary.text((performance.now() - started) / 1000), 'bold');
  const asked = judged();
  if (asked !== null) screen.message(asked, 'dim');
  return summary.failed === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

const DIGEST_CHARS = 24;

const encoder = new TextEncoder();

/** The id of a local batch: the same requests on the same lines have the same id. */
export function localBatchId({ digest }: Pick<BatchFile, 'digest'>): string {
  return `batch_local${digest.slice(0, DIGEST_CHARS)}`;
}

type LocalRun = {
  readonly file: BatchFile;
  readonly host: MemoryHost;
  /** Requests at the same time. Default 1. */
  readonly concurrency?: number;
  readonly output: LineFile;
  readonly errors: LineFile;
  /** custom_ids that have a result already. */
  readonly finished: ReadonlySet<string>;
  readonly summary: BatchSummary;
  /** Called after each line. */
  readonly onLine: () => void;
};

export async function runLocally({
  file,
  host,
  concurrency = 1,
  output,
  errors,
  finished,
  summary,
  onLine,
}: LocalRun): Promise<void> {
  const batch = localBatchId(file);
  const lines = mapInOrder(requestsOf(file, finished), concurrency, async ({ line, custom_id, body }) => {
    const answered = await host.answer(file.endpoint, body);
    const result: LineResult = answered.ok
      ? { ok: true, body: answered.value }
      : { ok: false, problem: problemOf(answered.error, requestId(batch, line)) };
    return outputLine(batch, line, custom_id, result);
  });
  for await (const { file: where, text } of lines) {
    const bytes = encoder.encode(text);
    await (where === 'output' ? output : errors).write(bytes);
    const written = readResultLine(bytes);
    if (written === null) throw new Error('runLocally: the result line cannot be read back');
    summary.add(written);
    onLine();
  }
}

/** The requests of the file that have no result yet. */
async function* requestsOf(
  { path, endpoint }: BatchFile,
  finished: ReadonlySet<string>,
): AsyncGenerator<Envelope & { readonly line: number }> {
  for await (const { bytes, number } of inputLines(path)) {
    if (bytes === null || isBlankLine(bytes)) continue;
    const read = readEnvelope(bytes, number, endpoint);
    if (!read.ok) throw new RunError(`line ${number} has changed since the input was checked`);
    if (!finished.has(read.value.custom_id)) yield { line: number, ...read.value };
  }
}

async function* inputLines(path: string): AsyncGenerator<ByteLine> {
  const splitter = new LineSplitter(MAX_BATCH_LINE_BYTES);
  for await (const chunk of createReadStream(path)) yield* splitter.push(chunk);
  yield* splitter.finish();
}
