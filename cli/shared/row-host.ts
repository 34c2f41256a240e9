/**
 * Where the rows of a command are answered: by the Worker of `--url`, else in this process, with the judges of
 * `--judge-url` or `--backends`. A command works with either through the same interface.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalClient, type RowClient } from '../../hosts/memory/local-client.ts';
import { createMemoryHost, type MemoryHost, NO_MODELS } from '../../hosts/memory/memory-host.ts';
import { fileStore } from '../../lib/node.ts';
import { ServeError } from '../../serve/serve-error.ts';
import { readBackends } from '../../service/backends/settings.ts';
import type { BackendsConfig } from '../../service/backends/settings-schema.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import type { JudgmentStore } from '../../src/judgments/store.ts';
import { RunError, UsageError } from './exit.ts';
import type { FlagDescription, Flags } from './flags.ts';
import { readTextFile } from './input.ts';
import { JUDGE_SERVER_FLAGS, readJudgeServer } from './judge-server.ts';
import { MODEL_CALLS } from './model-server.ts';
import { countOf } from './number-text.ts';
import { RunningJudges } from './running-judges.ts';
import type { ScoringOptions } from './scoring-flags.ts';
import type { Shell } from './shell.ts';
import { connectIfGiven, REMOTE_CONCURRENCY } from './worker.ts';

export const BACKENDS_FLAG: FlagDescription = {
  name: 'backends',
  kind: 'text',
  value: 'FILE',
  help: "Judges, generators and a sandbox here, in the form of the Worker's setting BACKENDS.",
};

/** The flags of a command that can judge in this process. */
export const LOCAL_FLAGS: readonly FlagDescription[] = [
  ...JUDGE_SERVER_FLAGS,
  BACKENDS_FLAG,
  { name: 'state', kind: 'text', value: 'DIR', help: 'Keep the judgments of this process in DIR between calls.' },
];

export const LEXICAL_NOTICE =
  'Judge: lexical, built in. It compares words and is no model: use it to try things out, not to train.';

const EXTRACTIVE_NOTICE =
  'Refiner: extractive, built in. It copies sentences that share words with the question and is no model.';

export type RowHost = {
  readonly client: RowClient;
  /** Default number of rows that are handled at the same time. */
  readonly concurrency: number;
  /** What the judge, and the refiner, of this process are; empty with a Worker. */
  readonly judgeNotices: readonly string[];
  readonly refinerNotices: readonly string[];
  /** What the judges of this process were asked, for the end of the command; `null` = there is nothing to say. */
  readonly judged: () => string | null;
};

/**
 * Connects to the Worker of `--url`, or opens the host of this process.
 * @param scoring the flags that say how rows are scored; `null` = the command has none.
 * @throws UsageError for flags that exclude each other or name what is unknown, RunError for a Worker or server that does
 * not answer.
 */
export async function openRowHost(
  flags: Flags,
  onRetry: (text: string) => void,
  scoring: Pick<ScoringOptions, 'judge' | 'judges' | 'judgments'> | null,
): Promise<RowHost> {
  const local = LOCAL_FLAGS.find(({ name }) => flags.text(name) !== null);
  if (local !== undefined && flags.text('url') !== null) {
    throw new UsageError(`--${local.name} is for judging without a Worker`, 'Leave out --url.');
  }
  const client = await connectIfGiven(flags, onRetry);
  if (client === null) return localRowHost(await openLocalHost(flags, scoring, onRetry));
  return { client, concurrency: REMOTE_CONCURRENCY, judgeNotices: [], refinerNotices: [], judged: () => null };
}

/** The host of this process, and what a command says of it. */
export type LocalHost = Omit<RowHost, 'client'> & { readonly host: MemoryHost };

function localRowHost({ host, ...others }: LocalHost): RowHost {
  return { ...others, client: createLocalClient(host) };
}

/**
 * Opens the host of this process.
 * @param onSlowJudge receives a text for people while a judge is slow. @throws as `openRowHost`.
 */
export async function openLocalHost(
  flags: Flags,
  scoring: Pick<ScoringOptions, 'judge' | 'judges' | 'judgments'> | null,
  onSlowJudge: (text: string) => void,
): Promise<LocalHost> {
  const backends = await readLocalBackends(flags);
  const directory = flags.text('state');
  if (scoring?.judgments === 'only' && directory === null) {
    throw new UsageError(
      '--judgments only: this process stores no judgments',
      'Give --state DIR, or a Worker: --url URL',
    );
  }
  const judges = new RunningJudges(onSlowJudge);
  const host = createMemoryHost({
    backends,
    onCall: () => judges.begin(),
    ...(directory === null ? {} : { store: await stateIn(directory) }),
  });
  checkNames(host, scoring, flags.text('generator'));
  const { named, default: byDefault, generators } = host.ports.backends;
  const models = named.filter(({ runs_in }) => runs_in === 'desk');
  const isLexical = byDefault?.judge === LEXICAL_JUDGE;
  const served = [
    ...backends.judges.map(({ name, routes }) => `${name} (${routes.map(placeOf).join(', ')})`),
    ...backends.classifiers.map(({ name, model, base_url }) => `${name} (${model} at ${base_url})`),
    ...backends.cascades.map(
      ({ name, tiers, last }) => `${name} (${[...tiers.map(({ judge }) => judge), last].join(' > ')})`,
    ),
  ];
  const isExtractive = backends.default_generator === null && generators.default !== null;
  return {
    host,
    concurrency: models.length > 0 ? MODEL_CALLS : 1,
    judgeNotices: isLexical ? [LEXICAL_NOTICE] : [`Judge: ${served.join(', ')}`],
    refinerNotices: isExtractive ? [EXTRACTIVE_NOTICE] : [],
    judged() {
      if (models.length === 0 && directory === null) return null;
      const { calls, stored } = host.figures();
      const from = directory === null ? 'earlier rows' : directory;
      return `${countOf(calls, 'call')} of a model · ${countOf(stored, 'judgment')} from ${from}`;
    },
  };
}

function placeOf(route: BackendsConfig['judges'][number]['routes'][number]): string {
  return route.kind === 'vllm' ? `${route.model} at ${route.base_url}` : route.model;
}

/** @throws UsageError if a flag names a judge or a generator that this process does not have. */
function checkNames(
  { ports: { backends } }: MemoryHost,
  scoring: Pick<ScoringOptions, 'judge' | 'judges'> | null,
  generator: string | null,
): void {
  const { judge = null, judges = null } = scoring ?? {};
  const generators = backends.generators.named.map((one) => one.generator.name);
  if (generator !== null && !generators.includes(generator)) {
    throw new UsageError(
      `--generator: "${generator}" is unknown; this process has ${generators.map((one) => `"${one}"`).join(', ')}`,
      'Give generators with --backends FILE, or a Worker with --url.',
    );
  }
  const known = backends.named.map((one) => one.judge.name);
  for (const [flag, name] of [
    ['judge', judge],
    ...(judges ?? []).map((member) => ['judges', member.judge] as const),
  ] as const) {
    if (name === null || known.includes(name)) continue;
    throw new UsageError(
      `--${flag}: "${name}" is unknown; this process has ${known.map((one) => `"${one}"`).join(', ')}`,
      'Give a model with --judge-url and --judge-model, several with --backends FILE, or a Worker with --url.',
    );
  }
}

async function readLocalBackends(flags: Flags): Promise<BackendsConfig> {
  const path = flags.text('backends');
  if (path !== null) {
    const other = JUDGE_SERVER_FLAGS.find(({ name }) => flags.text(name) !== null);
    if (other !== undefined) {
      const hint = 'The file says what each of its servers takes (docs/guides/backends.md).';
      throw new UsageError(`--backends and --${other.name} exclude each other`, hint);
    }
    return backendsOf(path, await readTextFile(path), flags.shell.env);
  }
  const judge = await readJudgeServer(flags);
  if (judge === null) return NO_MODELS;
  const { name } = judge;
  if (judge.kind === 'classifier') return { ...NO_MODELS, classifiers: [judge], default_judge: name };
  return { ...NO_MODELS, judges: [{ name, routes: [judge] }], default_judge: name };
}

/** @throws UsageError that names each wrong field. */
function backendsOf(path: string, text: string, env: Shell['env']): BackendsConfig {
  // This process has no bindings; secrets are variables of its environment.
  const read = readBackends(text, { secret: (name) => env[name], isBound: () => false });
  if (read.ok) return read.value;
  throw new UsageError(
    read.error.map((problem) => `${path}: ${problem}`).join('\n'),
    'docs/guides/backends.md describes the file; a secret of "api_key_secret" is a variable of the environment.',
  );
}

const JUDGMENTS_FILE = 'judgments.jsonl';

/**
 * The store of a folder, which no other process uses until this one ends.
 * @throws RunError if the folder cannot be used, or holds a file of another kind.
 */
async function stateIn(directory: string): Promise<JudgmentStore> {
  try {
    // Closed to other users of the machine: a judgment confirms a guess of its texts.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // Imported here, because most calls keep nothing.
    const { lockState } = await import('../../serve/state-lock.ts');
    const lock = await lockState(directory);
    process.once('exit', () => lock.close());
    return await fileStore(join(directory, JUDGMENTS_FILE));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof ServeError) throw new RunError(`--state: ${error.message}`, error.hint);
    throw new RunError(`--state: ${error.message}`, 'Give another folder, or move the file away.');
  }
}
