/**
 * A circuit breaker for one backend. It opens after several failures in a row. After a pause it admits one call as a
 * probe: success closes the circuit, failure doubles the pause. Each desk has its own breaker and sees only its own
 * calls.
 */
import { type JudgeFailure, type JudgeHealth, judgeReason } from '../../src/judgments/protocol/failure.ts';

/** Failures in a row that open the circuit. */
export const BREAKER_FAILURES = 5;
/** The first pause; each failed probe doubles it, up to the maximum. */
export const BREAKER_REST_MS = 5_000;
export const BREAKER_MAX_REST_MS = 60_000;

type BreakerOptions = {
  readonly failures: number;
  readonly rest_ms: number;
  readonly max_rest_ms: number;
};

/** What a call reveals about the backend's health. */
export type CallEvidence = JudgeHealth;

/** `probe`: the one call that tests whether the backend has recovered. */
type Admission =
  | { readonly ok: true; readonly probe: boolean }
  | { readonly ok: false; readonly retry_after_s: number };

export class CircuitBreaker {
  readonly #options: BreakerOptions;
  readonly #now: () => number;
  #failuresInARow = 0;
  #rest_ms: number;
  /** `null` = closed. */
  #openUntil: number | null = null;
  #probing = false;

  /** @param now a clock in milliseconds. */
  constructor(options: BreakerOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
    this.#rest_ms = options.rest_ms;
  }

  /** Whether the circuit is open, also while a probe tests the backend. */
  get isOpen(): boolean {
    return this.#openUntil !== null;
  }

  /** Whether a call would be admitted; does not claim the probe. */
  peek(): Admission {
    if (this.#openUntil === null) return { ok: true, probe: false };
    const left = this.#openUntil - this.#now();
    if (left > 0) return { ok: false, retry_after_s: Math.ceil(left / 1000) };
    if (this.#probing) return { ok: false, retry_after_s: Math.ceil(this.#options.rest_ms / 1000) };
    return { ok: true, probe: true };
  }

  /** Admits or rejects a call. Every admitted call must be settled once. */
  admit(): Admission {
    const admission = this.peek();
    if (admission.ok && admission.probe) this.#probing = true;
    return admission;
  }

  /**
   * Reports the result of an admitted call.
   * @param probe the value of `probe` that `admit` returned for this call.
   * @param retryAfter_s the `Retry-After` of the backend, in seconds.
   */
  settle(evidence: CallEvidence, probe: boolean, retryAfter_s?: number): void {
    if (probe) this.#probing = false;
    switch (evidence) {
      case 'up':
        this.#failuresInARow = 0;
        this.#openUntil = null;
        this.#rest_ms = this.#options.rest_ms;
        return;
      case 'down':
        this.#failuresInARow++;
        // Calls that started before the circuit opened add no information.
        if (this.#openUntil !== null && !probe) return;
        if (probe) this.#rest_ms = Math.min(this.#rest_ms * 2, this.#options.max_rest_ms);
        if (probe || this.#failuresInARow >= this.#options.failures) this.#open(retryAfter_s);
        return;
      case 'unknown':
        return;
    }
  }

  #open(retryAfter_s: number | undefined): void {
    const wanted = retryAfter_s === undefined ? 0 : Math.min(retryAfter_s * 1000, this.#options.max_rest_ms);
    this.#openUntil = this.#now() + Math.max(this.#rest_ms, wanted);
  }
}

/** What a failure reveals about the backend. An invalid reply still proves that the backend answers. */
export function evidenceOf({ reason }: JudgeFailure): CallEvidence {
  return judgeReason(reason).judge ?? 'unknown';
}
