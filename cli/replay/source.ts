/** Where the lines of a replay come from: a Worker that has the run, or a file with it, replayed here. */
import type { ReceivedReplayLine } from '../../clients/typescript/replay.ts';
import { pathText } from '../../src/input-problem.ts';
import { planReplay } from '../../src/runs/plan-replay.ts';
import { findMissing, replayLines } from '../../src/runs/replay-lines.ts';
import type { ReplayInput, ReplayRequest } from '../../src/wire/replay.ts';
import { RunError, UsageError } from '../command.ts';
import { connect } from '../remote/connect.ts';
import { flagProblem, runErrorOf } from '../remote/failures.ts';
import { groupsOfFile, recipesOfFile } from './run-file.ts';

/** @throws RunError where the Worker refuses, UsageError where it refuses the recipe of the flags. */
export async function remoteLines(
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
export async function fileLines(path: string, request: ReplayRequest): Promise<AsyncIterable<ReceivedReplayLine>> {
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
