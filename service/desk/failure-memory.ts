/**
 * Remembers the failures of the last seconds by key: an early retry gets the same answer without a call. Failures that
 * are not specific to the key are not remembered: missing capacity, an open circuit, errors of the caller.
 */
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';

/** How long a failed judgment is answered with its failure. */
export const FAILURE_MEMORY_MS = 5_000;
/** Failures remembered by one desk. */
export const MAX_REMEMBERED_FAILURES = 10_000;

type FailureMemoryOptions = { readonly ms: number; readonly entries: number };

export class FailureMemory {
  readonly #options: FailureMemoryOptions;
  readonly #now: () => number;
  /** The remembered failures. They are in order of expiry, because all entries live equally long. */
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

  /** The remembered failure, with the time until a retry makes a new call. */
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
    // Missing capacity passes quickly; slots and breaker report it themselves.
    case 'judge_capacity':
    case 'judge_circuit_open':
    // Another project may have a budget left.
    case 'judge_budget_exhausted':
    // Errors of the caller.
    case 'judge_prompt_too_long':
    case 'judge_unknown':
    case 'judge_option_unsupported':
    case 'judge_unconfigured':
    case 'sandbox_unconfigured':
    case 'judgment_missing':
    case 'judgment_skipped':
    // The judgment exists; only storing it failed.
    case 'judgment_store_failed':
      return false;
  }
}
