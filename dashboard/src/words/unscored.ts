/** Explanations of the reasons why a reward or a component is missing. */
import type { UnscoredReason } from '../../../src/family/score.ts';

export const UNSCORED_WORDS: Readonly<Record<UnscoredReason, string>> = {
  judge_unconfigured: 'no judge is configured',
  judge_unknown: 'the judge is unknown',
  judge_option_unsupported: 'the judge cannot follow an option of the recipe',
  judge_capacity: 'the judge is at capacity',
  judge_circuit_open: 'the judge’s circuit breaker is open',
  judge_running: 'the judge call is still running',
  judge_budget_exhausted: 'the daily budget of the project is used up',
  judge_timeout: 'the judge timed out',
  judge_unreachable: 'the judge is unreachable',
  judge_interrupted: 'the connection to the judge was interrupted',
  judge_rate_limited: 'the judge is rate limited',
  judge_overloaded: 'the judge is overloaded',
  judge_error: 'the judge failed',
  judge_unauthorized: 'the judge refused our credentials',
  judge_request_refused: 'the judge refused the request',
  judge_not_an_api: 'the judge’s reply is not from a model API',
  judge_prompt_too_long: 'the prompt is too long for the judge',
  judge_reply_cut: 'the judge’s reply was truncated',
  judge_refusal: 'the judge refused to judge',
  judge_reply_invalid: 'the judge’s reply is invalid',
  judge_model_mismatch: 'another model answered',
  sandbox_unconfigured: 'no sandbox is configured',
  sandbox_unreachable: 'the sandbox is unreachable',
  sandbox_timeout: 'the sandbox timed out',
  sandbox_overloaded: 'the sandbox is overloaded',
  sandbox_unauthorized: 'the sandbox refused our credentials',
  sandbox_error: 'the sandbox failed',
  sandbox_reply_invalid: 'the sandbox’s reply is invalid',
  equivalence_undecided: 'the answers cannot be compared',
  judgment_missing: 'the judgment is not in the store',
  judgment_skipped: 'judging was skipped',
  judgment_store_failed: 'the judgment store failed',
  judgment_record_invalid: 'the stored judgment is unusable',
  not_measured: 'it was not measured',
  nothing_to_score: 'there is nothing to score',
  group_vote_unknown: "it depends on another sample, whose part in the group's maximum is unknown",
};

/** Explains a reason from a reply; a reason that this version does not know is shown by its name. */
export function unscoredWords(reason: string): string {
  const words = new Map<string, string>(Object.entries(UNSCORED_WORDS));
  return words.get(reason) ?? reason.replaceAll('_', ' ');
}
