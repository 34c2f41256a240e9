/**
 * The failures that a sandbox can have, and which of them a retry could mend: decided once, by kind. A detail is a constant
 * of ours and numbers: nothing of what a server said, since its messages quote programs.
 */

import { kindOfStatus } from '../../../lib/model-servers/dialects/error-reply.ts';
import type { HarnessFault } from '../../../src/judgments/sandbox/run-code.ts';
import type { JudgeFailure, JudgeFailureReason } from '../../../src/judgments/types.ts';

/** What can go wrong on the way to a reply, and what a reply can lack. */
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

const again = (reason: Described['reason'], detail: string): Described => ({ reason, detail, retryable: true });
const never = (reason: Described['reason'], detail: string): Described => ({ reason, detail, retryable: false });

/** Credentials, address, libraries and the caller's own tests are not mended by asking again. */
const FAULTS: Readonly<Record<SandboxFault, Described>> = {
  unreachable: again('sandbox_unreachable', 'the sandbox cannot be reached'),
  broke_off: again('sandbox_unreachable', 'the reply of the sandbox broke off'),
  timed_out: again('sandbox_timeout', 'the sandbox had not answered at the deadline'),
  gateway_timed_out: again('sandbox_timeout', 'what stands before the sandbox waited for it in vain'),
  start_slow: again('sandbox_timeout', 'the sandbox did not start Python in time'),
  overloaded: again('sandbox_overloaded', 'the sandbox has no room'),
  unauthorized: never('sandbox_unauthorized', 'the sandbox does not let us in'),
  server_error: again('sandbox_error', 'the sandbox answered with an error'),
  sandbox_failed: again('sandbox_error', 'the sandbox could not run what it was given'),
  not_started: again('sandbox_error', 'the harness did not run in the sandbox: does it have Python?'),
  refused: never('sandbox_error', 'the sandbox does not take the request'),
  library_missing: never('sandbox_error', 'SymPy is not installed in the sandbox'),
  test_not_python: never('sandbox_error', 'the assert of a test is not Python'),
  not_an_api: never('sandbox_reply_invalid', 'the answer is not one of a sandbox: is the address right?'),
  reply_malformed: again('sandbox_reply_invalid', 'the reply of the sandbox lacks what it must hold'),
  too_large: never('sandbox_reply_invalid', 'the reply of the sandbox is too large'),
  reference_unread: never('equivalence_undecided', 'the reference is not an expression that can be read'),
  comparison_open: never('equivalence_undecided', 'comparing the answers took too long or decided nothing'),
};

/** @param retry_after_s where the server said when to come back. */
export function sandboxFailure(fault: SandboxFault, retry_after_s: number | null = null): JudgeFailure {
  return retry_after_s === null ? { ...FAULTS[fault] } : { ...FAULTS[fault], retry_after_s };
}

/** From an HTTP status other than 200 to what it means. */
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
    // Of a model server a 413 says that the prompt is too long.
    case 'prompt_too_long':
      return 'refused';
  }
}
