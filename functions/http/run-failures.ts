/** How a failure of the ledger goes over the wire. */
import { DEFAULT_RETRY_AFTER_S } from '../../src/limits.ts';
import type { Wire } from './errors.ts';

/** A rollout was scored and could not be recorded: there is no reward without its record. */
export type RunFailure = { readonly reason: 'ledger_failed'; readonly why: 'storage' | 'deleting' };

const WHY = {
  storage: 'The rollout was scored, but the ledger of its run could not be written; try again. Its judgments are kept.',
  deleting: 'The run is being deleted; try again when it is gone.',
} as const;

export function wireOfRunFailure({ reason, why }: RunFailure): Wire {
  return {
    reason,
    status: 503,
    title: 'Not recorded',
    detail: WHY[why],
    retryable: true,
    headers: { 'retry-after': String(DEFAULT_RETRY_AFTER_S) },
  };
}
