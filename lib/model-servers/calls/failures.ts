/**
 * What can go wrong with a model backend, before anyone gives it a name: reading and calling are the same for a judge and
 * for a generator, and each names its failures by itself (failures.ts). Which faults a retry could mend is decided here,
 * once, so that the same fault is retryable or not whichever backend had it.
 */
import type { GenerationEnd, GenerationFailure } from '../../../src/generation/generator.ts';
import type { JudgeFailure } from '../../../src/judgments/types.ts';

export type BackendFaultKind =
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
  /** Of a judge: cut off before its end. */
  | 'reply_cut'
  /** Of a judge: no verdicts. */
  | 'reply_invalid'
  /** Of a generator: more than the length that was asked for could be. */
  | 'reply_too_large';

/** What can befall any call, whatever is asked. */
export type SharedFault = BackendFault<Exclude<BackendFaultKind, 'reply_cut' | 'reply_invalid' | 'reply_too_large'>>;

export type BackendFault<Kind extends BackendFaultKind = BackendFaultKind> = {
  readonly kind: Kind;
  /** A constant of ours and numbers: nothing of what a backend said, since an error body likes to quote the prompt. */
  readonly detail: string;
  /** When the backend wants to be asked again, in seconds; `null` = it did not say. */
  readonly retry_after_s: number | null;
};

/**
 * A cut reply and a refusal come back the same from the same prompt under temperature 0, so asking again would only pay
 * again; credentials, model and address are the operator's to mend.
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

/** @param retry_after_s where the backend said when to come back. */
export function backendFault<Kind extends BackendFaultKind>(
  kind: Kind,
  detail: string,
  retry_after_s: number | null = null,
): BackendFault<Kind> {
  return { kind, detail, retry_after_s };
}

/** Whether the same request may succeed later. */
export function isRetryable(kind: BackendFaultKind): boolean {
  return RETRYABLE[kind];
}

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
