/** From an HTTP status to a typed failure: the one table, for answers and for errors inside a stream. */
import type { JudgeFailure } from '../../../src/judgments/types.ts';
import { type BackendFailureReason, backendFailure } from '../failures.ts';
import type { BackendError } from './error-body.ts';

/**
 * @param error what the body says, if anything.
 * @param retry_after_s when the server wants to be asked again, if it says so.
 */
export function failureOfStatus(
  status: number,
  error: BackendError | null,
  retry_after_s: number | null,
): JudgeFailure {
  if (error?.too_long === true && (status === 400 || status === 422)) {
    return backendFailure('judge_prompt_too_long', "prompt and reply do not fit into the model's context");
  }
  const reason = reasonOfStatus(status);
  return backendFailure(reason, `the backend answered with HTTP ${status}${MEANING[status] ?? ''}`, retry_after_s);
}

/** What an operator would look for first. */
const MEANING: Readonly<Record<number, string>> = {
  401: ': it does not take our key',
  403: ': it does not let us in',
  404: ': it does not know the model, or nothing is served under this address',
};

function reasonOfStatus(status: number): BackendFailureReason {
  switch (status) {
    case 401:
    case 403:
    case 407:
      return 'judge_unauthorized';
    case 408:
    // Gateways that waited for the server in vain; 524 is Cloudflare's.
    case 504:
    case 524:
      return 'judge_timeout';
    case 413:
      return 'judge_prompt_too_long';
    case 425:
    case 503:
    case 529:
      return 'judge_overloaded';
    case 429:
      return 'judge_rate_limited';
    case 501:
      return 'judge_request_refused';
    case 502:
    // Cloudflare's edge or tunnel could not reach the origin.
    case 520:
    case 521:
    case 522:
    case 523:
    case 525:
    case 526:
    case 530:
      return 'judge_unreachable';
    default:
      if (status >= 500) return 'judge_error';
      if (status >= 400) return 'judge_request_refused';
      // A redirect is not followed: it would carry our key elsewhere, and mostly it leads to a login page.
      return 'judge_not_an_api';
  }
}
