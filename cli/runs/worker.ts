/** The Worker that runs are recorded in: its address, our key, the run that a command names. */
import type { Client } from '../../clients/typescript/client.ts';
import { runIdSchema } from '../../src/runs/placement.ts';
import type { Flags } from '../arguments/flags.ts';
import { type FlagDescription, UsageError } from '../command.ts';
import type { Screen } from '../output/screen.ts';
import { connect } from '../remote/connect.ts';

export const RUN_FLAGS: readonly FlagDescription[] = [
  { name: 'url', kind: 'text', value: 'URL', help: 'The Worker.' },
  { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
];

/** Connects. @throws UsageError without a URL, RunError if no Worker answers there. */
export async function reachRuns(flags: Flags, screen: Screen): Promise<Client> {
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
