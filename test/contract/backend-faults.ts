/**
 * The faults of a model backend and the failure that each must become: one row a fault, with its typed reason and its
 * form on the wire. The stub server (stub-backend.ts) commits the faults; docs/guides/backends.md shows the table.
 */
import type { JudgeFailureReason } from '../../src/judgments/protocol/failure.ts';

export type FaultRow = {
  readonly reason: JudgeFailureReason;
  readonly retryable: boolean;
  /** The status of `POST /v1/score`. */
  readonly status: 503 | 422;
  /** Expected `Retry-After`; absent = our own default if the failure is retryable. */
  readonly retry_after?: number;
  /** An HTTP date has whole seconds, so the remaining time may differ by one. */
  readonly retry_after_slack?: number;
};

const again = (reason: JudgeFailureReason, retry_after?: number): FaultRow => ({
  reason,
  retryable: true,
  status: 503,
  ...(retry_after === undefined ? {} : { retry_after }),
});
const never = (reason: JudgeFailureReason, status: 503 | 422 = 503): FaultRow => ({ reason, retryable: false, status });

/** Faults of an OpenAI-compatible server. */
export const SERVER_FAULTS = {
  // The connection.
  refused: again('judge_unreachable'),
  reset_before_reply: again('judge_unreachable'),
  silent: again('judge_timeout'),
  stalls_in_stream: again('judge_timeout'),
  reset_in_stream: again('judge_interrupted'),
  ends_in_stream: again('judge_interrupted'),
  // The status.
  http_400: never('judge_request_refused'),
  http_400_too_long_vllm: never('judge_prompt_too_long', 422),
  http_400_too_long_llama_cpp: never('judge_prompt_too_long', 422),
  http_400_too_long_sglang: never('judge_prompt_too_long', 422),
  http_401: never('judge_unauthorized'),
  http_403: never('judge_unauthorized'),
  http_404_model: never('judge_request_refused'),
  http_413: never('judge_prompt_too_long', 422),
  http_422: never('judge_request_refused'),
  http_429: again('judge_rate_limited'),
  http_429_seconds: again('judge_rate_limited', 17),
  http_429_ms: again('judge_rate_limited', 3),
  http_429_date: { ...again('judge_rate_limited', 30), retry_after_slack: 1 },
  http_500: again('judge_error'),
  http_501: never('judge_request_refused'),
  http_502: again('judge_unreachable'),
  http_503: again('judge_overloaded'),
  http_503_seconds: again('judge_overloaded', 9),
  http_504: again('judge_timeout'),
  http_524: again('judge_timeout'),
  http_530: again('judge_unreachable'),
  // Replies that are not from an API.
  redirect: never('judge_not_an_api'),
  html_login: never('judge_not_an_api'),
  no_content_type: never('judge_not_an_api'),
  other_json: never('judge_not_an_api'),
  // The body.
  empty_stream: again('judge_interrupted'),
  empty_json: again('judge_interrupted'),
  truncated_event: again('judge_interrupted'),
  truncated_json: again('judge_interrupted'),
  error_in_stream: again('judge_error'),
  error_text_in_stream: again('judge_error'),
  error_400_in_stream: never('judge_request_refused'),
  error_flat_in_body: never('judge_request_refused'),
  done_without_finish: again('judge_interrupted'),
  // The end of the reply.
  finish_length: never('judge_reply_cut'),
  finish_repetition: never('judge_reply_cut'),
  finish_content_filter: never('judge_refusal'),
  finish_tool_calls: again('judge_reply_invalid'),
  finish_abort: again('judge_interrupted'),
  finish_unknown: again('judge_error'),
  // What cannot be both: cut off and complete, ended and continued, one choice and two.
  two_finishes: again('judge_reply_invalid'),
  text_after_finish: again('judge_reply_invalid'),
  one_choice_twice: again('judge_reply_invalid'),
  refusal: never('judge_refusal'),
  // The model.
  other_model: never('judge_model_mismatch'),
  no_model: never('judge_model_mismatch'),
  // The content of the reply.
  null_content: again('judge_reply_invalid'),
  // A judge that is asked to think may reply so (judge_options.thinking); any other must not.
  thinking_in_text: again('judge_reply_invalid'),
  prose: again('judge_reply_invalid'),
  cut_reply_with_stop: again('judge_reply_invalid'),
  wrong_keys: again('judge_reply_invalid'),
  extra_key: again('judge_reply_invalid'),
  missing_key: again('judge_reply_invalid'),
  repeated_key: again('judge_reply_invalid'),
  verdict_out_of_range: again('judge_reply_invalid'),
  verdict_nan: again('judge_reply_invalid'),
  verdict_as_text: again('judge_reply_invalid'),
  verdict_missing: again('judge_reply_invalid'),
} as const satisfies Readonly<Record<string, FaultRow>>;

export type ServerFault = keyof typeof SERVER_FAULTS;

/** Valid replies in the dialects of several servers. All must give the same reward. */
export const DIALECTS = [
  'vllm',
  'vllm_without_usage',
  'sglang_reasoning',
  'llama_cpp',
  'ollama',
  'reasoning_field',
  'not_streamed',
  'comments_between',
  'crlf_bytewise',
  'no_done',
  'reset_after_finish',
  'reset_after_done',
  'ends_late',
  'never_ends',
  'fenced',
] as const;

export type Dialect = (typeof DIALECTS)[number];

export type StubBehaviour = ServerFault | Dialect;

/** The name under which the stub serves its model, and the key that it requires. */
export const STUB_MODEL = 'stub-judge';
export const STUB_KEY = 'sk-stub';
/** Occurs in every error body of the stub, and must occur in no problem, log line or reply of the Worker. */
export const STUB_CANARY = 'KANARIENVOGEL';

/** Behaviours whose server listens on no port. */
export function isRefused(behaviour: StubBehaviour): boolean {
  return behaviour === 'refused';
}
