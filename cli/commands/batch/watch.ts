/**
 * Polls a batch until it ends: every second at first, then less often, and more often again shortly before its end. If
 * the Worker does not answer, polling continues, as the batch does not depend on it.
 */
import type { ClientFailure, Reply } from '../../../clients/typescript/reply.ts';
import type { Result } from '../../../src/result.ts';
import type { BatchReply, BatchStatus } from '../../../src/wire/batches/batch.ts';
import { EXIT_INCOMPLETE, EXIT_OK } from '../../shared/exit.ts';

const FIRST_POLL_MS = 1_000;
const LONGEST_POLL_MS = 10_000;
const GROWTH = 1.5;

/** The wait until the next poll, as a share of the batch's remaining time. */
const SHARE_OF_REMAINING = 1 / 4;

const OVER: ReadonlySet<BatchStatus> = new Set<BatchStatus>(['failed', 'completed', 'expired', 'cancelled']);

/** Whether a batch has ended. */
export function isOver({ status }: BatchReply): boolean {
  return OVER.has(status);
}

/** Whether only dead letters are left, so that the batch continues only after `batch redrive`. */
export function isStalled({ status, progress }: BatchReply): boolean {
  const { total, done, dead } = progress.chunks;
  return status === 'in_progress' && dead > 0 && done + dead === total;
}

type Watch = {
  readonly retrieve: () => Promise<Reply<BatchReply>>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onBatch: (batch: BatchReply) => void;
  /** Called with the reason after every poll without an answer. */
  readonly onTrouble: (why: string) => void;
};

/** A batch that has ended or stalled, or the failure of a poll that every further poll would have. */
type Watched = Result<BatchReply, ClientFailure>;

/** Polls until the batch has ended or stalls. */
export async function watchBatch({ retrieve, sleep, onBatch, onTrouble }: Watch): Promise<Watched> {
  let waitMs = FIRST_POLL_MS;
  for (;;) {
    const reply = await retrieve();
    if (reply.ok) {
      onBatch(reply.body);
      if (isOver(reply.body) || isStalled(reply.body)) return { ok: true, value: reply.body };
    } else {
      const why = retryableReason(reply.failure);
      if (why === null) return { ok: false, error: reply.failure };
      onTrouble(why);
    }
    await sleep(msUntilNextPoll(waitMs, reply.ok ? reply.body.progress.eta_s : null));
    waitMs = Math.min(LONGEST_POLL_MS, waitMs * GROWTH);
  }
}

/** @param waitMs the growing wait. @param eta_s remaining time of the batch; `null` = unknown. */
export function msUntilNextPoll(waitMs: number, eta_s: number | null): number {
  if (eta_s === null) return waitMs;
  return Math.min(LONGEST_POLL_MS, Math.max(FIRST_POLL_MS, Math.min(waitMs, eta_s * 1000 * SHARE_OF_REMAINING)));
}

/** The reason for a missing answer, if another poll may get one; else `null`. */
function retryableReason(failure: ClientFailure): string | null {
  switch (failure.kind) {
    case 'unreachable':
      return failure.why;
    case 'unexpected_reply':
      return failure.status >= 500 ? failure.detail : null;
    case 'problem':
      return failure.status >= 500 || failure.status === 429 ? `${failure.status} ${failure.problem.reason}` : null;
  }
}

/** 0 only if every line has a result. */
export function exitCodeOf({ status, request_counts }: BatchReply): number {
  return status === 'completed' && request_counts.failed === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}
