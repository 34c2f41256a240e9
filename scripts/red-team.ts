/**
 * `npm run redteam -- --recipe NAME`: trains small language models on a recipe, on a CPU, and reports what each of them
 * ends with (docs/guides/red-team.md). Exit code 3: a policy games the reward.
 */
import { createHash } from 'node:crypto';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { CommandError, EXIT_ALERT, RunError } from '../cli/shared/exit.ts';
import { durationText } from '../cli/shared/number-text.ts';
import { LiveLine } from '../cli/shared/progress.ts';
import { styleFor } from '../cli/shared/style.ts';
import { type Client, createClient } from '../clients/typescript/client.ts';
import { rolloutCountsSchema } from '../src/runs/rollout-counts.ts';
import { LocalWorkerError, startLocalWorker } from './local-worker.ts';
import { cacheFolder, ensurePython, type PythonEnvironment } from './python-environment.ts';
import { type BasePolicy, basePolicy, type Tried, type WarmUp } from './red-team/base-policy.ts';
import { LanguageModel } from './red-team/language-model.ts';
import { FLAGS, habitLines, type Options, readOptions } from './red-team/options.ts';
import type { Policy } from './red-team/policy.ts';
import { judged, type RedTeamResult, reportLines, reportOf, type SeedReport } from './red-team/report.ts';
import { KINDS_OF_SEVERAL_PLACES, type RowKind } from './red-team/rows.ts';
import { trainSeed, tryFirstRow } from './red-team/training.ts';
import { WordPolicy } from './red-team/word-policy.ts';

/** What is read of a run file: little, so that a Worker of another version will do. */
const countedLineSchema = z.object({
  rollout: z
    .object({
      step: z.int().nullable(),
      group: z.string(),
      sample: z.string(),
      counts: z.object({ criteria: rolloutCountsSchema.shape.criteria }).optional(),
    })
    .optional(),
});

const START_MS = 60_000;

const FOLDER = 'red-team';

const WORD_POLICY_PYTHON: PythonEnvironment = {
  user: 'the red team',
  folder: FOLDER,
  requirements: join(import.meta.dirname, 'red-team/word-policy-requirements.txt'),
  oldestMinor: 11,
  download: 'JAX for CPUs, NumPy and SciPy from PyPI: a download of 140 MB, 620 MB on disk',
};

const LANGUAGE_MODEL_PYTHON: PythonEnvironment = {
  ...WORD_POLICY_PYTHON,
  requirements: join(import.meta.dirname, 'red-team/language-model-requirements.txt'),
  oldestMinor: 10,
  download: 'PyTorch with CUDA and transformers from PyPI: a download of 3 GB, 6 GB on disk (--python takes yours)',
};

const style = styleFor(process.stderr, false);
/** Progress is on standard error, the report on standard output. */
const say = (text: string): void => console.error(text);

try {
  const options = await readOptions(process.argv.slice(2));
  if (options === null) printHelp();
  else process.exitCode = await run(options);
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  say(error.message);
  if (error.hint !== null) say(error.hint);
  process.exitCode = error.exitCode;
}

async function run(options: Options): Promise<number> {
  const end_ms = options.minutes === null ? null : Date.now() + options.minutes * 60_000;
  await mkdir(options.state, { recursive: true });
  const worker =
    options.url === null
      ? await startLocalWorker({
          variables: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', REQUEST_LOG: 'failures' },
          state: join(options.state, 'worker'),
          deadline_ms: START_MS,
        }).catch(workerFailed)
      : null;
  let policy: Policy | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      say('\nStopped; the same command continues.');
      policy?.close();
      // Exiting kills the Worker's process group (local-worker.ts).
      process.exit(130);
    });
  }
  try {
    const url = options.url ?? new URL(worker?.url ?? '');
    const client = createClient({ url, key: process.env['CITEWARD_API_KEY'] ?? null });
    await tryFirstRow(client, { ...options, seed: options.seeds[0] ?? 1 });
    const environment = options.model === null ? WORD_POLICY_PYTHON : LANGUAGE_MODEL_PYTHON;
    const python = options.python ?? (await ensurePython(environment, say));
    policy = await openPolicy(python, options);
    const result = await redTeam(client, policy, options, end_ms);
    if (options.results !== null) await appendFile(options.results, `${JSON.stringify(result)}\n`);
    if (options.json) console.log(JSON.stringify(result));
    else for (const seed of result.seeds) console.log(reportLines(seed).join('\n'));
    if (worker === null) say(`The dashboard of ${url.href} shows the runs.`);
    else say(`To see the runs: npx citeward serve --state ${options.state}/worker`);
    return result.seeds.some(({ faults }) => faults.length > 0) ? EXIT_ALERT : 0;
  } finally {
    policy?.close();
    await worker?.stop();
  }
}

async function openPolicy(python: string, { model, threads, style, rows }: Options): Promise<Policy> {
  if (model !== null) {
    return LanguageModel.open({ python, threads, model: model.name, answerTokens: model.answerTokens, style });
  }
  const compiled = join(cacheFolder(FOLDER), 'compiled');
  const marksAsked = typeof rows === 'string' && KINDS_OF_SEVERAL_PLACES.has(rows);
  return WordPolicy.open({ python, threads, compiled, style, rows: typeof rows === 'string' ? [] : rows, marksAsked });
}

function workerFailed(error: unknown): never {
  if (!(error instanceof LocalWorkerError)) throw error;
  const message = [`the Worker did not start: ${error.message}`, error.log].filter((text) => text !== '').join('\n');
  throw new RunError(message, 'Another folder: --state DIR. A running Worker: --url URL');
}

/** @param end_ms Date.now() after which no step begins but the first; `null` = each does. */
async function redTeam(
  client: Client,
  policy: Policy,
  options: Options,
  end_ms: number | null,
): Promise<RedTeamResult> {
  const { resolved, rows, habits, recipe } = options;
  const { family } = resolved.recipe;
  const live = new LiveLine(process.stderr);
  const warmUp: WarmUp = {
    steps: options.warmUpSteps,
    habits,
    style: options.style,
    kind: typeof rows === 'string' ? imitatedKind(rows) : 'plain',
    rows: typeof rows === 'string' ? [] : rows,
  };
  const base = await basePolicy(policy, warmUp, join(cacheFolder(FOLDER), 'base'), {
    onStep: (step, loss) => {
      live.update(() => `base policy: step ${step + 1} of ${warmUp.steps}, loss ${loss?.toFixed(2) ?? '-'}`);
      if (!live.isLive && step % 100 === 0) say(`base policy: step ${step + 1} of ${warmUp.steps}`);
    },
    onWait: () => say('another process trains the same base policy; waiting for it'),
  });
  live.clear();
  sayBase(base.tried);
  const reports: SeedReport[] = [];
  for (const seed of options.seeds) {
    if (reports.length === 0 || end_ms === null || Date.now() < end_ms) {
      reports.push(await trainAndReport(client, policy, base, options, seed, end_ms));
    }
  }
  return {
    recipe,
    family,
    rows: options.rowsName,
    judge: options.judge,
    note: options.note,
    date: new Date().toISOString().slice(0, 10),
    seeds: reports,
  };
}

async function trainAndReport(
  client: Client,
  policy: Policy,
  base: BasePolicy,
  options: Options,
  seed: number,
  end_ms: number | null,
): Promise<SeedReport> {
  const { steps } = options;
  const run = runName(options, base.file, seed);
  const files = join(options.state, run);
  const live = new LiveLine(process.stderr);
  const trained = await trainSeed(
    client,
    policy,
    base,
    {
      run,
      seed,
      steps,
      rows: options.rows,
      style: options.style,
      recipe: options.recipe,
      judge: options.judge,
      learningRate: options.learningRate,
      files,
      end_ms,
    },
    (step, samples) => {
      const share = samples.filter(({ right }) => right).length / samples.length;
      const rewards = samples.flatMap(({ reward }) => reward ?? []);
      const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
      const shown = rewards.length === 0 ? 'none' : mean.toFixed(2);
      const text = `${run}: step ${step + 1} of ${steps}, reward ${shown}, right ${Math.round(share * 100)} %`;
      live.update(() => text);
      if (!live.isLive && step % 10 === 9) say(`${text} (${durationText(live.seconds)}): ${samples[0]?.text ?? ''}`);
    },
  );
  live.clear();
  const counts = await exported(client, run, `${files}.jsonl`);
  const alerts = await client.runs.alerts(run);
  if (!alerts.ok) throw new RunError(`the alerts of ${run}: ${JSON.stringify(alerts.failure)}`);
  say(`${run}: the run without its texts is in ${relative(process.cwd(), files)}.jsonl`);
  const { reward_range } = options.resolved;
  return reportOf({ run, seed }, trained, judged(trained.samples, counts), reward_range, alerts.body.alerts);
}

/** Settings that change what a seed answers are in the name, so that another command starts another run. */
function runName(
  { name, recipe, resolved, rowsName, rows, judge, learningRate }: Options,
  base: string,
  seed: number,
): string {
  const settings = JSON.stringify([
    resolved.digest,
    typeof rows === 'string' ? rows : rowsName,
    judge,
    learningRate,
    base,
  ]);
  const digest = createHash('sha256').update(settings).digest('hex').slice(0, 6);
  const recipeName = typeof recipe === 'string' ? recipe : String(recipe['base'] ?? recipe['family'] ?? 'own');
  const kind = typeof rows === 'string' ? rows : 'own-rows';
  return `${name ?? `redteam-${recipeName}-${kind}`}-${digest}-s${seed}`;
}

/** Writes the run to a file, without texts, and returns the criteria of each rollout as its counts have them. */
async function exported(client: Client, run: string, file: string): Promise<Map<string, string | null>> {
  const reply = await client.runs.export(run);
  if (!reply.ok) throw new RunError(`${run} was not exported: ${JSON.stringify(reply.failure)}`);
  const text = await new Response(reply.body).text();
  await writeFile(file, text);
  const counts = new Map<string, string | null>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const { rollout } = countedLineSchema.parse(JSON.parse(line));
    if (rollout?.counts === undefined) continue;
    counts.set(`${rollout.step} ${rollout.group} ${rollout.sample}`, rollout.counts.criteria);
  }
  return counts;
}

/** Kinds that differ from `plain` only in their criteria share its base policy. */
function imitatedKind(kind: RowKind): RowKind {
  return kind === 'vacuous' || kind === 'negatives' ? 'plain' : kind;
}

function sayBase({ right, attribution, chance }: Tried): void {
  const [answers, sources, guesses] = [right, attribution, chance].map((share) => `${Math.round(share * 100)} %`);
  say(`The base policy answers ${answers} of new rows rightly; ${sources} of its citations of one id name the right`);
  say(`source, ${guesses} by chance.`);
}

function printHelp(): void {
  const rows = FLAGS.map(
    ({ name, value, help }) => [`  --${name}${value === undefined ? '' : ` ${value}`}`, help] as const,
  );
  console.log('npm run redteam -- --recipe NAME [--rows KIND] [--seeds N] [--steps N] …\n');
  for (const [flag, help] of rows) console.log(`${flag.padEnd(32)} ${help}`);
  console.log('\nHabits:');
  for (const [name, help] of habitLines()) console.log(`${name.padEnd(32)} ${help}`);
  console.log(`\nExit code 3: a policy games the reward. Colours: ${style('dim', 'NO_COLOR=1')} prints none.`);
}
