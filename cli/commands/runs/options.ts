/** The flags of the `citeward runs` commands. */

import type { Client } from '../../../clients/typescript/client.ts';
import { runIdSchema } from '../../../src/runs/row.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { LIMIT_FLAG } from '../../shared/paging.ts';
import { CITEWARD } from '../../shared/program.ts';
import type { Screen } from '../../shared/screen.ts';
import { connect, WORKER_FLAGS } from '../../shared/worker.ts';

export const listSyntax: CommandSyntax = {
  json: 'a run: an entry of `RunList`',
  usage: ['runs list --url URL [flags]'],
  flags: [LIMIT_FLAG, { name: 'json', kind: 'switch', help: 'Print one run a line, as JSON.' }, ...WORKER_FLAGS],
  details: ['Exit code: 0 listed, 1 the Worker refused or stopped answering, 2 wrong command line.'],
};

export const showSyntax: CommandSyntax = {
  json: 'a step: a step of `Run`; with `--reasons` a reason and its place',
  usage: ['runs show RUN --url URL [flags]'],
  flags: [
    { name: 'from', kind: 'text', value: 'N', help: 'The first step to show (default: all steps).' },
    { name: 'reasons', kind: 'switch', help: 'Print the reasons that score --store-reasons kept, one a line.' },
    { name: 'json', kind: 'switch', help: 'Print one step, or one reason, a line, as JSON.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'spread: mean std of the rewards within a group. no signal: groups whose rewards are all equal.',
    'cached: judgments from the store, without a judge call.',
    'Exit code: 0 shown, 1 there is no such run or the Worker stopped answering, 2 wrong command line.',
  ],
};

export const titleSyntax: CommandSyntax = {
  usage: ['runs title RUN TITLE --url URL'],
  flags: WORKER_FLAGS,
  details: [
    'Lists show the title beside the id. An empty TITLE ("") removes it.',
    'Exit code: 0 set, 1 there is no such run or the Worker stopped answering, 2 wrong command line.',
  ],
};

export const deleteSyntax: CommandSyntax = {
  usage: ['runs delete RUN --yes --url URL'],
  flags: [
    { name: 'yes', kind: 'switch', help: 'Confirm. Only a file of runs export can restore the run.' },
    ...WORKER_FLAGS,
  ],
  details: ['Needs a key with the scope admin.', 'Exit code: 0 deleted, 1 not deleted, 2 wrong command line.'],
};

export const exportSyntax: CommandSyntax = {
  usage: [
    'runs export RUN --url URL > RUN.jsonl',
    'runs export RUN --judgments --url URL > JUDGMENTS.jsonl',
    'runs export RUN --tensorboard DIR --url URL',
    'runs export RUN --wandb NAME --url URL',
  ],
  flags: [
    { name: 'judgments', kind: 'switch', help: 'Export the judgments, for judgments import.' },
    {
      name: 'tensorboard',
      kind: 'text',
      value: 'DIR',
      help: 'Write the figures of each step there, as a TensorBoard event file.',
    },
    {
      name: 'wandb',
      kind: 'text',
      value: 'NAME',
      help: 'Log the figures of each step to this W&B project, with python3 and its wandb.',
    },
    { name: 'dry-run', kind: 'switch', help: 'With --wandb: print the figures, one step a line, and log nothing.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'Neither file holds text. With both, the run can be replayed in a deployment without a judge.',
    'The variables of wandb apply, such as WANDB_MODE=offline.',
    'Exit code: 0 complete, 1 incomplete, 2 wrong command line.',
  ],
};

export const importSyntax: CommandSyntax = {
  usage: ['runs import RUN RUN.jsonl --url URL'],
  flags: WORKER_FLAGS,
  details: [
    'RUN is the id of the run in that Worker. Needs a key with the scope admin.',
    'Exit code: 0 all imported or already there, 1 lines refused or the file incomplete, 2 wrong command',
    'line.',
  ],
};

/** @throws UsageError without `--url`, RunError if no Worker answers there. */
export function connectForRuns(flags: Flags, screen: Screen): Promise<Client> {
  const missing = new UsageError('only a Worker records runs: give its --url');
  return connect(flags, (text) => screen.message(text, 'dim'), missing);
}

/** The id of the run on the command line. @throws UsageError */
export function runIdOf([id]: readonly string[], command: string): string {
  if (id === undefined) {
    throw new UsageError(`expected a run: runs ${command} RUN`, `To see the ids: ${CITEWARD} runs list --url URL`);
  }
  const read = runIdSchema.safeParse(id);
  if (read.success) return read.data;
  throw new UsageError(`"${id}" is not the id of a run: ${read.error.issues[0]?.message ?? 'expected an id'}`);
}
