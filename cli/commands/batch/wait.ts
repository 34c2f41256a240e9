/** `citeward batch wait` and `citeward batch fetch`. */
/** Waiting for a batch on the command line: its progress, how it ended, and what Ctrl-C leaves. */

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
import { BatchProgress, endText, troubles } from './render.ts';
import { exitCodeOf, isOver, isStalled, watchBatch } from './watch.ts';

export const waitCommand: Command = { ...waitSyntax, run: runWait };

async function runWait(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'wait');
  const screen = new Screen(flags.isOn('no-color'));
  const client = await connectForBatches(flags, screen);
  const batch = await waitForBatch(client, id, flags, screen);
  if (batch.status !== 'failed') screen.message(`Next: ${nextCommand('fetch', id, flags)}`, 'dim');
  return exitCodeOf(batch);
}

/** Waits until a batch is over. @throws RunError if the Worker refuses, or if only dead letters are left. */
export async function waitForBatch(client: Client, id: string, flags: Flags, screen: Screen): Promise<BatchReply> {
  const progress = new BatchProgress(screen);
  const resume = nextCommand('wait', id, flags);
  const waited = onInterruption(() => {
    screen.message(`${id} goes on without us. Wait for it again with: ${resume}`, 'bold');
  });
  const watched = await watchBatch({
    // One attempt a look: the watch itself is the retry, and says what it sees.
    retrieve: () => client.batches.retrieve(id, { attempts: 1 }),
    sleep: async (ms) => {
      await pause(ms);
    },
    // How it ended is said below.
    onBatch: (batch) => {
      if (!isOver(batch)) progress.show(batch);
    },
    onTrouble: (why) => progress.trouble(why),
  });
  progress.end();
  waited();
  if (!watched.ok) throw runErrorOf(watched.failure);
  const { batch } = watched;
  for (const trouble of troubles(batch)) screen.message(trouble, 'red');
  if (isStalled(batch)) {
    const redrive = nextCommand('redrive', id, flags);
    throw new RunError(`${id} stands still: what is left are dead letters`, `Try them again with: ${redrive}`);
  }
  screen.message(endText(batch), 'bold');
  return batch;
}
