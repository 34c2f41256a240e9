/** Failures that a desk produces itself. They are constants and contain nothing of a caller. */
import type { JudgeFailure } from '../../src/judgments/types.ts';

export const CIRCUIT_OPEN: JudgeFailure = {
  reason: 'judge_circuit_open',
  detail: 'the judge failed several times in a row and is left alone for a while',
  retryable: true,
};

export const DESK_FULL: JudgeFailure = {
  reason: 'judge_capacity',
  detail: 'too many prompts are waiting for a judge',
  retryable: true,
  retry_after_s: 10,
};

export const SLOT_TAKEN: JudgeFailure = {
  reason: 'judge_capacity',
  detail: 'no slot of the judge became free in time',
  retryable: true,
  retry_after_s: 10,
};

/** For one caller; the call continues, and the next request joins it. */
export const STILL_UNDER_WAY: JudgeFailure = {
  reason: 'judge_timeout',
  detail: 'the judgment is still being made; a retry joins it',
  retryable: true,
  retry_after_s: 1,
};

/** The judge missed its own deadline. */
export const OVERDUE: JudgeFailure = {
  reason: 'judge_timeout',
  detail: 'the judge did not answer within its deadline',
  retryable: true,
};

/** The caller knows a judge that the desk does not: a deployment is in progress. */
export const JUDGE_GONE: JudgeFailure = {
  reason: 'judge_unknown',
  detail: 'the desk knows no judge of that name; a deployment may be under way',
  retryable: true,
};

/** The key names another model, template or sampling than the desk would use: a deployment is in progress. */
export const OTHER_JUDGE: JudgeFailure = {
  reason: 'judge_model_mismatch',
  detail: 'the desk runs another version of the judge than the key names; a deployment may be under way',
  retryable: true,
};

/** The Durable Object restarted or became unreachable while a caller waited. */
export const DESK_LOST: JudgeFailure = {
  reason: 'judge_interrupted',
  detail: 'the desk was restarted while the judgment was made',
  retryable: true,
  retry_after_s: 1,
};
