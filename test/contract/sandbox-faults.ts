/**
 * The faults of a sandbox and the typed reason that each must become. The server of sandbox-stub.ts commits the faults.
 */
import type { JudgeFailureReason } from '../../src/judgments/protocol/failure.ts';

export type SandboxFaultRow = {
  readonly reason: JudgeFailureReason;
  readonly retryable: boolean;
  readonly retry_after_s?: number;
};

const again = (reason: JudgeFailureReason, retry_after_s?: number): SandboxFaultRow => ({
  reason,
  retryable: true,
  ...(retry_after_s === undefined ? {} : { retry_after_s }),
});
const never = (reason: JudgeFailureReason): SandboxFaultRow => ({ reason, retryable: false });

export const SANDBOX_FAULTS = {
  // The connection.
  reset_before_reply: again('sandbox_unreachable'),
  reset_in_reply: again('sandbox_unreachable'),
  silent: again('sandbox_timeout'),
  stalls_in_reply: again('sandbox_timeout'),
  // The status.
  http_400: never('sandbox_error'),
  http_401: never('sandbox_unauthorized'),
  http_403: never('sandbox_unauthorized'),
  http_404: never('sandbox_error'),
  http_413: never('sandbox_error'),
  http_422: never('sandbox_error'),
  http_429_seconds: again('sandbox_overloaded', 17),
  http_500: again('sandbox_error'),
  http_502: again('sandbox_unreachable'),
  http_503: again('sandbox_overloaded'),
  http_503_seconds: again('sandbox_overloaded', 9),
  http_504: again('sandbox_timeout'),
  http_524: again('sandbox_timeout'),
  // Replies that are not from an API.
  redirect: never('sandbox_reply_invalid'),
  html_login: never('sandbox_reply_invalid'),
  no_content_type: never('sandbox_reply_invalid'),
  // The body.
  empty: again('sandbox_unreachable'),
  cut_json: again('sandbox_unreachable'),
  endless: never('sandbox_reply_invalid'),
  other_json: again('sandbox_reply_invalid'),
  no_run_result: again('sandbox_reply_invalid'),
  unknown_status: again('sandbox_reply_invalid'),
  // Errors that the sandbox reports itself.
  sandbox_error: again('sandbox_error'),
  run_error: again('sandbox_error'),
  no_python: again('sandbox_error'),
  prints_guesses: again('sandbox_error'),
  slow_start: again('sandbox_timeout'),
} as const satisfies Readonly<Record<string, SandboxFaultRow>>;

export type SandboxFaultName = keyof typeof SANDBOX_FAULTS;

/** Occurs in every reply of the stub, and must occur in no failure of the Worker. */
export const SANDBOX_CANARY = 'KANARIENVOGEL';
