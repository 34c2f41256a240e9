/** `citeward replay`: what the rewards of a run would have been under another recipe, without asking a judge again. */
/** Where the lines of a replay come from: a Worker that has the run, or a file with it, replayed here. */

import { writeFile } from 'node:fs/promises';
import type { ReceivedReplayLine } from '../../../clients/typescript/replay.ts';
import { pathText } from '../../../src/input-problem.ts';
import { sweepChart } from '../../../src/runs/chart.ts';
import { planReplay } from '../../../src/runs/plan-replay.ts';
import { findMissing, replayLines } from '../../../src/runs/replay-lines.ts';
import type { ReplayInput, ReplayLineOf, ReplayRequest } from '../../../src/wire/replay.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { Progress } from '../../shared/progress.ts';
import { Screen } from '../../shared/screen.ts';
import { connect } from '../../shared/worker.ts';
import { flagProblem, runErrorOf } from '../../shared/worker-failures.ts';
import { readReplayRequest, replaySyntax } from './options.ts';
import { ReplayReport } from './render.ts';
import { groupsOfFile, recipesOfFile } from './run-file.ts';

export const replayCommand: Command = { ...replaySyntax, run };

async function run(flags: Flags): Promise<number> {
  const { input, request } = await readReplayRequest(flags);
  const screen = new Screen(flags.isOn('no-color'));
  const picture = flags.text('picture');
  const [name, ...more] = flags.positionals;
  const [file, url] = [flags.text('file'), flags.text('url')];
  if (more.length > 0) throw new UsageError(`one run at a time; also got ${more.join(' ')}`);
  if (file !== null && url !== null) throw new UsageError('--file and --url: give one of them');
  if (file === null && (name === undefined || url === null)) {
    throw new UsageError('no run', 'Try: citeward replay RUN --url URL, or citeward replay --file RUN.jsonl');
  }
  if (file !== null && name !== undefined) throw new UsageError(`--file holds its run; also got ${name}`);

  const progress = new Progress(process.stderr, null);
  screen.show(progress);
  const started = performance.now();
  const lines =
    file !== null
      ? await fileLines(file, request)
      : await remoteLines(url ?? '', flags.text('key'), name ?? '', input, (why) => progress.remark(why));
  const report = flags.isOn('json') ? null : new ReplayReport(request, screen);
  const points: ReplayLineOf<'point'>[] = [];
  const summary = await follow(lines, report, points, screen, progress);
  progress.clear();
  await report?.end(summary, (performance.now() - started) / 1000);
  if (picture !== null) await writePicture(picture, request, points, screen);
  return isWhole(summary) ? EXIT_OK : EXIT_INCOMPLETE;
}

/** Shows lines as they come. @throws RunError where the replay breaks off. */
async function follow(
  lines: AsyncIterable<ReceivedReplayLine>,
  report: ReplayReport | null,
  points: ReplayLineOf<'point'>[],
  screen: Screen,
  progress: Progress,
): Promise<ReplayLineOf<'summary'>> {
  let rollouts = 0;
  for await (const line of lines) {
    if (line.kind === 'lost') throw runErrorOf(line.failure);
    if (report === null) await screen.result(JSON.stringify(line));
    else await report.add(line);
    if (line.kind === 'error') {
      const { reason, detail, request_id: request } = line.problem;
      throw new RunError(`the replay broke off: ${reason}: ${detail} (request ${request})`);
    }
    if (line.kind === 'summary') return line;
    if (line.kind === 'point') points.push(line);
    if (line.kind === 'group') rollouts += line.samples.length;
    if (line.kind === 'progress') rollouts = line.rollouts;
    progress.advance(rollouts, 0);
  }
  throw new RunError('the replay ended before its last line');
}

async function writePicture(
  path: string,
  { sweep }: ReplayRequest,
  points: readonly ReplayLineOf<'point'>[],
  screen: Screen,
): Promise<void> {
  const svg = sweepChart(
    sweep?.field ?? '',
    points.map(({ value, kind: _kind, ...figures }) => ({ value, figures })),
  );
  try {
    await writeFile(path, `${svg}\n`);
  } catch (error) {
    throw new RunError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  screen.message(`picture: ${path}`, 'dim');
}

/** Whether every rollout that should have been measured was. */
function isWhole({ measured }: ReplayLineOf<'summary'>): boolean {
  return measured === null || (measured.without_text === 0 && measured.refused === 0);
}

/** @throws RunError where the Worker refuses, UsageError where it refuses the recipe of the flags. */
async function remoteLines(
  url: string,
  key: string | null,
  run: string,
  input: ReplayInput,
  onRetry: (why: string) => void,
): Promise<AsyncIterable<ReceivedReplayLine>> {
  const client = await connect(url, key, ({ why, wait_ms }) => {
    onRetry(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`);
  });
  const replay = await client.replayRun(run, input);
  if (replay.ok) return replay.body;
  const { failure } = replay;
  if (failure.kind === 'problem' && failure.status === 422 && failure.problem.errors !== undefined) {
    throw new UsageError(failure.problem.errors.map(({ path, message }) => flagProblem(path, message)).join('\n'));
  }
  throw runErrorOf(failure);
}

/** @throws UsageError for a file that is not there or a recipe that is wrong, RunError where the replay cannot be whole. */
async function fileLines(path: string, request: ReplayRequest): Promise<AsyncIterable<ReceivedReplayLine>> {
  if (request.fill || request.judge !== undefined) {
    throw new UsageError('--fill and --judge: a file holds no text to be judged; give the --url of a Worker');
  }
  const { run, recipes } = await recipesOfFile(path);
  const planned = await planReplay(run, recipes, request);
  if (!planned.ok) {
    throw new UsageError(planned.problems.map((one) => flagProblem(pathText(one.path), one.message)).join('\n'));
  }
  const { plan } = planned;
  const groups = () => groupsOfFile(path, request.steps);
  if (plan.mayLeaveGaps) {
    const { rollouts, open, missing } = await findMissing(groups(), plan);
    if (open > 0) {
      const names = Object.entries(missing).map(([name, count]) => `${name} in ${count}`);
      throw new RunError(
        `the recipe reads what nobody observed: ${names.join(', ')} (${open} of ${rollouts} rollouts)`,
        'A Worker that kept the text of the run can judge it: --url URL --fill',
      );
    }
  }
  return replayLines(groups(), plan);
}
