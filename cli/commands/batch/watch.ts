/**
 * Waiting for a batch: it is asked for every second at first, then less and less often, and more often again when it is
 * nearly done. A Worker that does not answer for a while is waited for, as the batch goes on or stands still without us.
 */
/** Waiting for a batch on the command line: its progress, how it ended, and what Ctrl-C leaves. */

import type { ClientFailure, Reply } from '../../../clients/typescript/reply.ts';
import type { BatchReply, BatchStatus } from '../../../src/wire/batches/batch.ts';
import { EXIT_INCOMPLETE, EXIT_OK } from '../../shared/exit.ts';

const FIRST_POLL_MS = 1_000;

const LONGEST_POLL_MS = 10_000;

const GROWTH = 1.5;

/** Of the time that is left, so much passes until the next look. */
const SHARE_OF_REST = 1 / 4;

const OVER: ReadonlySet<BatchStatus> = new Set<BatchStatus>(['failed', 'completed', 'expired', 'cancelled']);

export function isOver({ status }: BatchReply): boolean {
  return OVER.has(status);
}

/** Whether nothing moves any more until somebody redrives it: all that is left are dead letters. */
export function isStalled({ status, progress }: BatchReply): boolean {
  const { total, done, dead } = progress.chunks;
  return status === 'in_progress' && dead > 0 && done + dead === total;
}

type Watch = {
  readonly retrieve: () => Promise<Reply<BatchReply>>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onBatch: (batch: BatchReply) => void;
  /** Told of every look that came to nothing. */
  readonly onTrouble: (why: string) => void;
};

type Watched =
  /** Over, or stalled. */
  | { readonly ok: true; readonly batch: BatchReply }
  /** Looking again would not help. */
  | { readonly ok: false; readonly failure: ClientFailure };

/** Looks until there is nothing more to wait for. */
export async function watchBatch({ retrieve, sleep, onBatch, onTrouble }: Watch): Promise<Watched> {
  let wait = FIRST_POLL_MS;
  for (;;) {
    const reply = await retrieve();
    if (reply.ok) {
      onBatch(reply.body);
      if (isOver(reply.body) || isStalled(reply.body)) return { ok: true, batch: reply.body };
    } else {
      const why = passingTrouble(reply.failure);
      if (why === null) return reply;
      onTrouble(why);
    }
    await sleep(msUntilNextPoll(wait, reply.ok ? reply.body.progress.eta_s : null));
    wait = Math.min(LONGEST_POLL_MS, wait * GROWTH);
  }
}

/** Milliseconds. @param wait as it has grown by now. */
export function msUntilNextPoll(wait: number, eta_s: number | null): number {
  if (eta_s === null) return wait;
  return Math.min(LONGEST_POLL_MS, Math.max(FIRST_POLL_MS, Math.min(wait, eta_s * 1000 * SHARE_OF_REST)));
}

/** Why there was no answer, if another try may have one; else `null`. */
function passingTrouble(failure: ClientFailure): string | null {
  switch (failure.kind) {
    case 'unreachable':
      return failure.why;
    case 'unexpected_reply':
      return failure.status >= 500 ? failure.detail : null;
    case 'problem':
      return failure.status >= 500 || failure.status === 429 ? `${failure.status} ${failure.problem.reason}` : null;
  }
}

/** 0 only where every line has its result. */
export function exitCodeOf({ status, request_counts }: BatchReply): number {
  return status === 'completed' && request_counts.failed === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}
