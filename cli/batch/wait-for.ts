/** Waiting for a batch on the command line: its progress, how it ended, and what Ctrl-C leaves. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../clients/typescript/client.ts';
import type { BatchReply } from '../../src/wire/batches/batch.ts';
import type { Flags } from '../arguments/flags.ts';
import { EXIT_INCOMPLETE, EXIT_OK, RunError } from '../command.ts';
import { onInterruption } from '../interruption.ts';
import { countText, durationText } from '../output/progress.ts';
import type { Screen } from '../output/screen.ts';
import { runErrorOf } from '../remote/failures.ts';
import { BatchProgress } from './progress.ts';
import { troubles } from './status-text.ts';
import { isOver, isStalled, watchBatch } from './watch.ts';
import { nextCommand } from './worker.ts';

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

/** `batch_x: completed · 19 lines · 17 done · 2 failed · 4.0 s` */
export function endText({ id, status, request_counts, in_progress_at, ...times }: BatchReply): string {
  const { total, completed, failed } = request_counts;
  const parts = [`${id}: ${status}`];
  if (total > 0) parts.push(`${countText(total)} lines`, `${countText(completed)} done`);
  if (failed > 0) parts.push(`${countText(failed)} failed`);
  const end = times.completed_at ?? times.expired_at ?? times.cancelled_at;
  // Both are whole seconds.
  if (end !== null && in_progress_at !== null && end > in_progress_at) parts.push(durationText(end - in_progress_at));
  return parts.join(' · ');
}

/** 0 only where every line has its result. */
export function exitCodeOf({ status, request_counts }: BatchReply): number {
  return status === 'completed' && request_counts.failed === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}
