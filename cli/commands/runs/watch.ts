/** `citeward runs watch`: the alerts of a run in a Worker, or in an exported file. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../../clients/typescript/client.ts';
import { alertLines, checkLines } from '../../../src/runs/alert-text.ts';
import { AlertWatch, type RunAlerts } from '../../../src/runs/alerts.ts';
import { isAlert, latestChecks } from '../../../src/runs/judge-check.ts';
import type { JudgeCheck } from '../../../src/runs/judge-check-schema.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_ALERT, EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { countOf } from '../../shared/number-text.ts';
import { groupsOfFile, recipesOfFile } from '../../shared/run-file.ts';
import { Screen } from '../../shared/screen.ts';
import { type Receiver, readReceiver, sendEvent } from '../../shared/signed-webhook.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { FollowedRun } from './follow-run.ts';
import { type LiveRun, liveLines, newsLines } from './live-view.ts';
import { connectForRuns, runIdOf } from './options.ts';

const syntax: CommandSyntax = {
  json: 'one object: `RunAlerts`',
  usage: ['runs watch RUN --url URL [flags]', 'runs watch RUN --live --url URL', 'runs watch --file RUN.jsonl'],
  flags: [
    { name: 'file', kind: 'text', value: 'FILE', help: 'A file of runs export, in place of a run of a Worker.' },
    { name: 'from', kind: 'text', value: 'N', help: 'The first step to watch (default: all; the first 4 are read).' },
    { name: 'every', kind: 'text', value: 'S', help: 'Ask again every S seconds until an alert is active.' },
    {
      name: 'webhook',
      kind: 'text',
      value: 'URL',
      help: 'Send active alerts to URL, signed with CITEWARD_WEBHOOK_SECRET (Standard Webhooks).',
    },
    {
      name: 'live',
      kind: 'switch',
      help: 'Follow the run until Ctrl-C: rewards, alerts, answers. No terminal: a line for each change.',
    },
    { name: 'json', kind: 'switch', help: 'Print the alerts as one JSON object.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'Reads means of 4 steps, most of them beside those of the first 4, from recorded facts: no text, no judge.',
    'It also names what runs canary and runs audit found last.',
    'Exit code: 0 no alert is active, 1 the Worker refused or stopped answering, 2 wrong command line,',
    '3 an alert is active.',
  ],
};

/** The alerts of a run, and what canaries and audits found; a file has none of these. */
type Watched = RunAlerts & { readonly judge_checks: readonly JudgeCheck[] };

export const watchCommand: Command = { ...syntax, run };

async function run(flags: Flags): Promise<number> {
  const screen = new Screen(flags);
  const every_s = flags.count('every', { min: 1, max: 86_400 });
  const file = flags.text('file');
  const webhook = flags.text('webhook');
  const receiver = webhook === null ? null : readReceiver(webhook, flags.shell.env);
  const from = flags.count('from', { min: 0, max: 1_000_000_000 });
  if (flags.isOn('live') && (file !== null || webhook !== null || flags.isOn('json'))) {
    throw new UsageError('--live needs a run of a Worker, and neither --webhook nor --json');
  }
  if (file !== null) {
    if (flags.positionals.length > 0) throw new UsageError(`--file names the run; also got ${flags.positionals[0]}`);
    if (every_s !== null || from !== null) throw new UsageError('--every and --from need a run of a Worker: --url');
    return end(await alertsOfFile(file), receiver, flags, screen);
  }
  const id = runIdOf(flags.positionals, 'watch');
  const client = await connectForRuns(flags, screen);
  if (flags.isOn('live')) return follow(client, id, { from, every_s: every_s ?? LIVE_EVERY_S }, screen);
  let steps = 0;
  onInterruption(() => {
    const seen =
      steps === 0 ? 'before its alerts were read' : `after ${countOf(steps, 'step')} without an active alert`;
    screen.message(`interrupted: the watch of ${id} ended ${seen}. Run the command again to go on.`, 'bold');
  });
  for (;;) {
    const alerts = await alertsOfWorker(client, id, from);
    steps = alerts.steps;
    if (every_s === null || isActive(alerts)) return end(alerts, receiver, flags, screen);
    screen.message(`${id} · ${alerts.steps} steps · no alert is active`, 'dim');
    await pause(every_s * 1000);
  }
}

const LIVE_EVERY_S = 5;

/** Shows the run until the process is interrupted: redrawn in place on a terminal, else a line for each change. */
async function follow(
  client: Client,
  id: string,
  { from, every_s }: { readonly from: number | null; readonly every_s: number },
  screen: Screen,
): Promise<never> {
  const followed = new FollowedRun(client, id, from);
  let before: LiveRun | null = null;
  const { stdout } = process;
  for (;;) {
    const run = await followed.read();
    if (stdout.isTTY) {
      const lines = liveLines(run, screen.width - 1, screen.resultStyle).slice(0, stdout.rows - 1);
      // From the top of the screen, clearing what is left of the last view.
      stdout.write(`\x1b[H\x1b[J${lines.join('\n')}\n`);
    } else for (const line of newsLines(before, run)) await screen.result(line);
    before = run;
    await pause(every_s * 1000);
  }
}

async function alertsOfWorker({ runs }: Client, id: string, from: number | null): Promise<Watched> {
  const reply = await runs.alerts(id, from === null ? {} : { from_step: from });
  if (!reply.ok) throw runErrorOf(reply.failure);
  return reply.body;
}

/** @throws UsageError or RunError for a file that is missing or no run. */
async function alertsOfFile(path: string): Promise<Watched> {
  const { recipes } = await recipesOfFile(path);
  const watch = new AlertWatch(recipes);
  for await (const rows of groupsOfFile(path, undefined)) watch.add(rows);
  return { ...watch.alerts, judge_checks: [] };
}

/** Prints the alerts, and sends them to the receiver if one is active. */
async function end(alerts: Watched, receiver: Receiver | null, flags: Flags, screen: Screen): Promise<number> {
  if (flags.isOn('json')) await screen.result(JSON.stringify(alerts));
  else for (const line of [...alertLines(alerts), ...checkLines(alerts.judge_checks)]) await screen.result(line);
  if (!isActive(alerts)) return EXIT_OK;
  if (receiver !== null) {
    const event = { type: 'run.alert', timestamp: new Date().toISOString(), data: alerts };
    const problem = await sendEvent(receiver, event);
    if (problem === null) screen.message(`alerts sent to ${receiver.url.host}`, 'dim');
    else screen.message(`alerts not sent to ${receiver.url.host} after 3 attempts: ${problem}`, 'red');
  }
  return EXIT_ALERT;
}

function isActive({ alerts, judge_checks }: Watched): boolean {
  return alerts.some(({ active }) => active) || latestChecks(judge_checks).some(isAlert);
}
