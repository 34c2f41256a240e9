/** `citeward batch wait` and `citeward batch fetch`. */
import { fetchPaths, fetchResults } from '../../batch/fetch-results.ts';
import { RESULT_FLAGS } from '../../batch/paths.ts';
import { exitCodeOf, waitForBatch } from '../../batch/wait-for.ts';
import { isOver } from '../../batch/watch.ts';
import { batchIdOf, nextCommand, reachBatches, WORKER_FLAGS } from '../../batch/worker.ts';
import { type Command, RunError } from '../../command.ts';
import { Screen } from '../../output/screen.ts';
import { runErrorOf } from '../../remote/failures.ts';

export const waitCommand: Command = {
  name: 'batch wait',
  summary: 'Wait until a batch is over, with its progress.',
  usage: ['batch wait ID --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: [
    'Ctrl-C ends the waiting, not the batch: wait again whenever you like. A Worker that does not',
    'answer for a while is waited for.',
    'Exit code: 0 completed without failed lines; 1 lines failed, or the batch failed, expired, was',
    'cancelled, or stands still with dead letters only; 2 wrong command line; 130 Ctrl-C.',
  ],
  async run(flags) {
    const id = batchIdOf(flags, 'wait');
    const screen = new Screen(flags.isOn('no-color'));
    const client = await reachBatches(flags, screen);
    const batch = await waitForBatch(client, id, flags, screen);
    if (batch.status !== 'failed') screen.message(`Next: ${nextCommand('fetch', id, flags)}`, 'dim');
    return exitCodeOf(batch);
  },
};

export const fetchCommand: Command = {
  name: 'batch fetch',
  summary: 'Bring the results of a batch that is over onto the disk.',
  usage: ['batch fetch ID --url URL [flags]'],
  flags: [...RESULT_FLAGS, ...WORKER_FLAGS],
  details: [
    'Results and failed lines go into one file each, in the order of the input; a batch without failed',
    'lines has no second file. What is there under the name of a result is whole.',
    'Exit code: 0 completed without failed lines, 1 lines failed or nothing could be fetched, 2 wrong',
    'command line.',
  ],
  async run(flags) {
    const id = batchIdOf(flags, 'fetch');
    const paths = fetchPaths(id, flags);
    const screen = new Screen(flags.isOn('no-color'));
    const client = await reachBatches(flags, screen);
    const reply = await client.batches.retrieve(id);
    if (!reply.ok) throw runErrorOf(reply.failure);
    if (!isOver(reply.body)) {
      const wait = nextCommand('wait', id, flags);
      throw new RunError(`${id} is ${reply.body.status}: there are no results yet`, `Wait for it with: ${wait}`);
    }
    return fetchResults(client, reply.body, paths, screen);
  },
};
