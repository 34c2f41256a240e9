/** `citeward runs list`, `citeward runs show` and `citeward runs delete`. */

import type { RunStep } from '../../../src/runs/summary.ts';
import type { RunReply } from '../../../src/wire/runs.ts';
import type { Flags } from '../../arguments/flags.ts';
import { type Command, EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../command.ts';
import { recipeText } from '../../output/made-by.ts';
import { Screen } from '../../output/screen.ts';
import { Table } from '../../output/table.ts';
import { runErrorOf } from '../../remote/failures.ts';
import { RUN_COLUMNS, runRow, STEP_COLUMNS, stepRow, stepTroubles } from '../../runs/table.ts';
import { RUN_FLAGS, reachRuns, runIdOf } from '../../runs/worker.ts';

const DEFAULT_LISTED = 20;
const MAX_LISTED = 10_000;
/** Of one request. */
const PAGE = 100;

export const listCommand: Command = {
  name: 'runs list',
  summary: 'The runs of a Worker, the newest first.',
  usage: ['runs list --url URL [flags]'],
  flags: [
    { name: 'limit', kind: 'text', value: 'N', help: `At most so many (default ${DEFAULT_LISTED}).` },
    { name: 'json', kind: 'switch', help: 'One run a line, as JSON.' },
    ...RUN_FLAGS,
  ],
  details: ['Exit code: 0 listed, 1 the Worker refused or went away, 2 wrong command line.'],
  run: list,
};

export const showCommand: Command = {
  name: 'runs show',
  summary: 'A run step by step: rewards, spread within groups, components, what was not scored.',
  usage: ['runs show RUN --url URL [flags]'],
  flags: [
    { name: 'from', kind: 'text', value: 'N', help: 'From step N on (default: all).' },
    { name: 'json', kind: 'switch', help: 'One step a line, as JSON.' },
    ...RUN_FLAGS,
  ],
  details: [
    'spread: mean std of the rewards within a group. no signal: groups whose rewards are all equal.',
    'cached: judgments that cost no call.',
    'Exit code: 0 shown, 1 there is no such run or the Worker went away, 2 wrong command line.',
  ],
  run: show,
};

export const deleteCommand: Command = {
  name: 'runs delete',
  summary: 'Delete a run: its ledger, reports and text. Judgments stay.',
  usage: ['runs delete RUN --yes --url URL'],
  flags: [
    { name: 'yes', kind: 'switch', help: 'Delete it: nothing brings it back but a file of runs export.' },
    ...RUN_FLAGS,
  ],
  details: ['Needs a key with the scope admin.', 'Exit code: 0 deleted, 1 not, 2 wrong command line.'],
  run: remove,
};

async function list(flags: Flags): Promise<number> {
  if (flags.positionals.length > 0) throw new UsageError('citeward runs list takes no run', 'See runs show.');
  const limit = flags.count('limit', { min: 1, max: MAX_LISTED }) ?? DEFAULT_LISTED;
  const screen = new Screen(flags.isOn('no-color'));
  const { runs } = await reachRuns(flags, screen);
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

async function show(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'show');
  let from: number | null = flags.count('from', { min: 0, max: 1_000_000_000 });
  const screen = new Screen(flags.isOn('no-color'));
  const { runs } = await reachRuns(flags, screen);
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

async function remove(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'delete');
  if (!flags.isOn('yes')) throw new UsageError(`citeward runs delete ${id}: add --yes if you mean it`);
  const screen = new Screen(flags.isOn('no-color'));
  const { runs } = await reachRuns(flags, screen);
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
