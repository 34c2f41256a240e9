/**
 * The failures that a model backend can have, and which of them a retry could mend: decided once, by reason, so that the
 * same failure is retryable or not whichever backend had it. A detail is a constant of ours and numbers: nothing of what
 * a backend said, since an error body likes to quote the prompt.
 */
import type { JudgeFailure, JudgeFailureReason } from '../../src/judgments/types.ts';

export type BackendFailureReason = Extract<
  JudgeFailureReason,
  | 'judge_timeout'
  | 'judge_unreachable'
  | 'judge_interrupted'
  | 'judge_rate_limited'
  | 'judge_overloaded'
  | 'judge_error'
  | 'judge_unauthorized'
  | 'judge_request_refused'
  | 'judge_not_an_api'
  | 'judge_prompt_too_long'
  | 'judge_reply_cut'
  | 'judge_refusal'
  | 'judge_reply_invalid'
  | 'judge_model_mismatch'
>;

/**
 * A cut reply and a refusal come back the same from the same prompt under temperature 0, so asking again would only pay
 * again; credentials, model and address are the operator's to mend.
 */
const RETRYABLE: Readonly<Record<BackendFailureReason, boolean>> = {
  judge_timeout: true,
  judge_unreachable: true,
  judge_interrupted: true,
  judge_rate_limited: true,
  judge_overloaded: true,
  judge_error: true,
  judge_reply_invalid: true,
  judge_unauthorized: false,
  judge_request_refused: false,
  judge_not_an_api: false,
  judge_prompt_too_long: false,
  judge_reply_cut: false,
  judge_refusal: false,
  judge_model_mismatch: false,
};

/** @param retry_after_s where the backend said when to come back. */
export function backendFailure(
  reason: BackendFailureReason,
  detail: string,
  retry_after_s: number | null = null,
): JudgeFailure {
  const failure = { reason, detail, retryable: RETRYABLE[reason] };
  return retry_after_s === null ? failure : { ...failure, retry_after_s };
}

/** An outcome or reply that is nothing but a failure. */
export function failed(failure: JudgeFailure): { readonly ok: false; readonly failure: JudgeFailure } {
  return { ok: false, failure };
}
