/** `citeward runs report`: a run as one HTML page that needs no server, or as Markdown for a pull request. */
import { openAsBlob } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import manifest from 'citeward/package.json' with { type: 'json' };
import { type Client, createClient } from '../../../clients/typescript/client.ts';
import { prepareGroup } from '../../../src/runs/replay-group.ts';
import type { RunStep } from '../../../src/runs/summary.ts';
import type { RunDetail, RunRollout } from '../../../src/wire/runs.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { messageOf } from '../../shared/input.ts';
import { CITEWARD } from '../../shared/program.ts';
import { groupsOfFile, recipesOfFile, runOfFile } from '../../shared/run-file.ts';
import { Screen } from '../../shared/screen.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { OPEN, withOwnWorker } from '../serve/own-worker.ts';
import { RunDigest } from './digest.ts';
import { withExport } from './exported-run.ts';
import { connectForRuns, runIdOf } from './options.ts';
import { reportPage } from './report-page.ts';
import { type LedgerFigures, type RunReport, reportMarkdown } from './report-text.ts';
import { runPages } from './run.ts';

const syntax: CommandSyntax = {
  usage: [
    'runs report RUN --out DIR --url URL',
    'runs report RUN --markdown --url URL',
    'runs report --file RUN.jsonl --out DIR',
  ],
  flags: [
    {
      name: 'file',
      kind: 'text',
      value: 'FILE',
      help: 'Report the run of this exported file, without a Worker of yours.',
    },
    { name: 'out', kind: 'text', value: 'DIR', help: 'Write the page there, as index.html; it replaces an older one.' },
    { name: 'markdown', kind: 'switch', help: 'Print a short report as Markdown, for a comment of a pull request.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'The page has charts, alerts, answers of the last step if the run keeps text, and the digests with which',
    'others check the same run. It loads nothing: open it from disk, or attach it to a paper.',
    'Exit code: 0 written, 1 the file is broken, or the Worker refused or stopped answering, 2 wrong command',
    'line.',
  ],
};

export const reportCommand: Command = { ...syntax, run };

async function run(flags: Flags): Promise<number> {
  const file = flags.text('file');
  const directory = flags.text('out');
  const isMarkdown = flags.isOn('markdown');
  if (directory === null && !isMarkdown) throw new UsageError('expected --out DIR, --markdown, or both');
  const screen = new Screen(flags);
  const withAnswers = directory !== null;
  const report =
    file === null
      ? await reportOfRun(flags, screen, withAnswers)
      : await reportOfFile(file, flags, screen, withAnswers);
  if (isMarkdown) for (const line of reportMarkdown(report)) await screen.result(line);
  if (directory !== null) {
    const path = join(directory, 'index.html');
    try {
      await mkdir(directory, { recursive: true });
      await writeFile(path, reportPage(report));
    } catch (error) {
      throw new RunError(`cannot write ${path}: ${messageOf(error)}`);
    }
    screen.message(`report written to ${path}`, 'bold');
  }
  return EXIT_OK;
}

async function reportOfRun(flags: Flags, screen: Screen, withAnswers: boolean): Promise<RunReport> {
  const id = runIdOf(flags.positionals, 'report');
  const client = await connectForRuns(flags, screen);
  return reportOf(client, id, withAnswers, () => withExport(client, id, ledgerOf));
}

/** Imports an exported run into a Worker that lives as long as the report is made. @throws UsageError for another file. */
async function reportOfFile(path: string, flags: Flags, screen: Screen, withAnswers: boolean): Promise<RunReport> {
  if (flags.positionals.length > 0) throw new UsageError('--file names the run: leave RUN out');
  if (flags.text('url') !== null) throw new UsageError('--file needs no Worker: leave --url out');
  const id = await runOfFile(path);
  if (id === null) {
    throw new UsageError(
      `${path} is no exported run`,
      `Make one with: ${CITEWARD} runs export RUN --url URL > RUN.jsonl`,
    );
  }
  // A file that is cut off is refused before anything starts.
  const ledger = await ledgerOf(path);
  return withOwnWorker({ state: null, port: 0, settings: OPEN, screen }, async ({ url }) => {
    const client = createClient({ url: new URL(url), key: null });
    const imported = await client.runs.import(id, await openAsBlob(path));
    if (!imported.ok) throw runErrorOf(imported.failure);
    const [refused] = imported.body.refused_lines;
    if (refused !== undefined) throw new RunError(`${path}: line ${refused.line}: ${refused.detail}`);
    return reportOf(client, id, withAnswers, async () => ledger);
  });
}

async function reportOf(
  client: Client,
  id: string,
  withAnswers: boolean,
  ledger: () => Promise<LedgerFigures>,
): Promise<RunReport> {
  const steps: RunStep[] = [];
  let described: RunDetail | null = null;
  for await (const page of runPages(client.runs, id, null)) {
    described ??= page;
    steps.push(...page.steps);
  }
  const alerts = await client.runs.alerts(id);
  if (!alerts.ok) throw runErrorOf(alerts.failure);
  if (described === null) throw new RunError(`the Worker gave no page of ${id}`);
  return {
    run: described,
    steps,
    alerts: alerts.body,
    answers: withAnswers ? await answersOf(client, id, described.last_step) : [],
    ledger: await ledger(),
    version: manifest.version,
  };
}

/** Answers of each end of the rewards that the page shows. */
const ANSWERS_AT_EACH_END = 3;

/** The rollouts of a step with the highest and the lowest rewards, with their text where the run keeps it. */
export async function answersOf({ runs }: Client, id: string, last: number | null): Promise<readonly RunRollout[]> {
  const step = last ?? 'none';
  let best: readonly ScoredRollout[] = [];
  let worst: readonly ScoredRollout[] = [];
  let after: string | null = null;
  do {
    const page = await runs.rollouts(id, { step, ...(after === null ? {} : { after }) });
    if (!page.ok) throw runErrorOf(page.failure);
    const scored = page.body.rollouts.filter(isScored);
    best = [...best, ...scored].sort(byReward).slice(0, ANSWERS_AT_EACH_END);
    worst = [...worst, ...scored].sort(byReward).slice(-ANSWERS_AT_EACH_END);
    after = page.body.next;
  } while (after !== null);
  const placed = new Map([...best, ...worst].map((one) => [JSON.stringify([one.group, one.sample]), one]));
  const detailed = await Promise.all(
    [...placed.values()].map(async ({ group, sample }) => {
      const page = await runs.rollouts(id, { step, group, sample, detail: true, limit: 1 });
      if (!page.ok) throw runErrorOf(page.failure);
      return page.body.rollouts;
    }),
  );
  return detailed.flat();
}

type ScoredRollout = RunRollout & { readonly reward: number };

function isScored(rollout: RunRollout): rollout is ScoredRollout {
  return rollout.reward !== null;
}

function byReward(one: ScoredRollout, other: ScoredRollout): number {
  return other.reward - one.reward;
}

/** The digest of an exported run, and each of its rewards computed again. */
export async function ledgerOf(path: string): Promise<LedgerFigures> {
  const { recipes } = await recipesOfFile(path);
  const digest = new RunDigest();
  const recomputed = { equal: 0, alone: 0, different: 0 };
  const times: string[] = [];
  for await (const rows of groupsOfFile(path, undefined)) {
    digest.add(rows);
    // ISO times in UTC sort as texts do; the first and the last are kept.
    const known = [...times, ...rows.map(({ recorded_at }) => recorded_at)].sort();
    times.splice(0, times.length, ...new Set([known.at(0) ?? '', known.at(-1) ?? '']));
    for (const [n, recorded] of prepareGroup(rows, recipes).recorded.entries())
      if (rows[n]?.reward !== null) recomputed[recorded]++;
  }
  const [first = null] = times;
  return { rollouts: digest.rollouts, digest: digest.hex(), recomputed, first, last: times.at(-1) ?? null };
}
