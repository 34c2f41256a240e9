/** `citeward runs sync`: follows a run and logs each finished step to W&B, MLflow, trackio or TensorBoard. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import type { Client } from '../../../clients/typescript/client.ts';
import { parsedJson } from '../../../src/json.ts';
import type { RunStep } from '../../../src/runs/summary.ts';
import type { RunRollout } from '../../../src/wire/runs.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { messageOf } from '../../shared/input.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { Screen } from '../../shared/screen.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';
import { figuresRecord, firstRecord, textRecord } from './event-file.ts';
import { type Figure, figuresOf } from './figures.ts';
import { markedAnswer } from './marked-answer.ts';
import { connectForRuns, runIdOf } from './options.ts';
import { answersOf } from './report.ts';
import { markedHtml } from './report-page.ts';
import { runPages } from './run.ts';
import { startPython } from './wandb.ts';

const TRACKERS = ['wandb', 'mlflow', 'trackio', 'tensorboard'] as const;

const syntax: CommandSyntax = {
  usage: ['runs sync RUN --to TRACKER --url URL [flags]'],
  flags: [
    { name: 'to', kind: 'text', value: 'TRACKER', values: TRACKERS, help: `${TRACKERS.join(', ')}.` },
    {
      name: 'project',
      kind: 'text',
      value: 'NAME',
      help: 'Project of W&B or trackio, experiment of MLflow, folder of TensorBoard (default: citeward).',
    },
    { name: 'once', kind: 'switch', help: 'Log what is recorded, the last step included, and end.' },
    { name: 'every', kind: 'text', value: 'S', help: 'Look for new steps every S seconds (default 10).' },
    {
      name: 'progress',
      kind: 'text',
      value: 'FILE',
      help: 'Where it notes what is logged, to go on there (default: .citeward/sync/RUN.TRACKER.json).',
    },
    ...WORKER_FLAGS,
  ],
  details: [
    'Logs the figures of each step, and a table of up to six of its answers with marked claims if the run keeps',
    'text. A step is logged when a later one has begun, or nothing was recorded for two minutes. Ctrl-C ends it.',
    'All but TensorBoard start python3 with your own package of the tracker.',
    'Exit code: 0 ended with --once, 1 the Worker or the tracker failed, 2 wrong command line.',
  ],
};

export const syncCommand: Command = { ...syntax, run };

const DEFAULT_EVERY_S = 10;
/** A last step is finished if nothing was recorded for this long; the time of a recording is known to the minute. */
const SETTLED_MS = 2 * 60_000;

/** What a later call must know: the run of the tracker, and the first step that is not logged. */
const progressSchema = z.strictObject({ id: z.string(), project: z.string(), next_step: z.int().min(0) });
type Progress = z.infer<typeof progressSchema>;

type LoggedSample = {
  readonly group: string;
  readonly sample: string;
  readonly reward: number | null;
  readonly question: string;
  /** The answer as HTML, its claims marked. */
  readonly html: string;
  /** The same as text: `[+ supported claim]`, `[~ partly]`, `[- not]`. */
  readonly text: string;
};

type LoggedStep = {
  readonly step: number;
  readonly figures: readonly Figure[];
  readonly samples: readonly LoggedSample[];
};

type Tracker = {
  /** Resolves when the tracker has the step, and it is noted that it has. @throws RunError */
  log(step: LoggedStep): Promise<void>;
  close(): Promise<void>;
};

async function run(flags: Flags): Promise<number> {
  const run = runIdOf(flags.positionals, 'sync');
  const to = flags.choice('to', TRACKERS);
  if (to === null) throw new UsageError(`expected --to ${TRACKERS.join(', --to ')}`);
  const every_s = flags.count('every', { min: 1, max: 86_400 }) ?? DEFAULT_EVERY_S;
  const isOnce = flags.isOn('once');
  const screen = new Screen(flags);
  const client = await connectForRuns(flags, screen);
  const path = flags.text('progress') ?? join('.citeward', 'sync', `${run}.${to}.json`);
  const known = await readProgress(path);
  let progress = known ?? {
    id: randomBytes(4).toString('hex'),
    project: flags.text('project') ?? 'citeward',
    next_step: 0,
  };
  if (progress.project !== (flags.text('project') ?? progress.project)) {
    throw new UsageError(`${path} is of the project ${progress.project}`, 'Give another --progress FILE.');
  }
  if (known !== null) screen.message(`goes on at step ${progress.next_step}, as ${path} says`, 'dim');
  await makeFolder(dirname(path));
  const tracker = to === 'tensorboard' ? await openEventFile(progress, run, path) : openPython(to, progress, run, path);
  const stop = onInterruption(() => tracker.close());
  try {
    for (;;) {
      const steps = await finishedSteps(client, run, progress.next_step, isOnce);
      for (const step of steps) {
        await tracker.log(await loggedStep(client, run, step));
        progress = { ...progress, next_step: step.step + 1 };
        screen.message(`step ${step.step} logged to ${to}`, 'dim');
      }
      if (isOnce) break;
      await pause(every_s * 1000);
    }
  } finally {
    stop();
    await tracker.close();
  }
  const logged = `is in the ${to} project ${progress.project} up to step ${progress.next_step - 1}`;
  screen.message(`${run} ${progress.next_step === 0 ? 'has no step to log' : logged}`, 'bold');
  return EXIT_OK;
}

type NumberedStep = RunStep & { readonly step: number };

async function finishedSteps(client: Client, run: string, from: number, isOnce: boolean): Promise<NumberedStep[]> {
  const steps: NumberedStep[] = [];
  let isSettled = isOnce;
  for await (const page of runPages(client.runs, run, from)) {
    isSettled ||= Date.now() - Date.parse(page.active_at) > SETTLED_MS;
    steps.push(...page.steps.flatMap((one) => (one.step === null ? [] : [{ ...one, step: one.step }])));
  }
  return isSettled ? steps : steps.slice(0, -1);
}

async function loggedStep(client: Client, run: string, step: NumberedStep): Promise<LoggedStep> {
  const answers = await answersOf(client, run, step.step);
  return { step: step.step, figures: figuresOf(step), samples: answers.flatMap(loggedSample) };
}

const TEXT_MARKS = { unjudged: '?', full: '+', partial: '~', none: '-' } as const;

function loggedSample(rollout: RunRollout): LoggedSample[] {
  const answer = markedAnswer(rollout);
  if (answer === null) return [];
  const { group, sample, reward } = rollout;
  const text = answer.pieces.map(({ text, tone }) => (tone === null ? text : `[${TEXT_MARKS[tone]} ${text}]`)).join('');
  return [{ group, sample, reward, question: answer.question ?? '', html: STYLE + markedHtml(answer), text }];
}

/** Colour and line style: a tracker shows the HTML in a frame of its own. */
const STYLE =
  '<style>mark{color:inherit;background:none;border-bottom:3px solid #868f9e}mark.full{border-color:#2a9d5c}' +
  'mark.partial{border-bottom:3px dashed #c98a1b}mark.none{border-bottom:3px dotted #d2453a}</style>';

/** An event file for what this call logs: TensorBoard reads all files of the folder as one run. */
async function openEventFile({ project, id }: Progress, run: string, progress: string): Promise<Tracker> {
  const folder = join(project, run);
  const name = `events.out.tfevents.${Math.floor(Date.now() / 1000)}.${id}.${process.pid}`;
  const path = join(folder, name);
  const write = async (content: Uint8Array): Promise<void> => {
    await writeFile(path, content, { flag: 'a' }).catch((error: unknown) => {
      throw new RunError(`cannot write ${path}: ${messageOf(error)}`);
    });
  };
  await makeFolder(folder);
  await write(firstRecord(Date.now() / 1000));
  return {
    async log({ step, figures, samples }) {
      const now_s = Date.now() / 1000;
      const rows = samples.map(
        ({ group, sample, reward, question, text }) =>
          `| ${[`${group}/${sample}`, reward?.toFixed(2) ?? '', question, text].map(tableCell).join(' | ')} |`,
      );
      const table = ['| sample | reward | question | answer |', '|---|---|---|---|', ...rows].join('\n');
      await write(figuresRecord(now_s, step, figures));
      if (samples.length > 0) await write(textRecord(now_s, step, 'citeward/samples', table));
      await writeProgress(progress, { project, id, next_step: step + 1 });
    },
    close: async () => undefined,
  };
}

/** A text in one cell of a Markdown table, which can open no markup of its own. */
function tableCell(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').replaceAll(/[\\`*_{}[\]<>|#!]/gu, '\\$&');
}

/**
 * Starts citeward.sync of the Python client, which logs with the user's own package. It notes what is logged itself: it
 * ends the step that it has begun if this process is killed.
 */
export function openPython(to: string, { project, id }: Progress, run: string, progress: string): Tracker {
  const { child, ended } = startPython(['citeward.sync', to, project, run, id, progress], to);
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  let isClosing = false;
  const failed = (): RunError =>
    new RunError(`${to} has not logged the run: python3 ended with ${child.exitCode ?? child.signalCode}`);
  return {
    async log({ step, figures, samples }) {
      const line = { step, figures: Object.fromEntries(figures), samples };
      // If Python ends, there is no answer.
      child.stdin.write(`${JSON.stringify(line)}\n`, () => undefined);
      for (;;) {
        const { done = false, value } = await answers.next();
        if (value === `logged ${step}`) return;
        if (!done) continue;
        await ended;
        throw failed();
      }
    },
    async close() {
      if (isClosing) return;
      isClosing = true;
      child.stdin.end();
      await ended;
    },
  };
}

async function readProgress(path: string): Promise<Progress | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new RunError(`cannot read ${path}: ${messageOf(error)}`);
  }
  const read = progressSchema.safeParse(parsedJson(text));
  if (read.success) return read.data;
  throw new RunError(`${path} is no progress of runs sync`, 'Remove it to log the run again from its first step.');
}

/** Replaces the file as a whole, so that it is never cut off. */
async function writeProgress(path: string, progress: Progress): Promise<void> {
  try {
    await writeFile(`${path}.new`, `${JSON.stringify(progress)}\n`);
    await rename(`${path}.new`, path);
  } catch (error) {
    throw new RunError(`cannot write ${path}: ${messageOf(error)}`);
  }
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new RunError(`cannot write ${folder}: ${messageOf(error)}`);
  });
}
