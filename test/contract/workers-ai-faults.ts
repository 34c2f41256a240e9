/** The faults of Workers AI: what `AI.run` does or returns, and the failure that it must become. */
import { type FaultRow, STUB_CANARY } from './backend-faults.ts';

/** `fails`: rejects with this error. `returns`: a value made from the text of a valid reply. `hangs`: never settles. */
export type AiBehaviour =
  | { readonly fails: Error }
  | { readonly returns: (good: string) => unknown }
  | { readonly hangs: true };

export type AiFaultRow = FaultRow & { readonly behaviour: AiBehaviour };

function fails(message: string, row: Omit<FaultRow, 'status'>, status: FaultRow['status'] = 503): AiFaultRow {
  return { ...row, status, behaviour: { fails: new Error(message) } };
}

function returns(made: (good: string) => unknown, row: Omit<FaultRow, 'status'>): AiFaultRow {
  return { ...row, status: 503, behaviour: { returns: made } };
}

const again = (reason: FaultRow['reason'], retry_after?: number) => ({
  reason,
  retryable: true,
  ...(retry_after === undefined ? {} : { retry_after }),
});
const never = (reason: FaultRow['reason']) => ({ reason, retryable: false });

const choice = (message: object, finish_reason: string | null, model?: string): unknown => ({
  ...(model === undefined ? {} : { model }),
  choices: [{ index: 0, message, finish_reason }],
});

export const AI_FAULTS: Readonly<Record<string, AiFaultRow>> = {
  hangs: { ...again('judge_timeout'), status: 503, behaviour: { hangs: true } },
  lost: fails(`Network connection lost. ${STUB_CANARY}`, again('judge_unreachable')),
  json_mode: fails(`5024: JSON Mode couldn't be met ${STUB_CANARY}`, again('judge_reply_invalid')),
  timeout: fails('3007: Request timeout', again('judge_timeout')),
  capacity: fails('3040: Capacity temporarily exceeded, please try again.', again('judge_overloaded')),
  capacity_named: fails('AiError: 3040: No more data centers', again('judge_overloaded')),
  allocation: fails('3036: You have used up your daily free allocation', again('judge_rate_limited', 3_600)),
  blocked: fails('3023: Service unavailable for account', never('judge_unauthorized')),
  no_model: fails(`5007: No such model ${STUB_CANARY} or task`, never('judge_request_refused')),
  too_large: fails('3006: Request is too large', never('judge_prompt_too_long'), 422),
  other_code: fails(`9999: ${STUB_CANARY}`, again('judge_error')),
  nothing: returns(() => undefined, never('judge_not_an_api')),
  other_shape: returns(() => ({ result: STUB_CANARY }), never('judge_not_an_api')),
  null_response: returns(() => ({ response: null }), never('judge_refusal')),
  cut: returns(
    (good) => ({ response: good.slice(0, -9), usage: { prompt_tokens: 9, completion_tokens: 1_000_000 } }),
    never('judge_reply_cut'),
  ),
  truncated: returns((good) => ({ response: good.slice(0, -9) }), again('judge_reply_invalid')),
  empty: returns(() => ({ response: '' }), again('judge_reply_invalid')),
  extra_key: returns((good) => ({ response: { ...parsed(good), c99: {} } }), again('judge_reply_invalid')),
  missing_key: returns(
    (good) => ({ response: Object.fromEntries(Object.entries(parsed(good)).slice(1)) }),
    again('judge_reply_invalid'),
  ),
  openai_refusal: returns(
    () => choice({ role: 'assistant', content: null, refusal: STUB_CANARY }, 'stop'),
    never('judge_refusal'),
  ),
  openai_filtered: returns((good) => choice({ content: good }, 'content_filter'), never('judge_refusal')),
  openai_cut: returns((good) => choice({ content: good }, 'length'), never('judge_reply_cut')),
  openai_unfinished: returns((good) => choice({ content: good }, null), again('judge_interrupted')),
  openai_other_model: returns((good) => choice({ content: good }, 'stop', STUB_CANARY), never('judge_model_mismatch')),
  openai_error: returns(() => ({ error: { message: STUB_CANARY, code: 500 } }), again('judge_error')),
};

function parsed(good: string): object {
  const value: unknown = JSON.parse(good);
  if (typeof value !== 'object' || value === null) throw new TypeError('workers-ai-faults: a good reply is an object');
  return value;
}
