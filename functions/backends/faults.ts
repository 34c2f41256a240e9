/**
 * What can go wrong with a model backend, before anyone gives it a name: reading and calling are the same for a judge and
 * for a generator, and each names its failures by itself (failures.ts). Which faults a retry could mend is decided here,
 * once, so that the same fault is retryable or not whichever backend had it.
 */

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
