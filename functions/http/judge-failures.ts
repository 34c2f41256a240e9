/** How failed judgments go over the wire. The details are constants of ours: nothing of what a caller or a backend said. */
import type { JudgeFailure, JudgeFailureReason } from '../../src/judgments/types.ts';
import { DEFAULT_RETRY_AFTER_S } from '../../src/limits.ts';
import type { Wire } from './errors.ts';

/** Status and title of a needed judgment that could not be had. */
const JUDGE_FAILURES: Readonly<Record<JudgeFailureReason, { readonly status: number; readonly title: string }>> = {
  judge_unconfigured: { status: 503, title: 'No judge is configured' },
  judge_unknown: { status: 422, title: 'Judge unknown' },
  judge_capacity: { status: 503, title: 'No capacity for judging' },
  judge_circuit_open: { status: 503, title: 'The judge is resting after failures' },
  judge_timeout: { status: 503, title: 'The judge took too long' },
  judge_unreachable: { status: 503, title: 'The judge is unreachable' },
  judge_interrupted: { status: 503, title: 'The judge broke off' },
  judge_rate_limited: { status: 503, title: 'The judge is rate limited' },
  judge_overloaded: { status: 503, title: 'The judge is overloaded' },
  judge_error: { status: 503, title: 'The judge failed' },
  judge_unauthorized: { status: 503, title: 'The judge refused our credentials' },
  judge_request_refused: { status: 503, title: 'The judge refused the request' },
  judge_not_an_api: { status: 503, title: 'The judge answered with something else' },
  judge_prompt_too_long: { status: 422, title: 'Too long for the judge' },
  judge_reply_cut: { status: 503, title: "The judge's reply was cut off" },
  judge_refusal: { status: 503, title: 'The judge refused to judge' },
  judge_reply_invalid: { status: 503, title: "The judge's reply is no judgment" },
  judge_model_mismatch: { status: 503, title: 'Another model answered' },
  sandbox_unconfigured: { status: 503, title: 'No sandbox is configured' },
  sandbox_unreachable: { status: 503, title: 'The sandbox is unreachable' },
  sandbox_timeout: { status: 503, title: 'The sandbox took too long' },
  sandbox_overloaded: { status: 503, title: 'The sandbox is overloaded' },
  sandbox_unauthorized: { status: 503, title: 'The sandbox refused our credentials' },
  sandbox_error: { status: 503, title: 'The sandbox failed' },
  sandbox_reply_invalid: { status: 503, title: "The sandbox's reply is no verdict" },
  equivalence_undecided: { status: 422, title: 'The answers cannot be compared' },
  judgment_missing: { status: 409, title: 'Judgment missing' },
  judgment_skipped: { status: 409, title: 'Judgment skipped' },
  judgment_store_failed: { status: 503, title: 'The judgment store failed' },
  judgment_record_invalid: { status: 503, title: 'The judgment is unusable' },
};

export function wireOfJudgeFailure({ reason, detail, retryable, retry_after_s }: JudgeFailure): Wire {
  const seconds = retry_after_s ?? DEFAULT_RETRY_AFTER_S;
  return {
    reason,
    ...JUDGE_FAILURES[reason],
    detail,
    retryable,
    // Without retryable there is no time after which a retry makes sense.
    ...(retryable ? { headers: { 'retry-after': String(Math.ceil(seconds)) } } : {}),
  };
}
