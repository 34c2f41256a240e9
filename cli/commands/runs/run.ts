/** `citeward runs`: lists, shows, titles, exports, imports and deletes the runs of a Worker. */

import { openAsBlob } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../../clients/typescript/client.ts';
import { readRecordLine } from '../../../src/judgments/record-file.ts';
import { MAX_IMPORT_LINE_BYTES, MAX_RUN_IMPORT_LINE_BYTES } from '../../../src/limits.ts';
import { readRunLine } from '../../../src/runs/run-file.ts';
import { readLines } from '../../../src/text/lines.ts';
import type { RunDetail } from '../../../src/wire/runs.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { chunksOf, messageOf, readError } from '../../shared/input.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { countText } from '../../shared/number-text.ts';
import { limitOf, PAGE_SIZE, printList } from '../../shared/paging.ts';
import { CITEWARD } from '../../shared/program.ts';
import { LiveLine } from '../../shared/progress.ts';
import { Screen } from '../../shared/screen.ts';
import { recipeText } from '../../shared/summary.ts';
import { resultTable } from '../../shared/table.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { figuresRecord, firstRecord } from './event-file.ts';
import { figuresOf, type TaggedFigures } from './figures.ts';
import {
  connectForRuns,
  deleteSyntax,
  exportSyntax,
  importSyntax,
  listSyntax,
  runIdOf,
  showSyntax,
  titleSyntax,
} from './options.ts';
import { printReasons } from './reasons.ts';
import { mixedJudgesText, RUN_COLUMNS, runRow, STEP_COLUMNS, stepRow, unscoredTexts } from './render.ts';
import { logToWandb, wandbLine } from './wandb.ts';

export const listCommand: Command = { ...listSyntax, run: runList };
export const showCommand: Command = { ...showSyntax, run: runShow };
export const titleCommand: Command = { ...titleSyntax, run: runTitle };
export const deleteCommand: Command = { ...deleteSyntax, run: runDelete };
export const exportCommand: Command = { ...exportSyntax, run: runExport };
export const importCommand: Command = { ...importSyntax, run: runImport };

async function runList(flags: Flags): Promise<number> {
  if (flags.positionals.length > 0) {
    throw new UsageError('runs list takes no run', `To see one run: ${CITEWARD} runs show RUN --url URL`);
  }
  const limit = limitOf(flags);
  const screen = new Screen(flags);
  const { runs } = await connectForRuns(flags, screen);
  await printList(screen, {
    limit,
    async fetchPage(count, after) {
      const page = await runs.list({ limit: count, ...(after === null ? {} : { after }) });
      if (!page.ok) throw runErrorOf(page.failure);
      return { entries: page.body.runs, next: page.body.next };
    },
    columns: RUN_COLUMNS,
    rowOf: runRow,
    json: flags.isOn('json'),
    empty: 'no runs',
  });
  return EXIT_OK;
}

/** Reasons for missing rewards that are printed. */
const MAX_REASONS_SHOWN = 20;

async function runShow(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'show');
  const from = flags.count('from', { min: 0, max: 1_000_000_000 });
  let isFirstPage = from === null;
  const screen = new Screen(flags);
  const { runs } = await connectForRuns(flags, screen);
  if (flags.isOn('reasons')) {
    await printReasons(runs, id, { from, json: flags.isOn('json') }, screen);
    return EXIT_OK;
  }
  const table = resultTable(STEP_COLUMNS, screen);
  const reasons: string[] = [];
  for await (const { title, family, recipes, rollouts, steps } of runPages(runs, id, from)) {
    if (isFirstPage) {
      const name = title === undefined ? id : `${id} · ${title}`;
      screen.message(`${name} · ${family} · ${rollouts} rollouts · ${recipes.map(recipeText).join(', ')}`, 'bold');
      isFirstPage = false;
    }
    for (const step of steps) {
      await (flags.isOn('json') ? screen.result(JSON.stringify(step)) : table.add(stepRow(step)));
      reasons.push(...unscoredTexts(step), ...mixedJudgesText(step));
    }
  }
  await table.end();
  for (const reason of reasons.slice(0, MAX_REASONS_SHOWN)) screen.message(reason, 'red');
  return EXIT_OK;
}

/** The pages of a run's steps. @param from the first step; `null` = all. */
export async function* runPages(runs: Client['runs'], id: string, from: number | null): AsyncGenerator<RunDetail> {
  let next = from;
  do {
    const page = await runs.retrieve(id, { limit: PAGE_SIZE, ...(next === null ? {} : { from_step: next }) });
    if (!page.ok) throw runErrorOf(page.failure);
    yield page.body;
    next = page.body.next_step;
  } while (next !== null);
}

async function runTitle(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'title');
  const [, title, ...others] = flags.positionals;
  if (title === undefined || others.length > 0) {
    throw new UsageError('expected one title', 'Give it in quotes: "Second try, longer answers"');
  }
  const screen = new Screen(flags);
  const { runs } = await connectForRuns(flags, screen);
  const reply = await runs.setTitle(id, title === '' ? null : title);
  if (!reply.ok) throw runErrorOf(reply.failure);
  screen.message(title === '' ? `${id} has no title` : `${id}: ${title}`, 'bold');
  return EXIT_OK;
}

/** A Worker deletes a part of a run with each request. */
const MAX_DELETE_REQUESTS = 1_000;

async function runDelete(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'delete');
  if (!flags.isOn('yes'))
    throw new UsageError(`runs delete ${id} needs --yes`, 'It deletes the run and its stored text for good.');
  const screen = new Screen(flags);
  const { runs } = await connectForRuns(flags, screen);
  for (let request = 0; request < MAX_DELETE_REQUESTS; request++) {
    const reply = await runs.delete(id);
    if (!reply.ok) throw runErrorOf(reply.failure);
    if (reply.body.complete) {
      screen.message(`${id} deleted`, 'bold');
      return EXIT_OK;
    }
  }
  screen.message(`${id} is hidden, but only a part of it is deleted: run the command again`, 'red');
  return EXIT_INCOMPLETE;
}

const MAX_LINE_BYTES = Math.max(MAX_IMPORT_LINE_BYTES, MAX_RUN_IMPORT_LINE_BYTES);

async function runExport(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'export');
  const [isJudgments, isDry] = [flags.isOn('judgments'), flags.isOn('dry-run')];
  const [directory, project] = [flags.text('tensorboard'), flags.text('wandb')];
  const targets = [isJudgments && '--judgments', directory && '--tensorboard', project && '--wandb'].filter(Boolean);
  if (targets.length > 1) throw new UsageError(targets.join(' and '), 'Give one of them.');
  if (isDry && project === null) throw new UsageError('--dry-run needs --wandb NAME');
  const screen = new Screen(flags);
  const { runs } = await connectForRuns(flags, screen);
  if (directory !== null) return exportEventFile(runs, id, directory, screen);
  if (project !== null) return exportToWandb(runs, id, { project, isDry }, screen);
  const opened = await (isJudgments ? runs.judgments(id) : runs.export(id));
  if (!opened.ok) throw runErrorOf(opened.failure);
  const counts = { lines: 0, missing: 0, complete: false };
  onInterruption(() => {
    const done = `interrupted after ${countText(counts.lines)} ${isJudgments ? 'judgments' : 'rollouts'}`;
    screen.message(`${done}: the file lacks its last line and cannot be replayed. Run the command again.`, 'bold');
  });
  // If the connection breaks, the lines end without the last one.
  for await (const { content } of readLines(
    chunksOf(opened.body, () => undefined),
    MAX_LINE_BYTES,
  )) {
    if (!content.ok) throw new RunError('the Worker gave an unexpected reply: a line is too long or not UTF-8');
    await screen.result(content.value);
    const read = isJudgments ? readRecordLine(content.value) : readRunLine(content.value);
    const kind = read.ok ? read.value.kind : null;
    if (kind === 'end') counts.complete = true;
    if (kind === 'missing') counts.missing++;
    if (kind === 'rollout' || kind === 'judgment') counts.lines++;
  }
  const missing = counts.missing > 0 ? ` · ${counts.missing} not in the store` : '';
  screen.message(`${counts.lines} ${isJudgments ? 'judgments' : 'rollouts'}${missing}`, 'bold');
  if (!counts.complete) screen.message('the connection was lost: the file is incomplete', 'red');
  return counts.complete && counts.missing === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

/** The figures of a run, step by step. */
type RunFigures = {
  readonly steps: readonly TaggedFigures[];
  /** When the run was last recorded, in seconds since 1970. */
  readonly active_s: number;
};

/** Reads the figures of each step. @throws RunError if the rollouts have no steps. */
async function figuresOfRun(runs: Client['runs'], id: string, screen: Screen): Promise<RunFigures> {
  const steps: TaggedFigures[] = [];
  let withoutStep = 0;
  let active_s = 0;
  for await (const page of runPages(runs, id, null)) {
    active_s = Date.parse(page.active_at) / 1000;
    for (const step of page.steps) {
      if (step.step === null) withoutStep += step.rollouts;
      else steps.push({ step: step.step, figures: figuresOf(step) });
    }
  }
  if (steps.length === 0) throw new RunError(`${id} has no steps: its trainer sends none`);
  if (withoutStep > 0) screen.message(`${countText(withoutStep)} rollouts have no step and are left out`, 'dim');
  return { steps, active_s };
}

/** Writes the figures of each step as a TensorBoard event file. */
async function exportEventFile(runs: Client['runs'], id: string, directory: string, screen: Screen): Promise<number> {
  const { steps, active_s } = await figuresOfRun(runs, id, screen);
  // A summary has no time of its own, so all steps have that of the last recording.
  const records = steps.map(({ step, figures }) => figuresRecord(active_s, step, figures));
  const path = join(
    directory,
    `events.out.tfevents.${Math.floor(Date.now() / 1000)}.${id.replaceAll(/[^\w.-]/g, '_')}`,
  );
  try {
    await mkdir(directory, { recursive: true });
    await writeFile(path, Buffer.concat([firstRecord(active_s), ...records]), { flag: 'wx' });
  } catch (error) {
    throw new RunError(`cannot write ${path}: ${messageOf(error)}`);
  }
  screen.message(`${countText(steps.length)} steps written to ${path}`, 'bold');
  return EXIT_OK;
}

/** Logs the figures of each step to W&B. @param options.isDry prints them instead. */
async function exportToWandb(
  runs: Client['runs'],
  id: string,
  { project, isDry }: { readonly project: string; readonly isDry: boolean },
  screen: Screen,
): Promise<number> {
  const { steps } = await figuresOfRun(runs, id, screen);
  const count = countText(steps.length);
  if (isDry) {
    for (const step of steps) await screen.result(wandbLine(step));
    screen.message(`${count} steps would be logged to the W&B project ${project}`, 'bold');
    return EXIT_OK;
  }
  const progress = new LiveLine(screen.errors);
  screen.show(progress);
  await logToWandb(project, id, steps, (logged) => progress.update(() => `${countText(logged)} of ${count} steps`));
  screen.message(`${count} steps logged to the W&B project ${project}`, 'bold');
  return EXIT_OK;
}

/** Refused lines that are printed; the others are counted. */
const MAX_REFUSALS_SHOWN = 20;

async function runImport(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'import');
  const [, file] = flags.positionals;
  if (file === undefined) throw new UsageError(`expected a file: ${CITEWARD} runs import RUN RUN.jsonl --url URL`);
  const screen = new Screen(flags);
  const content = await openAsBlob(file).catch((error: unknown) => {
    throw readError(file, error);
  });
  const { runs } = await connectForRuns(flags, screen);
  const reply = await runs.import(id, content);
  if (!reply.ok) throw runErrorOf(reply.failure);
  const { imported, already_there, refused, refused_lines, complete } = reply.body;
  for (const { line, reason, detail } of refused_lines.slice(0, MAX_REFUSALS_SHOWN)) {
    screen.message(`line ${line}: ${reason}: ${detail}`, 'red');
  }
  const parts = [`${countText(imported)} imported`, `${countText(already_there)} already there`];
  if (refused > 0) parts.push(`${countText(refused)} refused`);
  screen.message(parts.join(' · '), 'bold');
  if (!complete) screen.message('the last line does not give the number of rollouts: cut off, or edited', 'red');
  return refused === 0 && complete ? EXIT_OK : EXIT_INCOMPLETE;
}
