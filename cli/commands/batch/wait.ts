/** `citeward batch wait`: shows the progress of a batch until it ends, and how it ended. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../../clients/typescript/client.ts';
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import type { Command } from '../../shared/command.ts';
import { RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { Screen } from '../../shared/screen.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { batchIdOf, connectForBatches, nextCommand, waitSyntax } from './options.ts';
import { BatchProgress, endText, problemsOf } from './render.ts';
import { exitCodeOf, isOver, isStalled, watchBatch } from './watch.ts';

export const waitCommand: Command = { ...waitSyntax, run: runWait };

async function runWait(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'wait');
  const screen = new Screen(flags);
  const client = await connectForBatches(flags, screen);
  const batch = await waitForBatch(client, id, flags, screen);
  if (batch.status !== 'failed') screen.message(`Next: ${nextCommand('fetch', id, flags)}`, 'dim');
  return exitCodeOf(batch);
}

/** Waits until a batch ends. @throws RunError if the Worker refuses, or if only dead letters are left. */
export async function waitForBatch(client: Client, id: string, flags: Flags, screen: Screen): Promise<BatchReply> {
  const progress = new BatchProgress(screen);
  const resume = nextCommand('wait', id, flags);
  const removeHandler = onInterruption(() => {
    screen.message(`${id} continues in the Worker. Wait for it again with: ${resume}`, 'bold');
  });
  const watched = await watchBatch({
    // One attempt for each poll: watchBatch retries and reports the reason.
    retrieve: () => client.batches.retrieve(id, { attempts: 1 }),
    sleep: async (ms) => {
      await pause(ms);
    },
    // The end of the batch is printed below.
    onBatch: (batch) => {
      if (!isOver(batch)) progress.show(batch);
    },
    onTrouble: (why) => progress.connectionLost(why),
  });
  progress.end();
  removeHandler();
  if (!watched.ok) throw runErrorOf(watched.error);
  const { value: batch } = watched;
  for (const problem of problemsOf(batch)) screen.message(problem, 'red');
  if (isStalled(batch)) {
    const redrive = nextCommand('redrive', id, flags);
    throw new RunError(`${id} has stopped: only dead letters are left`, `Retry them with: ${redrive}`);
  }
  screen.message(endText(batch), 'bold');
  return batch;
}
