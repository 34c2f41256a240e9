/** `citeward runs list`, `citeward runs show` and `citeward runs delete`. */
/** `citeward runs export` and `citeward runs import`: the ledger of a run as a file, from one deployment into another. */

import { openAsBlob } from 'node:fs';
import { readRecordLine } from '../../../src/judgments/record-file.ts';
import { MAX_IMPORT_LINE_BYTES, MAX_RUN_IMPORT_LINE_BYTES } from '../../../src/limits.ts';
import { readRunLine } from '../../../src/runs/run-file.ts';
import type { RunStep } from '../../../src/runs/summary.ts';
import type { RunReply } from '../../../src/wire/runs.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { readLines } from '../../shared/lines.ts';
import { Screen } from '../../shared/screen.ts';
import { recipeText } from '../../shared/summary.ts';
import { Table } from '../../shared/table.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import {
  connectForRuns,
  DEFAULT_LISTED,
  deleteSyntax,
  exportSyntax,
  importSyntax,
  listSyntax,
  MAX_LISTED,
  runIdOf,
  showSyntax,
} from './options.ts';
import { RUN_COLUMNS, runRow, STEP_COLUMNS, stepRow, stepTroubles } from './render.ts';

/** Of one request. */
const PAGE = 100;

export const listCommand: Command = { ...listSyntax, run: runList };

export const showCommand: Command = { ...showSyntax, run: runShow };

export const deleteCommand: Command = { ...deleteSyntax, run: runDelete };

async function runList(flags: Flags): Promise<number> {
  if (flags.positionals.length > 0) throw new UsageError('citeward runs runList takes no run', 'See runs show.');
  const limit = flags.count('limit', { min: 1, max: MAX_LISTED }) ?? DEFAULT_LISTED;
  const screen = new Screen(flags.isOn('no-color'));
  const { runs } = await connectForRuns(flags, screen);
  const table = new Table(RUN_COLUMNS, screen.width, screen.resultStyle, (line) => screen.result(line));
  const print = (run: RunReply): Promise<void> =>
    flags.isOn('json') ? screen.result(JSON.stringify(run)) : table.add(runRow(run));
  let left = limit;
  let after: string | null = null;
  while (left > 0) {
    const page = await runs.list({ limit: Math.min(PAGE, left), ...(after === null ? {} : { after }) });
    if (!page.ok) throw runErrorOf(page.failure);
    const { runs: found, next }: typeof page.body = page.body;
    for (const run of found) await print(run);
    left -= found.length;
    if (next === null) break;
    after = next;
  }
  await table.end();
  if (left === limit) screen.message('no runs', 'dim');
  return EXIT_OK;
}

async function runShow(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'show');
  let from: number | null = flags.count('from', { min: 0, max: 1_000_000_000 });
  const screen = new Screen(flags.isOn('no-color'));
  const { runs } = await connectForRuns(flags, screen);
  const table = new Table(STEP_COLUMNS, screen.width, screen.resultStyle, (line) => screen.result(line));
  const troubles: string[] = [];
  const print = (step: RunStep): Promise<void> =>
    flags.isOn('json') ? screen.result(JSON.stringify(step)) : table.add(stepRow(step));
  for (;;) {
    const page = await runs.retrieve(id, { limit: PAGE, ...(from === null ? {} : { from_step: from }) });
    if (!page.ok) throw runErrorOf(page.failure);
    const { family, recipes, rollouts, steps, next_step }: typeof page.body = page.body;
    if (troubles.length === 0 && from === null) {
      const names = recipes.map(recipeText);
      screen.message(`${id} · ${family} · ${rollouts} rollouts · ${names.join(', ')}`, 'bold');
    }
    for (const step of steps) {
      await print(step);
      troubles.push(...stepTroubles(step));
    }
    if (next_step === null) break;
    from = next_step;
  }
  await table.end();
  for (const trouble of troubles.slice(0, MAX_TROUBLES_SHOWN)) screen.message(trouble, 'red');
  return EXIT_OK;
}

const MAX_TROUBLES_SHOWN = 20;

async function runDelete(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'delete');
  if (!flags.isOn('yes')) throw new UsageError(`citeward runs delete ${id}: add --yes if you mean it`);
  const screen = new Screen(flags.isOn('no-color'));
  const { runs } = await connectForRuns(flags, screen);
  for (let round = 0; round < MAX_DELETE_ROUNDS; round++) {
    const reply = await runs.delete(id);
    if (!reply.ok) throw runErrorOf(reply.failure);
    if (reply.body.complete) {
      screen.message(`${id} deleted`, 'bold');
      return EXIT_OK;
    }
  }
  screen.message(`${id} is hidden, but not all of it is removed yet: delete it again`, 'red');
  return EXIT_INCOMPLETE;
}

const MAX_DELETE_ROUNDS = 1_000;

/** Refused lines that are named; the rest are counted. */
const MAX_REFUSALS_SHOWN = 20;

export const exportCommand: Command = { ...exportSyntax, run: runExport };

export const importCommand: Command = { ...importSyntax, run: runImport };

async function runExport(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'export');
  const screen = new Screen(flags.isOn('no-color'));
  const { runs } = await connectForRuns(flags, screen);
  const isJudgments = flags.isOn('judgments');
  const opened = await (isJudgments ? runs.judgments(id) : runs.export(id));
  if (!opened.ok) throw runErrorOf(opened.failure);
  const counts = { lines: 0, missing: 0, whole: false };
  for await (const { content } of readLines(chunksOf(opened.body), LINE_BYTES)) {
    if (!content.ok) throw new RunError('the Worker gave an unexpected reply: a line that cannot be read');
    await screen.result(content.text);
    const kind = isJudgments ? await judgmentLineKind(content.text) : runLineKind(content.text);
    if (kind === 'end') counts.whole = true;
    if (kind === 'missing') counts.missing++;
    if (kind === 'rollout' || kind === 'judgment') counts.lines++;
  }
  const missing = counts.missing > 0 ? ` · ${counts.missing} not there` : '';
  screen.message(`${counts.lines} ${isJudgments ? 'judgments' : 'rollouts'}${missing}`, 'bold');
  if (!counts.whole) screen.message('the connection broke: the file is not whole', 'red');
  return counts.whole && counts.missing === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

const LINE_BYTES = Math.max(MAX_IMPORT_LINE_BYTES, MAX_RUN_IMPORT_LINE_BYTES);

async function judgmentLineKind(text: string): Promise<string | null> {
  const read = await readRecordLine(text);
  return read.ok ? read.line.kind : null;
}

function runLineKind(text: string): string | null {
  const read = readRunLine(text);
  return read.ok ? read.line.kind : null;
}

/** A connection that breaks ends the lines: the last one is missing then. */
async function* chunksOf(content: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = content.getReader();
  for (;;) {
    const read = await reader.read().catch(() => null);
    if (read === null || read.done) return;
    yield read.value;
  }
}

async function runImport(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'import');
  const [, file] = flags.positionals;
  if (file === undefined) throw new UsageError('expected: citeward runs import RUN FILE.jsonl');
  const screen = new Screen(flags.isOn('no-color'));
  const content = await openAsBlob(file).catch(() => {
    throw new UsageError(`cannot read ${file}`);
  });
  const { runs } = await connectForRuns(flags, screen);
  const reply = await runs.import(id, content);
  if (!reply.ok) throw runErrorOf(reply.failure);
  const { imported, already_there, refused, refused_lines, complete } = reply.body;
  for (const { line, reason, detail } of refused_lines.slice(0, MAX_REFUSALS_SHOWN)) {
    screen.message(`line ${line}: ${reason}: ${detail}`, 'red');
  }
  const parts = [`${imported} imported`, `${already_there} already there`];
  if (refused > 0) parts.push(`${refused} refused`);
  screen.message(parts.join(' · '), 'bold');
  if (!complete)
    screen.message('the file does not end with the right count of its rollouts: cut off, or edited', 'red');
  return refused === 0 && complete ? EXIT_OK : EXIT_INCOMPLETE;
}
