/**
 * `npm run demo:run`: trains a small policy three times with GRPO against a local Worker, which scores and records the
 * runs, and tells what the policy learned. Then it serves the dashboard for the runs until Ctrl-C (`--once` exits
 * instead). It exports each run to a file, for `citeward replay --file`. Data stays in .citeward/, so a second start
 * scores nothing, and an interrupted run continues.
 */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { countText, durationText } from '../cli/shared/number-text.ts';
import { LiveLine } from '../cli/shared/progress.ts';
import { styleFor } from '../cli/shared/style.ts';
import { type Client, createClient } from '../clients/typescript/client.ts';
import { ensureDashboard } from './build-dashboard.ts';
import { figuresOf } from './demo-run/figures.ts';
import { recordedRollouts, trainAndRecord } from './demo-run/record.ts';
import { DEFAULT_SEED, type DemoRun, demoRuns, RUN_NAMES } from './demo-run/runs.ts';
import { demoState, STATE } from './demo-run/state.ts';
import { COLUMN_NOTES, type Paper, printStory } from './demo-run/story.ts';
import type { TrainedStep } from './demo-run/train.ts';
import { showWithWorker } from './demo-worker.ts';

const USAGE = `usage: npm run demo:run [-- [--once] [--seed N] [--only ${RUN_NAMES.join('|')}]]`;
const START_MS = 60_000;
const MAX_SEED = 1_000_000;

const style = styleFor(process.stdout, false);
const say = (text = ''): void => console.log(text);
const paper: Paper = { width: Math.min(100, process.stdout.columns ?? 100), style, write: say };

type Options = { readonly isOnce: boolean; readonly runs: readonly DemoRun[] };

/** Reads the command line; `null` = it is wrong. */
function readOptions(args: string[]): Options | null {
  const options = {
    once: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(DEFAULT_SEED) },
    only: { type: 'string' },
  } as const;
  try {
    const { once, seed, only } = parseArgs({ args, options }).values;
    if (!/^\d+$/u.test(seed) || Number(seed) > MAX_SEED) return null;
    const runs = demoRuns(Number(seed)).filter(({ name }) => only === undefined || name === only);
    return runs.length === 0 ? null : { isOnce: once, runs };
  } catch (error) {
    // parseArgs throws a TypeError for an unknown flag.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

async function showRun(client: Client, run: DemoRun): Promise<void> {
  say(`\n${style('bold', run.id)}`);
  say(`   ${run.setup}`);
  const before = await recordedRollouts(client, run.id);
  const { steps, prompts, samples } = run.size;
  const rollouts = steps * prompts * samples;
  if (before.length === rollouts) say('   all steps are already recorded: nothing to score');
  else if (before.length > 0) say(`   ${countText(before.length)} rollouts are already recorded`);
  const live = new LiveLine(process.stderr);
  const trained: TrainedStep[] = [];
  for await (const step of trainAndRecord(client, run, before)) {
    trained.push(step);
    live.update(() => `   step ${step.step + 1} of ${steps}`);
  }
  live.clear();
  const last = trained.at(-1);
  if (last === undefined) throw new Error(`${run.id} has no step`);
  if (before.length < rollouts) {
    const scored = countText(rollouts - before.length);
    say(
      `   ${steps} steps x ${prompts} prompts x ${samples} samples: ${scored} scored in ${durationText(live.seconds)}`,
    );
  }
  const recorded = before.length === rollouts ? before : await recordedRollouts(client, run.id);
  say();
  const alerts = await client.runs.alerts(run.id);
  if (!alerts.ok) throw new Error(`the alerts of ${run.id}: ${JSON.stringify(alerts.failure)}`);
  await printStory({ run, figures: await figuresOf(run, trained, recorded), last, alerts: alerts.body }, paper);
  await exportRun(client, run);
}

function exportPath(run: DemoRun): string {
  return `${STATE}/${run.id}.jsonl`;
}

/** Writes the ledger of the run to a file. @throws Error if the Worker refuses the export. */
async function exportRun(client: Client, run: DemoRun): Promise<void> {
  const exported = await client.runs.export(run.id);
  if (!exported.ok) throw new Error(`${run.id} was not exported: ${JSON.stringify(exported.failure)}`);
  await writeFile(resolve(import.meta.dirname, '..', exportPath(run)), exported.body);
}

function sayReplay(runs: readonly DemoRun[]): void {
  say(`\nReplay a run under another recipe, without a Worker:`);
  for (const run of runs) {
    say(`   npx citeward replay --file ${exportPath(run)} --set ${run.change}`);
  }
  say(`The runs are stored in ${STATE}; delete this folder to start over.`);
}

const options = readOptions(process.argv.slice(2));
if (options === null) {
  console.error(USAGE);
  process.exit(2);
}
const { isOnce, runs } = options;
say(style('bold', 'A small policy learns to write cited answers, with GRPO and the advantages of a local Worker'));
say(style('yellow', 'Judge: the built-in stand-in, which compares words. Invented places, no language model.'));
for (const line of COLUMN_NOTES) say(style('dim', line));
await ensureDashboard();
await showWithWorker(
  'The demo run',
  async () => {
    const { variablesFile, directory: state } = await demoState();
    return {
      variables: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' },
      variablesFile,
      state,
      deadline_ms: START_MS,
    };
  },
  async (worker) => {
    const client = createClient({ url: new URL(worker.url), key: null });
    for (const run of runs) await showRun(client, run);
    sayReplay(runs);
    if (isOnce) return;
    say('\nIn the dashboard (Ctrl-C stops the Worker):');
    for (const run of runs) say(`   ${style('bold', `${worker.url}/#/runs/${run.id}`)}`);
    // Waits until a signal ends the process.
    await new Promise<never>(() => setInterval(() => undefined, 60_000));
  },
);
