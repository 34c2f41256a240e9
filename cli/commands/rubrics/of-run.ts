/** `citeward rubrics list`, `show` and `edit`: the evolving rubrics of a run's prompts. */
import type { Client } from '../../../clients/typescript/client.ts';
import type { Reply } from '../../../clients/typescript/reply.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import { questionDigest } from '../../../src/rubrics/rubric-set.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import { editRequestSchema, type PromptRubricsReply } from '../../../src/wire/rubrics.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { readTextFile } from '../../shared/input.ts';
import { limitOf, printList } from '../../shared/paging.ts';
import { CITEWARD } from '../../shared/program.ts';
import { lineProblem } from '../../shared/rows.ts';
import { Screen } from '../../shared/screen.ts';
import { resultTable } from '../../shared/table.ts';
import { refusal, runErrorOf } from '../../shared/worker-failures.ts';
import { connectForRuns, runIdOf } from '../runs/options.ts';
import { editSyntax, listSyntax, showSyntax } from './of-run-options.ts';
import { CRITERION_COLUMNS, criterionRow, eventText, PROMPT_COLUMNS, promptRow } from './of-run-render.ts';

export const listCommand: Command = { ...listSyntax, run: list };
export const showCommand: Command = { ...showSyntax, run: show };
export const editCommand: Command = { ...editSyntax, run: edit };

const MAX_STEP = 1_000_000_000;

async function list(flags: Flags): Promise<number> {
  const [run] = positionalsOf(flags, 'list', 1);
  const limit = limitOf(flags);
  const screen = new Screen(flags);
  const { runs } = await connectForRuns(flags, screen);
  await printList(screen, {
    limit,
    async fetchPage(count, after) {
      const page = bodyOf(await runs.rubrics.list(run, { limit: count, ...(after === null ? {} : { after }) }));
      return { entries: page.prompts, next: page.next };
    },
    columns: PROMPT_COLUMNS,
    rowOf: promptRow,
    json: flags.isOn('json'),
    empty: 'no prompts: groups start them with evolution (docs/guides/rubrics.md)',
  });
  return EXIT_OK;
}

async function show(flags: Flags): Promise<number> {
  const [run, start] = positionalsOf(flags, 'show', 2);
  const step = flags.count('step', { min: 0, max: MAX_STEP });
  const [isLog, isJson] = [flags.isOn('log'), flags.isOn('json')];
  const screen = new Screen(flags);
  const { runs } = await connectForRuns(flags, screen);
  const prompt = await promptOf(runs, run, start);
  const query = { ...(step === null ? {} : { step }), log: isLog || isJson };
  const found = bodyOf(await runs.rubrics.retrieve(run, prompt, query));
  if (isLog) {
    for (const event of found.events ?? []) {
      await screen.result(isJson ? JSON.stringify(event) : plainLine(eventText(event)));
    }
  } else if (isJson) await screen.result(JSON.stringify(found));
  else await printCriteria(found, screen);
  return EXIT_OK;
}

async function edit(flags: Flags): Promise<number> {
  const [run, start] = positionalsOf(flags, 'edit', 2);
  const step = flags.count('step', { min: 0, max: MAX_STEP });
  if (step === null) throw new UsageError('rubrics edit needs --step N', 'The edit counts from this step on.');
  const file = flags.text('add');
  const [retire, restore] = [flags.list('retire'), flags.list('restore')];
  if (file === null && retire.length + restore.length === 0) {
    throw new UsageError('rubrics edit needs at least one of --retire, --restore and --add');
  }
  const add = file === null ? [] : await criteriaOf(file);
  const screen = new Screen(flags);
  const { runs } = await connectForRuns(flags, screen);
  const prompt = await promptOf(runs, run, start);
  const seen = bodyOf(await runs.rubrics.retrieve(run, prompt, { log: false }));
  const given = flags.text('set');
  if (given !== null && !seen.set.id.startsWith(given)) {
    throw new RunError(`the set is ${seen.set.id} by now`, SHOW_AGAIN);
  }
  const inSet = seen.set.entries.map(({ id }) => id);
  const gone = seen.inactive.map(({ id }) => id);
  const request = {
    set: seen.set.id,
    step,
    retire: retire.map((id) => idOf(id, inSet, '--retire', 'a criterion of the set')),
    restore: restore.map((id) => idOf(id, gone, '--restore', 'an inactive criterion')),
    add,
  };
  await printCriteria(bodyOf(await runs.rubrics.edit(run, prompt, request)), screen);
  return EXIT_OK;
}

async function printCriteria({ prompt, set, rules, ...lists }: PromptRubricsReply, screen: Screen): Promise<void> {
  screen.message(`prompt ${prompt} · set ${set.id} · ${rules.when}`, 'bold');
  const table = resultTable(CRITERION_COLUMNS, screen);
  for (const state of ['persistent', 'active', 'inactive'] as const) {
    for (const criterion of lists[state]) await table.add(criterionRow(state, criterion));
  }
  await table.end();
}

/** The run, and the prompt where the command takes one. @throws UsageError */
function positionalsOf({ positionals }: Flags, command: string, count: 1 | 2): [run: string, prompt: string] {
  const [run, prompt = ''] = positionals;
  const expected = `rubrics ${command} RUN${count === 1 ? '' : ' PROMPT'} --url URL`;
  if (positionals.length !== count || run === undefined) throw new UsageError(`expected: ${expected}`);
  if (count === 2 && prompt.trim() === '') throw new UsageError(`expected: ${expected}`, SEE_PROMPTS);
  return [runIdOf([run], 'show'), prompt];
}

/**
 * The whole digest of a prompt, which is given by its question, or by the first characters of its digest.
 * @throws RunError unless exactly one prompt of the run starts so.
 */
async function promptOf({ rubrics }: Client['runs'], run: string, start: string): Promise<string> {
  if (!/^[0-9a-f]{1,64}$/.test(start)) return questionDigest(start);
  if (start.length === 64) return start;
  // Pages are in the order of the digests, so one page that begins just before the start decides.
  const page = bodyOf(await rubrics.list(run, { limit: 2, ...afterOf(start) }));
  const [first, second] = page.prompts.filter(({ prompt }) => prompt.startsWith(start));
  if (first === undefined) {
    throw new RunError(`no prompt of ${run} starts with ${start}`, SEE_PROMPTS);
  }
  if (second !== undefined) throw new RunError(`several prompts of ${run} start with ${start}: give more characters`);
  return first.prompt;
}

/** The cursor before all digests that start so; nothing is before those that start with zeros only. */
function afterOf(start: string): { readonly after?: string } {
  const value = BigInt(`0x${start.padEnd(64, '0')}`);
  return value === 0n ? {} : { after: (value - 1n).toString(16).padStart(64, '0') };
}

function idOf(start: string, ids: readonly string[], flag: string, what: string): string {
  const [first, second] = ids.filter((id) => id.startsWith(start));
  if (first === undefined) throw new RunError(`${flag} ${start}: expected the id of ${what}`, SHOW_AGAIN);
  if (second !== undefined) throw new RunError(`${flag} ${start}: several criteria start so: give more characters`);
  return first;
}

/** The criteria of a file. @throws UsageError with the place of what is wrong. */
async function criteriaOf(path: string) {
  const value = parsedJson(await readTextFile(path));
  if (value === undefined) throw new UsageError(`--add ${path}: expected a JSON list of criteria`);
  const read = editRequestSchema.shape.add.safeParse(value);
  if (read.success) return read.data;
  const problems = problemsOfIssues(read.error.issues, value, []).map(lineProblem);
  throw new UsageError(
    problems.map(({ field, message }) => `--add ${path}: ${field ?? 'file'}: ${message}`).join('\n'),
  );
}

const SEE_PROMPTS = `To see the prompts: ${CITEWARD} rubrics list RUN --url URL`;
const SHOW_AGAIN = `To see the criteria: ${CITEWARD} rubrics show RUN PROMPT --url URL`;
const HINTS = new Map([
  ['rubrics_stale', SHOW_AGAIN],
  ['rubrics_not_found', SEE_PROMPTS],
  ['run_not_found', `To see the runs: ${CITEWARD} runs list --url URL`],
]);

/** @throws RunError for a failure. */
function bodyOf<T>(reply: Reply<T>): T {
  if (reply.ok) return reply.body;
  const { failure } = reply;
  throw failure.kind === 'problem' ? refusal(failure.status, failure.problem, HINTS) : runErrorOf(failure);
}
