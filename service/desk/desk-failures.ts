/** Failures that a desk or its client produces itself. They are constants and contain no text of a caller. */
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';

export const CIRCUIT_OPEN: JudgeFailure = {
  reason: 'judge_circuit_open',
  detail: 'the circuit breaker is open after repeated failures of the judge; retry later',
  retryable: true,
};

export const DESK_FULL: JudgeFailure = {
  reason: 'judge_capacity',
  detail: 'too many prompts wait for a judge; retry later',
  retryable: true,
  retry_after_s: 10,
};

/** The judgment store takes no writes, so more judgments than the desk may keep wait for it. */
export const STORE_BEHIND: JudgeFailure = {
  reason: 'judge_capacity',
  detail: 'too many judgments wait for the judgment store; retry later',
  retryable: true,
  retry_after_s: 30,
};

export const NO_SLOT: JudgeFailure = {
  reason: 'judge_capacity',
  detail: 'all slots of the judge stayed busy until the deadline; retry later',
  retryable: true,
  retry_after_s: 10,
};

/**
 * The deadline of one caller passed while the judge call was waiting or running. The call continues, and the next
 * request for the same judgment joins it, or finds the judgment.
 */
export const STILL_RUNNING: JudgeFailure = {
  reason: 'judge_running',
  detail: 'the judge call is still running; retry to join it',
  retryable: true,
  retry_after_s: 1,
};

/** The judge took longer than `timeout_s`. */
export const TIMED_OUT: JudgeFailure = {
  reason: 'judge_timeout',
  detail: "the judge did not answer within its backend's timeout_s",
  retryable: true,
};

/** A desk did not answer in time, and nothing is known of the judge. */
export const DESK_LATE: JudgeFailure = {
  reason: 'judge_running',
  detail: 'the service that calls the judge did not answer in time; retry',
  retryable: true,
  retry_after_s: 5,
};

/** After a deployment, an object may run the old version for some minutes. Its callers retry this often. */
export const DEPLOYING_RETRY_S = 10;

/**
 * The caller names a judge that the desk's version of the Worker does not have: a deployment is in progress, since the
 * caller's own version has it.
 */
export const JUDGE_NOT_HERE: JudgeFailure = {
  reason: 'judge_interrupted',
  detail: 'the judge desk does not have this judge yet, because a deployment is in progress; retry',
  retryable: true,
  retry_after_s: DEPLOYING_RETRY_S,
};

/**
 * The judgment's key names another model, template or sampling than the desk would use: a deployment is in progress.
 */
export const OTHER_JUDGE: JudgeFailure = {
  reason: 'judge_model_mismatch',
  detail: 'the judge desk runs another version of the judge, possibly because a deployment is in progress; retry',
  retryable: true,
  retry_after_s: DEPLOYING_RETRY_S,
};

/** The Durable Object restarted or became unreachable while a caller waited. */
export const DESK_LOST: JudgeFailure = {
  reason: 'judge_interrupted',
  detail: 'the service that calls the judge restarted during this call; retry',
  retryable: true,
  retry_after_s: 1,
};
