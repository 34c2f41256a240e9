/** Fetching the results of a batch that is over, on the command line. */
import type { Client } from '../../clients/typescript/client.ts';
import type { BatchReply } from '../../src/wire/batches/batch.ts';
import type { Flags } from '../arguments/flags.ts';
import { EXIT_INCOMPLETE } from '../command.ts';
import { LiveLine } from '../output/progress.ts';
import type { Screen } from '../output/screen.ts';
import { downloadResults } from './download.ts';
import { type ResultPaths, requireFree, resultPaths } from './paths.ts';
import { troubles } from './status-text.ts';
import { BatchTally } from './tally.ts';
import { exitCodeOf } from './wait-for.ts';

/** Where they go. @throws UsageError if something is there, and --force is not. */
export function fetchPaths(id: string, flags: Flags): ResultPaths {
  const paths = resultPaths(flags, `${id}.jsonl`);
  if (!flags.isOn('force')) requireFree(paths, '--force replaces it; --output and --errors name other files.');
  return paths;
}

export async function fetchResults(
  client: Client,
  batch: BatchReply,
  paths: ResultPaths,
  screen: Screen,
): Promise<number> {
  if (batch.status === 'failed') {
    for (const trouble of troubles(batch)) screen.message(trouble, 'red');
    screen.message(`${batch.id} failed: its input is wrong, and nothing was scored`, 'bold');
    return EXIT_INCOMPLETE;
  }
  const tally = new BatchTally();
  const line = new LiveLine(process.stderr);
  screen.show(line);
  await downloadResults({ client, batch, paths, tally, line });
  if (batch.output_file_id !== null) screen.message(`results: ${paths.output}`);
  if (batch.error_file_id !== null) screen.message(`failed lines: ${paths.errors}`);
  screen.message(tally.summary(null), 'bold');
  return exitCodeOf(batch);
}
