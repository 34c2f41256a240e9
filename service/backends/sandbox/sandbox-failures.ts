/**
 * Maps each fault of a sandbox call to the failure that the caller gets: reason, text, and whether a retry may help.
 * The text is fixed and never quotes the sandbox, because the sandbox's messages quote programs.
 */

import { kindOfStatus } from '../../../lib/model-servers/dialects/error-reply.ts';
import type { JudgeFailure, JudgeFailureReason } from '../../../src/judgments/protocol/failure.ts';
import type { HarnessFault } from '../../../src/judgments/sandbox/run-code.ts';

/** The faults of a call to the sandbox, and of the content of its reply. */
export type SandboxFault =
  | HarnessFault
  | 'unreachable'
  | 'broke_off'
  | 'timed_out'
  | 'gateway_timed_out'
  | 'overloaded'
  | 'unauthorized'
  | 'server_error'
  | 'refused'
  | 'not_an_api'
  | 'too_large';

type Described = {
  readonly reason: Extract<JudgeFailureReason, `sandbox_${string}` | 'equivalence_undecided'>;
  readonly detail: string;
  readonly retryable: boolean;
};

const retryable = (reason: Described['reason'], detail: string): Described => ({ reason, detail, retryable: true });
const permanent = (reason: Described['reason'], detail: string): Described => ({ reason, detail, retryable: false });

/**
 * The failure of each fault. A fault is permanent if a retry cannot fix it, such as wrong credentials, a wrong address,
 * a missing library, or an invalid test of the caller.
 */
const FAULTS: Readonly<Record<SandboxFault, Described>> = {
  unreachable: retryable('sandbox_unreachable', 'the sandbox cannot be reached'),
  broke_off: retryable('sandbox_unreachable', 'the reply of the sandbox broke off'),
  timed_out: retryable('sandbox_timeout', 'the sandbox had not answered at the deadline'),
  gateway_timed_out: retryable('sandbox_timeout', 'the gateway in front of the sandbox timed out'),
  start_slow: retryable('sandbox_timeout', 'the sandbox did not start Python in time'),
  overloaded: retryable('sandbox_overloaded', 'the sandbox has no room'),
  unauthorized: permanent('sandbox_unauthorized', 'the sandbox does not let us in'),
  server_error: retryable('sandbox_error', 'the sandbox answered with an error'),
  sandbox_failed: retryable('sandbox_error', 'the sandbox could not run what it was given'),
  not_started: retryable('sandbox_error', 'the harness did not run in the sandbox: does it have Python?'),
  refused: permanent('sandbox_error', 'the sandbox does not take the request'),
  library_missing: permanent('sandbox_error', 'SymPy is not installed in the sandbox'),
  test_not_python: permanent('sandbox_error', 'the assert of a test is not Python'),
  not_an_api: permanent('sandbox_reply_invalid', 'the answer is not one of a sandbox: is the address right?'),
  reply_malformed: retryable('sandbox_reply_invalid', 'the reply of the sandbox lacks what it must hold'),
  too_large: permanent('sandbox_reply_invalid', 'the reply of the sandbox is too large'),
  reference_unread: permanent('equivalence_undecided', 'the reference is not an expression that can be read'),
  comparison_open: permanent('equivalence_undecided', 'comparing the answers took too long or decided nothing'),
};

/** Creates the failure of a fault. @param retry_after_s `Retry-After` in seconds; `null` = none. */
export function sandboxFailure(fault: SandboxFault, retry_after_s: number | null = null): JudgeFailure {
  return retry_after_s === null ? { ...FAULTS[fault] } : { ...FAULTS[fault], retry_after_s };
}

/** Maps an HTTP status other than 200 to a fault. */
export function sandboxFaultOfStatus(status: number): SandboxFault {
  const kind = kindOfStatus(status);
  switch (kind) {
    case 'unauthorized':
    case 'unreachable':
    case 'overloaded':
    case 'not_an_api':
      return kind;
    case 'timeout':
      return 'gateway_timed_out';
    case 'rate_limited':
      return 'overloaded';
    case 'error':
      return 'server_error';
    case 'request_refused':
    // `kindOfStatus` reads a 413 as `prompt_too_long`. A sandbox request has no prompt: the sandbox refused the
    // request.
    case 'prompt_too_long':
      return 'refused';
  }
}
