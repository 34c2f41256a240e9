/** The Worker that a batch is at: finding it, naming batches there, and the commands that go on with one. */
import type { Client } from '../../clients/typescript/client.ts';
import type { Flags } from '../arguments/flags.ts';
import { type FlagDescription, UsageError } from '../command.ts';
import type { Screen } from '../output/screen.ts';
import { connect } from '../remote/connect.ts';

export const WORKER_FLAGS: readonly FlagDescription[] = [
  { name: 'url', kind: 'text', value: 'URL', help: 'The Worker.' },
  { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
];

/** Finds the Worker. @throws UsageError where no --url says it, RunError if none answers there. */
export async function reachBatches(flags: Flags, screen: Screen): Promise<Client> {
  const url = urlOf(flags);
  return connect(url, flags.text('key'), ({ why, wait_ms }) => {
    screen.message(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`, 'dim');
  });
}

export function urlOf(flags: Flags): string {
  const url = flags.text('url');
  if (url !== null) return url;
  throw new UsageError('batches are scored by a Worker: give its --url', 'Without one: citeward batch run');
}

/** The one batch that a command is about. */
export function batchIdOf(flags: Flags, command: string): string {
  const [id, ...more] = flags.positionals;
  if (id !== undefined && more.length === 0) return id;
  throw new UsageError(`expected one batch: citeward batch ${command} ID`, 'citeward batch list shows them.');
}

/** A command to be typed next. The key stays out of it. */
export function nextCommand(action: string, id: string, flags: Flags): string {
  return `citeward batch ${action} ${id} --url ${urlOf(flags)}`;
}
