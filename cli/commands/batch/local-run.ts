/** `citeward batch run`: a batch in this process, for who has no Worker. The same checks, the same lines of results. */
/**
 * A batch in this process: requests in, results out in their order, one at a time, as the work is computing. Ids follow from
 * the input and the line, so that a run that goes on after an interruption knows its own results.
 */

import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { MAX_BATCH_LINE_BYTES } from '../../../src/limits.ts';
import { type ByteLine, isBlank, LineSplitter } from '../../../src/wire/batches/byte-lines.ts';
import { readEnvelope } from '../../../src/wire/batches/request-line.ts';
import { outputLine, requestId } from '../../../src/wire/batches/result-line.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { openInput } from '../../shared/input.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { checkLocalFlags } from '../../shared/local-flags.ts';
import { LEXICAL_NOTICE } from '../../shared/local-judging.ts';
import { countText } from '../../shared/number-text.ts';
import { defaultRecipe, readScoringOptions } from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { type BatchFile, checkedInput, withWorkspace } from './input.ts';
import { LineFile } from './line-file.ts';
import { type LocalAnswers, localAnswers } from './local-answers.ts';
import { localRunSyntax, type ResultPaths, readLocalPaths } from './options.ts';
import { BatchProgress } from './render.ts';
import { BatchSummary, readFinishedLines, readResultLine } from './results.ts';

export const localRunCommand: Command = { ...localRunSyntax, run };

async function run(flags: Flags): Promise<number> {
  const paths = readLocalPaths(flags);
  const asked = await readScoringOptions(flags);
  const { judge, judgments, receipt } = asked;
  await checkLocalFlags({ recipe: defaultRecipe(asked), judge, judgments, receipt });
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(flags.positionals, 'batch run');
  return withWorkspace(async (directory) => {
    const file = await checkedInput(flags, input, asked, directory, screen);
    if (file.endpoint !== '/v1/verify') screen.message(LEXICAL_NOTICE, 'dim');
    return scoreHere(file, paths, flags.isOn('resume'), screen);
  });
}

async function scoreHere(file: BatchFile, paths: ResultPaths, resume: boolean, screen: Screen): Promise<number> {
  const tally = new BatchSummary();
  const finished = new Set<string>();
  if (resume) {
    for (const path of [paths.output, paths.errors]) {
      await readFinishedLines(path, localBatchId(file), (line) => {
        finished.add(line.custom_id);
        tally.add(line);
      });
    }
    screen.message(`${countText(finished.size)} of ${countText(file.requests)} lines have their results`, 'dim');
  } else {
    // What is there of another run must not stand beside the results of this one.
    for (const path of [paths.output, paths.errors]) await rm(path, { force: true });
  }
  const [output, errors] = [new LineFile(paths.output, 'a'), new LineFile(paths.errors, 'a')];
  const progress = new BatchProgress(screen, 'in_progress');
  const started = performance.now();
  const done = (): number => tally.done + tally.failed;
  const stayed = onInterruption(() => {
    const where = `interrupted after ${countText(done())} of ${countText(file.requests)} lines`;
    screen.message(`${where}. Go on with the same command and --resume`, 'bold');
  });
  const show = (): void => {
    const seconds = (performance.now() - started) / 1000;
    const rate = (done() - finished.size) / seconds;
    const left_s = rate > 0 ? (file.requests - done()) / rate : null;
    const share = { done: done(), total: file.requests, failed: tally.failed };
    progress.update('in_progress', { ...share, lines_per_second: rate, left_s });
  };
  try {
    await runLocally({ file, answers: localAnswers(), output, errors, finished, tally, onLine: show });
  } finally {
    await output.close();
    await errors.close();
    progress.end();
    stayed();
  }
  screen.message(tally.summary((performance.now() - started) / 1000), 'bold');
  return tally.failed === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

const DIGEST_CHARS = 24;

const encoder = new TextEncoder();

/** The id of a batch that is run here: the same for the same requests on the same lines. */
export function localBatchId({ digest }: Pick<BatchFile, 'digest'>): string {
  return `batch_local${digest.slice(0, DIGEST_CHARS)}`;
}

type LocalRun = {
  readonly file: BatchFile;
  readonly answers: LocalAnswers;
  readonly output: LineFile;
  readonly errors: LineFile;
  /** custom_ids whose results are there already. */
  readonly finished: ReadonlySet<string>;
  readonly tally: BatchSummary;
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
