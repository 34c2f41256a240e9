/** The Worker that runs are recorded in: its address, our key, the run that a command names. */
/** `citeward runs list`, `citeward runs show` and `citeward runs delete`. */
/** `citeward runs export` and `citeward runs import`: the ledger of a run as a file, from one deployment into another. */

import type { Client } from '../../../clients/typescript/client.ts';
import { runIdSchema } from '../../../src/runs/placement.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import type { Screen } from '../../shared/screen.ts';
import { connect } from '../../shared/worker.ts';

const RUN_FLAGS: readonly FlagDescription[] = [
  { name: 'url', kind: 'text', value: 'URL', help: 'The Worker.' },
  { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
];

/** Connects. @throws UsageError without a URL, RunError if no Worker answers there. */
export async function connectForRuns(flags: Flags, screen: Screen): Promise<Client> {
  const url = flags.text('url');
  if (url === null) throw new UsageError('runs are recorded by a Worker: give its --url');
  return connect(url, flags.text('key'), ({ why, wait_ms }) => {
    screen.message(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`, 'dim');
  });
}

/** The run that the command line names first. @throws UsageError */
export function runIdOf([id]: readonly string[], command: string): string {
  if (id === undefined) throw new UsageError(`citeward runs ${command}: which run?`, 'citeward runs list shows them.');
  const read = runIdSchema.safeParse(id);
  if (!read.success) throw new UsageError(`"${id}" is no run: ${read.error.issues[0]?.message ?? 'not an id'}`);
  return read.data;
}

export const DEFAULT_LISTED = 20;

export const MAX_LISTED = 10_000;

export const listSyntax: CommandSyntax = {
  usage: ['runs list --url URL [flags]'],
  flags: [
    { name: 'limit', kind: 'text', value: 'N', help: `At most so many (default ${DEFAULT_LISTED}).` },
    { name: 'json', kind: 'switch', help: 'One run a line, as JSON.' },
    ...RUN_FLAGS,
  ],
  details: ['Exit code: 0 listed, 1 the Worker refused or went away, 2 wrong command line.'],
};

export const showSyntax: CommandSyntax = {
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
};

export const deleteSyntax: CommandSyntax = {
  usage: ['runs delete RUN --yes --url URL'],
  flags: [
    { name: 'yes', kind: 'switch', help: 'Delete it: nothing brings it back but a file of runs export.' },
    ...RUN_FLAGS,
  ],
  details: ['Needs a key with the scope admin.', 'Exit code: 0 deleted, 1 not, 2 wrong command line.'],
};

export const exportSyntax: CommandSyntax = {
  usage: ['runs export RUN --url URL > RUN.jsonl', 'runs export RUN --judgments --url URL > JUDGMENTS.jsonl'],
  flags: [
    { name: 'judgments', kind: 'switch', help: 'The judgments, for citeward judgments import elsewhere.' },
    ...RUN_FLAGS,
  ],
  details: [
    'Neither file holds text. With both, the run can be replayed in a deployment that has no judge.',
    'Exit code: 0 whole, 1 not, 2 wrong command line.',
  ],
};

export const importSyntax: CommandSyntax = {
  usage: ['runs import RUN FILE.jsonl --url URL'],
  flags: RUN_FLAGS,
  details: [
    'RUN is what it will be called there. Needs a key with the scope admin.',
    'Exit code: 0 all there, 1 lines refused or the file not whole, 2 wrong command line.',
  ],
};
