/** `citeward batch cancel` and `citeward batch redrive`. */
import { batchIdOf, nextCommand, reachBatches, WORKER_FLAGS } from '../../batch/worker.ts';
import { type Command, EXIT_OK } from '../../command.ts';
import { Screen } from '../../output/screen.ts';
import { runErrorOf } from '../../remote/failures.ts';

const EXIT_DETAILS = 'Exit code: 0 done, 1 the Worker refused or went away, 2 wrong command line.';

export const cancelCommand: Command = {
  name: 'batch cancel',
  summary: 'End a batch; what is scored by then is kept.',
  usage: ['batch cancel ID --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: ['Requests that were not made are lines of the error file: batch_cancelled.', EXIT_DETAILS],
  async run(flags) {
    const id = batchIdOf(flags, 'cancel');
    const screen = new Screen(flags.isOn('no-color'));
    const client = await reachBatches(flags, screen);
    const reply = await client.batches.cancel(id);
    if (!reply.ok) throw runErrorOf(reply.failure);
    screen.message(`${id} is ${reply.body.status}`, 'bold');
    screen.message(`Next: ${nextCommand('wait', id, flags)}`, 'dim');
    return EXIT_OK;
  },
};

export const redriveCommand: Command = {
  name: 'batch redrive',
  summary: 'Try the dead letters of a batch anew.',
  usage: ['batch redrive ID --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: [
    'Dead letters are chunks that failed again and again for no reason of their lines; batch status',
    'names them. They keep the batch open until its window ends.',
    EXIT_DETAILS,
  ],
  async run(flags) {
    const id = batchIdOf(flags, 'redrive');
    const screen = new Screen(flags.isOn('no-color'));
    const client = await reachBatches(flags, screen);
    const reply = await client.batches.redrive(id);
    if (!reply.ok) throw runErrorOf(reply.failure);
    const { redriven } = reply.body;
    screen.message(`${redriven} ${redriven === 1 ? 'chunk is' : 'chunks are'} tried anew`, 'bold');
    if (redriven > 0) screen.message(`Next: ${nextCommand('wait', id, flags)}`, 'dim');
    return EXIT_OK;
  },
};
