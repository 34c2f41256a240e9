/** Why a reward or a part of it has no number, for people. A missing number is never shown as one. */
import type { UnscoredReason } from '../../../src/family/score.ts';

export const UNSCORED_WORDS: Readonly<Record<UnscoredReason, string>> = {
  judge_unconfigured: 'no judge is configured',
  judge_unknown: 'no judge of that name',
  judge_capacity: 'no capacity for judging',
  judge_circuit_open: 'the judge rests after failures',
  judge_timeout: 'the judge took too long',
  judge_unreachable: 'the judge is unreachable',
  judge_interrupted: 'the judge broke off',
  judge_rate_limited: 'the judge is rate limited',
  judge_overloaded: 'the judge is overloaded',
  judge_error: 'the judge failed',
  judge_unauthorized: 'the judge refused our credentials',
  judge_request_refused: 'the judge refused the request',
  judge_not_an_api: 'the judge answered with something else',
  judge_prompt_too_long: 'too long for the judge',
  judge_reply_cut: 'the judge’s reply was cut off',
  judge_refusal: 'the judge refused to judge',
  judge_reply_invalid: 'the judge’s reply is no judgment',
  judge_model_mismatch: 'another model answered',
  sandbox_unconfigured: 'no sandbox is configured',
  sandbox_unreachable: 'the sandbox is unreachable',
  sandbox_timeout: 'the sandbox took too long',
  sandbox_overloaded: 'the sandbox is overloaded',
  sandbox_unauthorized: 'the sandbox refused our credentials',
  sandbox_error: 'the sandbox failed',
  sandbox_reply_invalid: 'the sandbox’s reply is no verdict',
  equivalence_undecided: 'the answers cannot be compared',
  judgment_missing: 'the judgment is not in the store',
  judgment_skipped: 'judging was skipped',
  judgment_store_failed: 'the judgment store failed',
  judgment_record_invalid: 'the stored judgment is unusable',
  not_measured: 'nobody asked for it',
  nothing_to_score: 'there is nothing to score',
};

/** The same for a name that came over the wire; one that this page does not know stands for itself. */
export function unscoredWords(reason: string): string {
  const words = new Map<string, string>(Object.entries(UNSCORED_WORDS));
  return words.get(reason) ?? reason.replaceAll('_', ' ');
}
