/**
 * The problems of failed backend calls. Every reason of a judge and of a generator has an entry: a new one without it
 * does not compile.
 */
import type { GenerationFailure, GenerationFailureReason } from '../src/generation/generator.ts';
import type { JudgeFailure, JudgeFailureReason } from '../src/judgments/protocol/failure.ts';
import { DEFAULT_RETRY_AFTER_S, type Entry, entry } from './problem-entry.ts';

type StatusAndTitle = readonly [status: number, title: string];

/** Failed judgments. The detail comes with the failure and is a constant of this code, too. */
const JUDGE_PROBLEMS: Readonly<Record<JudgeFailureReason, StatusAndTitle>> = {
  judge_unconfigured: [503, 'No judge is configured'],
  judge_unknown: [422, 'Judge unknown'],
  judge_option_unsupported: [422, 'Option not supported by the judge'],
  judge_capacity: [503, 'No judge capacity'],
  judge_circuit_open: [503, 'Circuit breaker open'],
  judge_budget_exhausted: [429, 'Budget used up'],
  judge_timeout: [503, 'Judge timed out'],
  judge_unreachable: [503, 'Judge unreachable'],
  judge_interrupted: [503, 'Judge connection interrupted'],
  judge_rate_limited: [503, 'Judge rate limited'],
  judge_overloaded: [503, 'Judge overloaded'],
  judge_error: [503, 'Judge failed'],
  judge_unauthorized: [503, 'Judge rejected the credentials'],
  judge_request_refused: [503, 'Judge rejected the request'],
  judge_not_an_api: [503, 'Judge returned an unexpected response'],
  judge_prompt_too_long: [422, 'Prompt too long for the judge'],
  judge_reply_cut: [503, 'Judge reply truncated'],
  judge_refusal: [503, 'Judge refused to judge'],
  judge_reply_invalid: [503, 'Judge reply invalid'],
  judge_model_mismatch: [503, 'Another model answered'],
  sandbox_unconfigured: [503, 'No sandbox is configured'],
  sandbox_unreachable: [503, 'Sandbox unreachable'],
  sandbox_timeout: [503, 'Sandbox timed out'],
  sandbox_overloaded: [503, 'Sandbox overloaded'],
  sandbox_unauthorized: [503, 'Sandbox rejected the credentials'],
  sandbox_error: [503, 'Sandbox failed'],
  sandbox_reply_invalid: [503, 'Sandbox reply invalid'],
  equivalence_undecided: [422, 'Answers not comparable'],
  judgment_missing: [409, 'Judgment missing'],
  judgment_skipped: [409, 'Judgment skipped'],
  judgment_store_failed: [503, 'Judgment store failed'],
  judgment_record_invalid: [503, 'Judgment record invalid'],
};

/**
 * Failed generations: 503 if a retry may help or no generator is configured, 502 if a retry would give the same answer.
 */
const GENERATION_PROBLEMS: Readonly<Record<GenerationFailureReason, StatusAndTitle>> = {
  generator_unconfigured: [503, 'No generator is configured'],
  generator_timeout: [503, 'Generator timed out'],
  generator_unreachable: [503, 'Generator unreachable'],
  generator_interrupted: [503, 'Generator connection interrupted'],
  generator_rate_limited: [503, 'Generator rate limited'],
  generator_overloaded: [503, 'Generator overloaded'],
  generator_error: [503, 'Generator failed'],
  generator_unauthorized: [502, 'Generator rejected the credentials'],
  generator_request_refused: [502, 'Generator rejected the request'],
  generator_not_an_api: [502, 'Generator returned an unexpected response'],
  generator_prompt_too_long: [422, 'Prompt too long for the generator'],
  generator_reply_too_large: [502, 'Generator reply too large'],
  generator_refusal: [502, 'Generator refused to answer'],
  generator_model_mismatch: [502, 'Another model answered'],
};

export function judgeProblem(failure: JudgeFailure): Entry {
  const { budget, reason } = failure;
  const problem = backendProblem(failure, JUDGE_PROBLEMS[reason]);
  return budget === undefined ? problem : { ...problem, extra: { budget } };
}

export function generationProblem(failure: GenerationFailure): Entry {
  return backendProblem(failure, GENERATION_PROBLEMS[failure.reason]);
}

type BackendFailure = {
  readonly detail: string;
  readonly retryable: boolean;
  readonly retry_after_s?: number;
};

/** Builds the entry of a failed backend call. Only a retryable failure has `Retry-After`. */
function backendProblem({ detail, retryable, retry_after_s }: BackendFailure, [status, title]: StatusAndTitle): Entry {
  const retryAfterS = Math.ceil(retry_after_s ?? DEFAULT_RETRY_AFTER_S);
  return entry(status, title, detail, retryable ? { retryable, retryAfterS } : {});
}
