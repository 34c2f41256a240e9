/** `citeward batch run`: a batch in this process, for who has no Worker. The same checks, the same lines of results. */

import { rm } from 'node:fs/promises';
import type { Flags } from '../../arguments/flags.ts';
import { checkedInput, INPUT_DETAILS, INPUT_FLAGS } from '../../batch/checked-input.ts';
import { readFinished } from '../../batch/finished-lines.ts';
import { LineFile } from '../../batch/line-file.ts';
import { localAnswers } from '../../batch/local-answers.ts';
import { RESULT_FLAGS, type ResultPaths, requireFree, resultPaths } from '../../batch/paths.ts';
import type { BatchFile } from '../../batch/prepare.ts';
import { BatchProgress } from '../../batch/progress.ts';
import { localBatchId, runLocally } from '../../batch/run-locally.ts';
import { BatchTally } from '../../batch/tally.ts';
import { withWorkspace } from '../../batch/workspace.ts';
import { type Command, EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../command.ts';
import { openInput } from '../../input/open-input.ts';
import { onInterruption } from '../../interruption.ts';
import { LEXICAL_NOTICE } from '../../local/lexical.ts';
import { countText } from '../../output/progress.ts';
import { Screen } from '../../output/screen.ts';
import { defaultRecipe, readAsked } from '../../score/asked.ts';
import { checkLocalFlags } from '../../score/service.ts';

export const runCommand: Command = {
  name: 'batch run',
  summary: 'Score a file here, without a Worker, with the built-in judge.',
  usage: ['batch run FILE.jsonl --output SCORES.jsonl [flags]'],
  flags: [
    ...INPUT_FLAGS,
    ...RESULT_FLAGS,
    { name: 'resume', kind: 'switch', help: 'Go on after an interruption: lines that have a result are left out.' },
  ],
  details: [
    ...INPUT_DETAILS,
    'Results are written line by line, in the order of the input. The built-in judge compares words and',
    'is no model. --resume takes up only what comes from the same input and flags.',
    'Exit code: 0 every line has its result, 1 bad or failed lines, 2 wrong command line, 130 Ctrl-C.',
  ],
  run,
};

async function run(flags: Flags): Promise<number> {
  const paths = readPaths(flags);
  const asked = await readAsked(flags);
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

function readPaths(flags: Flags): ResultPaths {
  const output = flags.text('output');
  if (output === null) throw new UsageError('where do the results go? Give --output FILE');
  if (flags.isOn('resume') && flags.isOn('force'))
    throw new UsageError('--resume goes on, --force begins anew: not both');
  const paths = resultPaths(flags, output);
  if (!flags.isOn('resume') && !flags.isOn('force')) {
    requireFree(paths, '--resume goes on with it, --force replaces it.');
  }
  return paths;
}

async function scoreHere(file: BatchFile, paths: ResultPaths, resume: boolean, screen: Screen): Promise<number> {
  const tally = new BatchTally();
  const finished = new Set<string>();
  if (resume) {
    for (const path of [paths.output, paths.errors]) {
      await readFinished(path, localBatchId(file), (line) => {
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
