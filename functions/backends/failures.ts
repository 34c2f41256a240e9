/**
 * The failures that a model backend can have, as a judge and as a generator name them. Kinds and whether a retry could
 * mend them are decided once, in faults.ts. A detail is a constant of ours and numbers: nothing of what a backend said.
 */
import type { GenerationEnd, GenerationFailure } from '../../src/generation/generator.ts';
import type { JudgeFailure } from '../../src/judgments/types.ts';
import { type BackendFault, type BackendFaultKind, isRetryable } from './faults.ts';

/** What befalls a judge: a reply of any length is read to its end or cut. */
export type JudgeFaultKind = Exclude<BackendFaultKind, 'reply_too_large'>;

/** What befalls a generator: it has no schema to miss, and a sample that was cut at its length is a sample. */
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

/** @param retry_after_s where the backend said when to come back. */
export function backendFailure(
  reason: BackendFailureReason,
  detail: string,
  retry_after_s: number | null = null,
): JudgeFailure {
  const failure = { reason, detail, retryable: isRetryable(KINDS[reason]) };
  return retry_after_s === null ? failure : { ...failure, retry_after_s };
}

/** A fault as a judge names it. */
export function judgeFailureOf({ kind, detail, retry_after_s }: BackendFault<JudgeFaultKind>): JudgeFailure {
  return backendFailure(`judge_${kind}`, detail, retry_after_s);
}

/** A fault as a generator names it. */
export function generationFailureOf(fault: BackendFault<GeneratorFaultKind>): GenerationFailure {
  const { kind, detail, retry_after_s } = fault;
  const failure = { reason: `generator_${kind}`, detail, retryable: isRetryable(kind) } as const;
  return retry_after_s === null ? failure : { ...failure, retry_after_s };
}

/** An outcome or reply that is nothing but a failure. */
export function failed(failure: JudgeFailure): { readonly ok: false; readonly failure: JudgeFailure } {
  return { ok: false, failure };
}

/** The end of a generation that broke off. */
export function brokenGeneration(fault: BackendFault<GeneratorFaultKind>): GenerationEnd {
  return { ok: false, failure: generationFailureOf(fault) };
}
