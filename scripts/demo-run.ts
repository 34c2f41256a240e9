/**
 * `npm run demo:run`: scores a synthetic training run of 12 steps x 32 prompts x 8 samples on a local Worker, then
 * serves the dashboard for it until Ctrl-C (`--once` exits instead). It also exports the run to a file, for
 * `citeward replay --file`. The places are invented, the policy is the extractive refiner with faults that decrease by
 * step, the judge compares words. Data stays in .citeward/, so a second start scores nothing.
 */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { durationText } from '../cli/shared/number-text.ts';
import { styleFor } from '../cli/shared/style.ts';
import { createClient } from '../clients/typescript/client.ts';
import { ensureDashboard } from './build-dashboard.ts';
import { recordedSteps, recordRun, type ScoredStep, DEMO_RUN as SHAPE } from './demo-run/record.ts';
import { demoState, STATE } from './demo-run/state.ts';
import { showWithWorker } from './demo-worker.ts';
import type { LocalWorker } from './local-worker.ts';

/** The exported run; relative to the root of the project. */
const EXPORT = `${STATE}/${SHAPE.run}.jsonl`;
const START_MS = 60_000;

const style = styleFor(process.stdout, false);
const say = (text = ''): void => console.log(text);

async function demoRun(worker: LocalWorker): Promise<void> {
  const done = await recordedSteps(worker.url, SHAPE.run, SHAPE.prompts * SHAPE.samples);
  const rollouts = SHAPE.steps * SHAPE.prompts * SHAPE.samples;
  say(`   ${SHAPE.steps} steps x ${SHAPE.prompts} prompts x ${SHAPE.samples} samples = ${rollouts} rollouts`);
  if (done.size === SHAPE.steps) {
    say('   all steps are already recorded: nothing to score');
    return;
  }
  if (done.size > 0) say(`   ${done.size} steps are already recorded`);
  const client = createClient({ url: new URL(worker.url), key: null });
  const started = performance.now();
  for await (const scored of recordRun(client, SHAPE, done)) say(stepLine(scored));
  say(`   scored in ${durationText((performance.now() - started) / 1000)}`);
}

/** Writes the ledger of the run to a file. @throws Error if the Worker refuses the export. */
async function exportRun(worker: LocalWorker): Promise<void> {
  const client = createClient({ url: new URL(worker.url), key: null });
  const exported = await client.runs.export(SHAPE.run);
  if (!exported.ok) throw new Error(`the run was not exported: ${JSON.stringify(exported.failure)}`);
  await writeFile(resolve(import.meta.dirname, '..', EXPORT), exported.body);
}

function stepLine({ step, groups, seconds }: ScoredStep): string {
  const rewards = groups.flatMap((group) => group.rewards.filter((reward) => reward !== null));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const degenerate = groups.filter(({ degenerate }) => degenerate !== null).length;
  const parts = [
    `   step ${String(step).padStart(2)}`,
    `mean reward ${mean.toFixed(2).padStart(5)}`,
    `${rewards.length} scored`,
    `${degenerate} degenerate ${degenerate === 1 ? 'group' : 'groups'}`,
    `${seconds.toFixed(1)} s`,
  ];
  return parts.join('   ');
}

const args = process.argv.slice(2);
if (args.some((arg) => arg !== '--once')) {
  console.error('usage: npm run demo:run [-- --once]');
  process.exit(2);
}
const staying = args.length === 0;
say(style('bold', 'A synthetic training run: invented places, a scripted policy, a judge that compares words'));
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
    await demoRun(worker);
    await exportRun(worker);
    say(`   run ${SHAPE.run}, stored in ${STATE} (delete this folder to start over)`);
    say(`\nReplay it under another recipe, without a Worker:`);
    say('   npx citeward replay --file .citeward/demo-run/demo-synthetic-1.jsonl --set citation_weight=0.5');
    if (!staying) return;
    say(`\n${style('bold', `${worker.url}/#/runs/${SHAPE.run}`)}   (Ctrl-C stops the Worker)`);
    // Waits until a signal ends the process.
    await new Promise<never>(() => setInterval(() => undefined, 60_000));
  },
);
