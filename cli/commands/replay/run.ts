/**
 * `citeward replay`: recomputes the rewards of a run under another recipe, through a Worker or from an exported file.
 */

import { writeFile } from 'node:fs/promises';
import type { ReceivedReplayLine } from '../../../clients/typescript/replay.ts';
import { pathText } from '../../../src/input-problem.ts';
import { sweepChart } from '../../../src/runs/chart.ts';
import { sampledGroups } from '../../../src/runs/group-sample.ts';
import { planReplay } from '../../../src/runs/plan-replay.ts';
import { findMissing, replayLines } from '../../../src/runs/replay-lines.ts';
import { findStepProblems } from '../../../src/runs/replay-step.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { ReplayInput, ReplayRequest } from '../../../src/wire/replay.ts';
import type { ReplayLineOf } from '../../../src/wire/replay-reply.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { messageOf } from '../../shared/input.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { countOf } from '../../shared/number-text.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Progress } from '../../shared/progress.ts';
import { groupsOfFile, recipesOfFile } from '../../shared/run-file.ts';
import { Screen } from '../../shared/screen.ts';
import { connect } from '../../shared/worker.ts';
import { flagProblem, runErrorOf } from '../../shared/worker-failures.ts';
import { readReplayRequest, replaySyntax } from './options.ts';
import { ReplayReport } from './render.ts';

export const replayCommand: Command = { ...replaySyntax, run };

async function run(flags: Flags): Promise<number> {
  const { input, request } = await readReplayRequest(flags);
  const screen = new Screen(flags);
  const picture = flags.text('picture');
  const [name, ...more] = flags.positionals;
  const [file, url] = [flags.text('file'), flags.text('url')];
  if (more.length > 0) throw new UsageError(`expected one run; also got ${more.join(' ')}`);
  if (file !== null && url !== null) throw new UsageError('--file and --url exclude each other', 'Give one of them.');
  if (file === null && (name === undefined || url === null)) {
    throw new UsageError(
      'no run',
      `A file of a run needs --file. Try: ${CITEWARD} replay RUN --url URL --set citation_weight=0.5`,
    );
  }
  if (file !== null && name !== undefined) throw new UsageError(`--file names the run; also got ${name}`);

  const progress = new Progress(screen.errors, null);
  screen.show(progress);
  const started = performance.now();
  const lines = file !== null ? await fileLines(file, request) : await remoteLines(flags, name ?? '', input, progress);
  const report = flags.isOn('json') ? null : new ReplayReport(request, screen);
  const points: ReplayLineOf<'point'>[] = [];
  const summary = await printLines(lines, report, points, screen, progress);
  progress.clear();
  await report?.end(summary, (performance.now() - started) / 1000);
  if (picture !== null) await writePicture(picture, request, points, screen);
  return isComplete(summary) ? EXIT_OK : EXIT_INCOMPLETE;
}

/** Prints the lines of a replay. @returns its summary. @throws RunError if the replay is interrupted. */
async function printLines(
  lines: AsyncIterable<ReceivedReplayLine>,
  report: ReplayReport | null,
  points: ReplayLineOf<'point'>[],
  screen: Screen,
  progress: Progress,
): Promise<ReplayLineOf<'summary'>> {
  let rollouts = 0;
  onInterruption(() => {
    const done = `interrupted after ${countOf(rollouts, 'rollout')}, without the summary`;
    screen.message(`${done}. A replay stores nothing: run the command again, or a part of it with --steps`, 'bold');
  });
  for await (const line of lines) {
    if (line.kind === 'lost') throw runErrorOf(line.failure);
    if (report === null) await screen.result(JSON.stringify(line));
    else await report.add(line);
    if (line.kind === 'error') {
      const { reason, detail, request_id: request, errors = [] } = line.problem;
      const causes = errors.map(({ path, message }) => ` ${path}: ${message}.`).join('');
      throw new RunError(plainLine(`the replay was interrupted: ${reason}: ${detail}${causes} (request ${request})`));
    }
    if (line.kind === 'summary') return line;
    if (line.kind === 'point') points.push(line);
    if (line.kind === 'group') rollouts += line.samples.length;
    if (line.kind === 'progress') rollouts = line.rollouts;
    progress.advance(rollouts, 0);
  }
  throw new RunError('the replay ended without its summary', 'Run the command again.');
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
    throw new RunError(`cannot write ${path}: ${messageOf(error)}`);
  }
  screen.message(`picture: ${path}`, 'dim');
}

/** Whether every rollout that needed new judgments got them. */
function isComplete({ measured }: ReplayLineOf<'summary'>): boolean {
  return measured === null || (measured.without_text === 0 && measured.refused === 0);
}

/** Replays in the Worker. @throws RunError if it refuses, UsageError if it refuses the recipe of the flags. */
async function remoteLines(
  flags: Flags,
  run: string,
  input: ReplayInput,
  progress: Progress,
): Promise<AsyncIterable<ReceivedReplayLine>> {
  const client = await connect(flags, (text) => progress.remark(text), new UsageError('expected --url'));
  const replay = await client.replayRun(run, input);
  if (replay.ok) return replay.body;
  const { failure } = replay;
  if (failure.kind === 'problem' && failure.status === 422 && failure.problem.errors !== undefined) {
    throw new UsageError(failure.problem.errors.map(({ path, message }) => flagProblem(path, message)).join('\n'));
  }
  throw runErrorOf(failure);
}

/** Replays in this process. @throws UsageError for a missing file or a wrong recipe, RunError for missing judgments. */
async function fileLines(path: string, request: ReplayRequest): Promise<AsyncIterable<ReceivedReplayLine>> {
  if (request.fill || request.judge !== undefined) {
    throw new UsageError('--fill and --judge need text, and a file holds none', 'Give the --url of a Worker.');
  }
  if (request.rubrics !== undefined) {
    throw new UsageError(
      '--rubrics-at and --rubrics-rules need the log of the rubrics, and a file holds none',
      'Give the --url of a Worker.',
    );
  }
  const { run, recipes } = await recipesOfFile(path);
  const planned = await planReplay(run, recipes, request);
  if (!planned.ok) {
    throw new UsageError(planned.error.map((one) => flagProblem(pathText(one.path), one.message)).join('\n'));
  }
  const { value: plan } = planned;
  const groups = () => sampledGroups(groupsOfFile(path, request.steps), request.sample);
  if (plan.mayLeaveGaps) {
    const { rollouts, open, missing } = await findMissing(groups(), plan);
    if (open > 0) {
      const names = Object.entries(missing).map(([name, count]) => `${name} in ${count}`);
      throw new RunError(
        `the recipe needs judgments that the run does not have: ${names.join(', ')} (${open} of ${rollouts} rollouts)`,
        'A Worker that stored the text of the run can judge it: --url URL --fill',
      );
    }
  }
  const problems = await findStepProblems(groups(), plan);
  if (problems.length > 0) {
    throw new UsageError(problems.map((one) => flagProblem(pathText(one.path), one.message)).join('\n'));
  }
  return replayLines(groups(), plan);
}
