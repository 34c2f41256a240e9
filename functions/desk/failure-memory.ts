/**
 * Failures of the last seconds, by key: a retry that comes too soon gets the same answer and costs nothing. Failures that
 * say nothing of the key are not remembered: no room, an open circuit, or what the caller has to mend.
 */
import type { JudgeFailure } from '../../src/judgments/types.ts';

/** A failed judgment is answered with its failure for this long, so that retries do not become calls. */
export const FAILURE_MEMORY_MS = 5_000;
/** Failures remembered by one desk. */
export const MAX_REMEMBERED_FAILURES = 10_000;

export type FailureMemoryOptions = { readonly ms: number; readonly entries: number };

export class FailureMemory {
  readonly #options: FailureMemoryOptions;
  readonly #now: () => number;
  /** In the order of their end, as every entry lasts equally long. */
  readonly #failures = new Map<string, { readonly failure: JudgeFailure; readonly until: number }>();

  /** @param now a clock in milliseconds. */
  constructor(options: FailureMemoryOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  add(key: string, failure: JudgeFailure): void {
    if (!isRemembered(failure)) return;
    this.#failures.delete(key);
    this.#failures.set(key, { failure, until: this.#now() + this.#options.ms });
    this.#forget();
  }

  /** The remembered failure, with the time after which a retry is a new call. */
  get(key: string): JudgeFailure | undefined {
    this.#forget();
    const found = this.#failures.get(key);
    if (found === undefined) return undefined;
    const left_s = Math.ceil((found.until - this.#now()) / 1000);
    return { ...found.failure, retry_after_s: Math.max(left_s, found.failure.retry_after_s ?? 0) };
  }

  #forget(): void {
    const now = this.#now();
    for (const [key, { until }] of this.#failures) {
      if (until > now && this.#failures.size <= this.#options.entries) return;
      this.#failures.delete(key);
    }
  }
}

function isRemembered({ reason }: JudgeFailure): boolean {
  switch (reason) {
    case 'judge_timeout':
    case 'judge_unreachable':
    case 'judge_interrupted':
    case 'judge_rate_limited':
    case 'judge_overloaded':
    case 'judge_error':
    case 'judge_unauthorized':
    case 'judge_request_refused':
    case 'judge_not_an_api':
    case 'judge_reply_cut':
    case 'judge_refusal':
    case 'judge_reply_invalid':
    case 'judge_model_mismatch':
    case 'sandbox_unreachable':
    case 'sandbox_timeout':
    case 'sandbox_overloaded':
    case 'sandbox_unauthorized':
    case 'sandbox_error':
    case 'sandbox_reply_invalid':
    case 'equivalence_undecided':
    case 'judgment_record_invalid':
      return true;
    // No room here: over in a moment, and kept by slots and breaker.
    case 'judge_capacity':
    case 'judge_circuit_open':
    // The caller's own.
    case 'judge_prompt_too_long':
    case 'judge_unknown':
    case 'judge_unconfigured':
    case 'sandbox_unconfigured':
    case 'judgment_missing':
    case 'judgment_skipped':
    // The judgment was had.
    case 'judgment_store_failed':
      return false;
  }
}
