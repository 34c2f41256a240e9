/** `citeward judge check`: how far a judge can be trusted. */
import { didYouMean, type Flags } from '../arguments/flags.ts';
import { type Command, EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../command.ts';
import { openInput } from '../input/open-input.ts';
import { lexicalUnderCheck } from '../judge/checked-judge.ts';
import { countText } from '../judge/figure-text.ts';
import { readingsOf } from '../judge/readings.ts';
import { type CheckReport, lanesOf } from '../judge/report.ts';
import { FAILED_ROWS_MAX, runCheck } from '../judge/run-check.ts';
import { serverUnderCheck } from '../judge/server-judge.ts';
import { printTables } from '../judge/tables.ts';
import { durationText, Progress } from '../output/progress.ts';
import { badLinesText } from '../output/reward-tally.ts';
import { Screen } from '../output/screen.ts';
import { CONCURRENCY_RANGE } from '../remote/connect.ts';

const REPLICATES_RANGE = { min: 0, max: 20 } as const;
const DEFAULT_REPLICATES = 1;
const LIMIT_RANGE = { min: 1, max: 999_999_999 } as const;
/** As functions/backends/settings.ts has it for a deployment. */
const CONTEXT_RANGE = { min: 2_048, max: 16_777_216 } as const;

export const judgeCommand: Command = {
  name: 'judge',
  summary: 'Check how far a judge can be trusted: with itself, and with labels.',
  usage: ['judge check FILE.jsonl [flags]', 'judge check - [flags]   (rows from standard input)'],
  flags: [
    { name: 'judge', kind: 'text', value: 'lexical', help: 'The built-in judge (the default without --url).' },
    {
      name: 'url',
      kind: 'text',
      value: 'BASE_URL',
      help: 'An OpenAI-compatible server, as in http://127.0.0.1:8000/v1.',
    },
    { name: 'model', kind: 'text', value: 'NAME', help: 'The model that judges, by the name the server has for it.' },
    { name: 'key', kind: 'text', value: 'KEY', help: "The server's key; better in the environment, as VLLM_API_KEY." },
    {
      name: 'context-tokens',
      kind: 'text',
      value: 'N',
      help: 'Prompt and reply together; asked of the server where not given.',
    },
    {
      name: 'replicates',
      kind: 'text',
      value: 'N',
      help: `How often each rollout is judged again (default ${DEFAULT_REPLICATES}).`,
    },
    { name: 'limit', kind: 'text', value: 'N', help: 'Read the first N rows only.' },
    { name: 'concurrency', kind: 'text', value: 'N', help: 'Rows in hand at a time (default 8 with --url, else 1).' },
    { name: 'json', kind: 'switch', help: 'The whole report as one JSON object, instead of the tables.' },
  ],
  details: [
    'Rows: those of citeward score, and labelled claims {set, id, claim, evidence, label}, also mixed.',
    'Rollouts: criteria judged jointly against one by one, in reversed order, and again.',
    'Claims: verdict against label. A question without a verdict counts as a failure and is in no other',
    'figure. docs/judge-check.md explains each line.',
    'Exit code: 0 all questions got verdicts, 1 some did not or lines were bad, 2 wrong command line.',
  ],
  run,
};

async function run(flags: Flags): Promise<number> {
  const [action, ...files] = flags.positionals;
  if (action !== 'check') {
    const hint = action === undefined ? null : didYouMean(action, ['check']);
    throw new UsageError('expected: citeward judge check FILE.jsonl', hint);
  }
  const replicates = flags.count('replicates', REPLICATES_RANGE) ?? DEFAULT_REPLICATES;
  const limit = flags.count('limit', LIMIT_RANGE);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const server = serverFlags(flags);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(files, 'judge check');
  const judge = server === null ? lexicalUnderCheck : await serverUnderCheck(server);
  for (const notice of judge.notices) screen.message(notice, 'dim');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);

  const started = performance.now();
  const report = await runCheck({ input, judge, replicates, limit, concurrency, screen, progress });
  await print(report, screen, flags.isOn('json'));
  screen.message(summaryOf(report, (performance.now() - started) / 1000), 'bold');
  if (report.stopped_early) {
    screen.message(
      `stopped: ${FAILED_ROWS_MAX} rows one after the other got no verdict at all; the rest was not read`,
      'red',
    );
  }
  return isComplete(report) ? EXIT_OK : EXIT_INCOMPLETE;
}

/** The server that is asked, or `null` for the built-in judge. @throws UsageError for flags that do not go together. */
function serverFlags(flags: Flags): Parameters<typeof serverUnderCheck>[0] | null {
  const named = flags.choice('judge', ['lexical']);
  const url = flags.text('url');
  const model = flags.text('model');
  const key = flags.text('key');
  const context_tokens = flags.count('context-tokens', CONTEXT_RANGE);
  if (url === null) {
    const lost = (['model', 'key', 'context-tokens'] as const).find((name) => flags.text(name) !== null);
    if (lost !== undefined) throw new UsageError(`--${lost} is for a server: give its --url too`);
    return null;
  }
  if (named !== null) throw new UsageError('--judge lexical runs here: give it or --url, not both');
  if (model === null) throw new UsageError('--url needs --model: which model judges', `${url}/models lists them`);
  return { url, model, key: key ?? keyOfEnvironment(), context_tokens };
}

function keyOfEnvironment(): string | null {
  const key = process.env['VLLM_API_KEY'];
  return key === undefined || key === '' ? null : key;
}

async function print(report: CheckReport, screen: Screen, json: boolean): Promise<void> {
  const readings = readingsOf(report);
  if (json) {
    await screen.result(JSON.stringify({ ...report, readings }));
    return;
  }
  await printTables(report, { style: screen.resultStyle, write: (line) => screen.result(line) });
  for (const reading of readings) await screen.result(reading);
}

function summaryOf(report: CheckReport, seconds: number): string {
  const { rollouts, claims, bad, without_answer } = report.rows;
  const calls = lanesOf(report).reduce((sum, lane) => sum + lane.calls, 0);
  return [
    ...(rollouts > 0 || claims === 0 ? [countText(rollouts, 'rollout')] : []),
    ...(without_answer > 0 ? [`${without_answer} without an answer`] : []),
    ...(claims > 0 ? [countText(claims, 'claim')] : []),
    ...(bad > 0 ? [badLinesText(bad)] : []),
    countText(calls, 'judge call'),
    durationText(seconds),
  ].join(' · ');
}

function isComplete(report: CheckReport): boolean {
  return report.rows.bad === 0 && !report.stopped_early && lanesOf(report).every((lane) => lane.failures.total === 0);
}
