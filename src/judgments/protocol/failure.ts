/** The failures of a judgment, and the token usage of a call. */
import { namesOf } from '../../names-of.ts';

/** What a failure reveals about the judge's health; `unknown` = the call never reached it. */
export type JudgeHealth = 'up' | 'down' | 'unknown';

/** What a reason means for everyone who meets it. */
type ReasonRow = {
  /** The HTTP status of a request that fails with it, and the title of its problem. */
  readonly status: number;
  readonly title: string;
  /** Default `unknown`. A judge that answers with something unusable is up. */
  readonly judge?: JudgeHealth;
  /**
   * Whether an early retry of the same question gets the same answer without a call. Missing capacity passes quickly,
   * another project may have budget left, and errors of the caller are no matter of the question.
   */
  readonly remembered?: true;
  /** Whether another route of the judge may succeed: it is no fault of the request or of the reply. */
  readonly elsewhere?: true;
};

/** The reasons for which a judgment is missing: one row each, which everything else reads. */
const JUDGE_REASONS = {
  judge_unconfigured: { status: 503, title: 'No judge is configured' },
  judge_unknown: { status: 422, title: 'Judge unknown' },
  // The judge cannot follow an option of the recipe: thinking, temperature, template or evidence.
  judge_option_unsupported: { status: 422, title: 'Option not supported by the judge' },
  // The deployment had no capacity: the desk's memory, its slots, or an open circuit breaker.
  judge_capacity: { status: 503, title: 'No judge capacity' },
  judge_circuit_open: { status: 503, title: 'Circuit breaker open' },
  // The caller's deadline passed while the call was waiting or running. The call goes on, and a retry joins it.
  judge_running: { status: 503, title: 'Judge call still running' },
  // The caller's project has used its daily budget.
  judge_budget_exhausted: { status: 429, title: 'Budget used up' },
  // The backend could not be reached, or its reply was incomplete.
  judge_timeout: { status: 503, title: 'Judge timed out', judge: 'down', remembered: true, elsewhere: true },
  judge_unreachable: { status: 503, title: 'Judge unreachable', judge: 'down', remembered: true, elsewhere: true },
  judge_interrupted: {
    status: 503,
    title: 'Judge connection interrupted',
    judge: 'down',
    remembered: true,
    elsewhere: true,
  },
  judge_rate_limited: { status: 503, title: 'Judge rate limited', judge: 'down', remembered: true, elsewhere: true },
  judge_overloaded: { status: 503, title: 'Judge overloaded', judge: 'down', remembered: true, elsewhere: true },
  judge_error: { status: 503, title: 'Judge failed', judge: 'down', remembered: true, elsewhere: true },
  judge_unauthorized: {
    status: 503,
    title: 'Judge rejected the credentials',
    judge: 'down',
    remembered: true,
    elsewhere: true,
  },
  judge_request_refused: {
    status: 503,
    title: 'Judge rejected the request',
    judge: 'up',
    remembered: true,
    elsewhere: true,
  },
  judge_not_an_api: {
    status: 503,
    title: 'Judge returned an unexpected response',
    judge: 'down',
    remembered: true,
    elsewhere: true,
  },
  // The backend replied, and the reply is not a judgment.
  judge_prompt_too_long: { status: 422, title: 'Prompt too long for the judge' },
  judge_reply_cut: { status: 503, title: 'Judge reply truncated', judge: 'up', remembered: true },
  judge_refusal: { status: 503, title: 'Judge refused to judge', judge: 'up', remembered: true },
  judge_reply_invalid: { status: 503, title: 'Judge reply invalid', judge: 'up', remembered: true },
  judge_model_mismatch: {
    status: 503,
    title: 'Another model answered',
    judge: 'up',
    remembered: true,
    elsewhere: true,
  },
  // Failures of the sandbox, which runs programs and compares expressions.
  sandbox_unconfigured: { status: 503, title: 'No sandbox is configured' },
  sandbox_unreachable: { status: 503, title: 'Sandbox unreachable', judge: 'down', remembered: true },
  sandbox_timeout: { status: 503, title: 'Sandbox timed out', judge: 'down', remembered: true },
  sandbox_overloaded: { status: 503, title: 'Sandbox overloaded', judge: 'down', remembered: true },
  sandbox_unauthorized: { status: 503, title: 'Sandbox rejected the credentials', judge: 'down', remembered: true },
  sandbox_error: { status: 503, title: 'Sandbox failed', judge: 'up', remembered: true },
  sandbox_reply_invalid: { status: 503, title: 'Sandbox reply invalid', judge: 'up', remembered: true },
  // The reference is not a readable expression, or the comparison took too long.
  equivalence_undecided: { status: 422, title: 'Answers not comparable', judge: 'up', remembered: true },
  judgment_missing: { status: 409, title: 'Judgment missing' },
  judgment_skipped: { status: 409, title: 'Judgment skipped' },
  judgment_store_failed: { status: 503, title: 'Judgment store failed' },
  judgment_record_invalid: { status: 503, title: 'Judgment record invalid', judge: 'up', remembered: true },
} as const satisfies Readonly<Record<string, ReasonRow>>;

export type JudgeFailureReason = keyof typeof JUDGE_REASONS;

export const JUDGE_FAILURE_REASONS = namesOf(JUDGE_REASONS);

/** The row of a reason. */
export function judgeReason(reason: JudgeFailureReason): ReasonRow {
  return JUDGE_REASONS[reason];
}

/** Why a judgment is missing. A failure is never a number. */
export type JudgeFailure = {
  readonly reason: JudgeFailureReason;
  /** Explains the failure to people; contains no caller text. */
  readonly detail: string;
  readonly retryable: boolean;
  /** Seconds until a retry makes sense, if the backend named a delay. */
  readonly retry_after_s?: number;
  /** The budget that is used up. */
  readonly budget?: UsedBudget;
};

/** A daily budget of a project that is used up. */
type UsedBudget = {
  readonly name: 'judge_calls_per_day' | 'judge_tokens_per_day';
  readonly limit: number;
  readonly used: number;
  /** ISO 8601, UTC. */
  readonly renews_at: string;
};

/** Tokens that a judge call used, as the server counted them. */
export type TokenUsage = { readonly prompt_tokens: number; readonly completion_tokens: number };

/** The usage of both calls; unknown if that of one is. */
export function sumUsage(first: TokenUsage | null, second: TokenUsage | null): TokenUsage | null {
  if (first === null || second === null) return null;
  return {
    prompt_tokens: first.prompt_tokens + second.prompt_tokens,
    completion_tokens: first.completion_tokens + second.completion_tokens,
  };
}
