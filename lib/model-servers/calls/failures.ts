/**
 * The failures of model backends. Code that judges and generators share returns a `BackendFault`; it becomes a
 * `judge_*` or a `generator_*` failure at the edge. One table decides which faults are retryable. A detail consists of
 * fixed words and numbers and never quotes a backend, because error messages of backends often quote the prompt.
 */

import type { GenerationEnd, GenerationFailure } from '../../../src/generation/generator.ts';
import type { JudgeFailure } from '../../../src/judgments/protocol/failure.ts';
import type { Failed } from '../../../src/result.ts';

type BackendFaultKind =
  | 'timeout'
  | 'unreachable'
  | 'interrupted'
  | 'rate_limited'
  | 'overloaded'
  | 'error'
  | 'unauthorized'
  | 'request_refused'
  | 'not_an_api'
  | 'prompt_too_long'
  | 'refusal'
  | 'model_mismatch'
  /** Judges only: the reply was cut off. */
  | 'reply_cut'
  /** Judges only: the reply has no valid verdicts. */
  | 'reply_invalid'
  /** Generators only: the reply is larger than the requested length allows. */
  | 'reply_too_large';

/** The faults of any call, for a judge or a generator. */
export type SharedFault = BackendFault<Exclude<BackendFaultKind, 'reply_cut' | 'reply_invalid' | 'reply_too_large'>>;

export type BackendFault<Kind extends BackendFaultKind = BackendFaultKind> = {
  readonly kind: Kind;
  /** Fixed words and numbers; no text of the backend. */
  readonly detail: string;
  /** `Retry-After` of the backend in seconds; `null` = none. */
  readonly retry_after_s: number | null;
};

/**
 * A cut reply and a refusal repeat under the same prompt at temperature 0, so a retry would only cost more. Wrong
 * credentials, models and addresses need the operator.
 */
const RETRYABLE: Readonly<Record<BackendFaultKind, boolean>> = {
  timeout: true,
  unreachable: true,
  interrupted: true,
  rate_limited: true,
  overloaded: true,
  error: true,
  reply_invalid: true,
  unauthorized: false,
  request_refused: false,
  not_an_api: false,
  prompt_too_long: false,
  reply_cut: false,
  reply_too_large: false,
  refusal: false,
  model_mismatch: false,
};

/** @param retry_after_s `Retry-After` of the backend in seconds; `null` = none. */
export function backendFault<Kind extends BackendFaultKind>(
  kind: Kind,
  detail: string,
  retry_after_s: number | null = null,
): BackendFault<Kind> {
  return { kind, detail, retry_after_s };
}

/** Returns whether the same request may succeed later. */
function isRetryable(kind: BackendFaultKind): boolean {
  return RETRYABLE[kind];
}

/** The faults of a judge. A judge reads a reply of any length to its end or to its cut. */
export type JudgeFaultKind = Exclude<BackendFaultKind, 'reply_too_large'>;

/** The faults of a generator. It has no reply schema, and a sample that ends at its length limit is a valid sample. */
export type GeneratorFaultKind = Exclude<BackendFaultKind, 'reply_cut' | 'reply_invalid'>;

export type BackendFailureReason = `judge_${JudgeFaultKind}`;

const KINDS: Readonly<Record<BackendFailureReason, JudgeFaultKind>> = {
  judge_timeout: 'timeout',
  judge_unreachable: 'unreachable',
  judge_interrupted: 'interrupted',
  judge_rate_limited: 'rate_limited',
  judge_overloaded: 'overloaded',
  judge_error: 'error',
  judge_reply_invalid: 'reply_invalid',
  judge_unauthorized: 'unauthorized',
  judge_request_refused: 'request_refused',
  judge_not_an_api: 'not_an_api',
  judge_prompt_too_long: 'prompt_too_long',
  judge_reply_cut: 'reply_cut',
  judge_refusal: 'refusal',
  judge_model_mismatch: 'model_mismatch',
};

/** @param retry_after_s `Retry-After` of the backend in seconds; `null` = none. */
export function backendFailure(
  reason: BackendFailureReason,
  detail: string,
  retry_after_s: number | null = null,
): JudgeFailure {
  const failure = { reason, detail, retryable: isRetryable(KINDS[reason]) };
  return retry_after_s === null ? failure : { ...failure, retry_after_s };
}

/** Converts a fault to a failure of a judge. */
export function judgeFailureOf({ kind, detail, retry_after_s }: BackendFault<JudgeFaultKind>): JudgeFailure {
  return backendFailure(`judge_${kind}`, detail, retry_after_s);
}

/** Converts a fault to a failure of a generator. */
export function generationFailureOf(fault: BackendFault<GeneratorFaultKind>): GenerationFailure {
  const { kind, detail, retry_after_s } = fault;
  const failure = { reason: `generator_${kind}`, detail, retryable: isRetryable(kind) } as const;
  return retry_after_s === null ? failure : { ...failure, retry_after_s };
}

/** Wraps a failure as an outcome or reply. */
export function failed(failure: JudgeFailure): Failed<JudgeFailure> {
  return { ok: false, failure };
}

/** Wraps a fault as the end of a generation. */
export function brokenGeneration(fault: BackendFault<GeneratorFaultKind>): GenerationEnd {
  return { ok: false, error: generationFailureOf(fault) };
}
