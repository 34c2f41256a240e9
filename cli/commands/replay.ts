/** `citeward replay`: what the rewards of a run would have been under another recipe, without asking a judge again. */
import { writeFile } from 'node:fs/promises';
import type { ReceivedReplayLine } from '../../clients/typescript/replay.ts';
import { sweepChart } from '../../src/runs/chart.ts';
import type { ReplayLineOf, ReplayRequest } from '../../src/wire/replay.ts';
import type { Flags } from '../arguments/flags.ts';
import { type Command, EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../command.ts';
import { Progress } from '../output/progress.ts';
import { Screen } from '../output/screen.ts';
import { runErrorOf } from '../remote/failures.ts';
import { REPLAY_FLAGS, readReplay } from '../replay/asked.ts';
import { ReplayReport } from '../replay/report.ts';
import { fileLines, remoteLines } from '../replay/source.ts';

export const replayCommand: Command = {
  name: 'replay',
  summary: 'What the rewards of a run would have been under another recipe.',
  usage: ['replay RUN --url URL [flags]', 'replay --file RUN.jsonl [flags]'],
  flags: [
    ...REPLAY_FLAGS,
    { name: 'json', kind: 'switch', help: 'The lines of the reply as they come, instead of tables.' },
    { name: 'file', kind: 'text', value: 'FILE', help: 'A run as it was exported, instead of one of a Worker.' },
    { name: 'url', kind: 'text', value: 'URL', help: 'The Worker that has the run.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
  ],
  details: [
    'Weights, gates and penalties replay from what was observed: no text is read, no judge is called.',
    'A field that decides what is asked needs new judgments: without --fill it is refused with what is missing.',
    'std over n - 1; flipped = share of advantages that change sign; tau = Kendall within groups, against the',
    'recorded rewards; degenerate = groups without a signal, in brackets those that became or ceased to be so.',
    'Exit code: 0 done, 1 refused, broken off or not all rollouts could be measured, 2 wrong command line.',
  ],
  run,
};

async function run(flags: Flags): Promise<number> {
  const { input, request } = await readReplay(flags);
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
