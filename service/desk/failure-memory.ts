/**
 * Remembers the failures of the last seconds by key: an early retry gets the same answer without a call. Failures that
 * are not specific to the key are not remembered: missing capacity, an open circuit, errors of the caller.
 */
import { type JudgeFailure, judgeReason } from '../../src/judgments/protocol/failure.ts';

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
    if (judgeReason(failure.reason).remembered !== true) return;
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
