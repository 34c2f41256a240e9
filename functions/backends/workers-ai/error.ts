/**
 * From what `AI.run` throws to a typed failure. The binding puts Cloudflare's internal code before the message
 * (`3040: ...`); the codes are those of Workers AI's page of errors. The message itself goes nowhere.
 */
import type { JudgeFailure } from '../../../src/judgments/types.ts';
import { type BackendFailureReason, backendFailure } from '../failures.ts';

/** A day's free allocation comes back at midnight UTC; asking every hour is soon enough. */
const ALLOCATION_RETRY_AFTER_S = 3_600;

/**
 * The failure behind something thrown by the binding.
 * @throws what is no failure of Workers AI but a mistake of ours: inputs that cannot be sent.
 */
export function failureOfThrown(thrown: unknown): JudgeFailure {
  if (thrown instanceof Error && thrown.name === 'DataCloneError') throw thrown;
  const message = thrown instanceof Error ? thrown.message : '';
  if (message.includes("JSON Mode couldn't be met")) {
    return backendFailure('judge_reply_invalid', 'Workers AI could not make the model keep to the JSON schema');
  }
  const code = codeIn(message);
  if (code === null) return backendFailure('judge_unreachable', 'Workers AI cannot be reached');
  if (code === 3036) {
    return backendFailure('judge_rate_limited', "the account's daily allocation is used up", ALLOCATION_RETRY_AFTER_S);
  }
  return backendFailure(reasonOfCode(code), `Workers AI answered with its error ${code}`);
}

/** The internal code at the front of a message, also behind the name of an error class. */
function codeIn(message: string): number | null {
  const code = /^(?:[A-Za-z]{1,40}: )?(\d{4}):/.exec(message)?.[1];
  return code === undefined ? null : Number(code);
}

function reasonOfCode(code: number): BackendFailureReason {
  switch (code) {
    case 3007: // timeout
    case 3008: // aborted
      return 'judge_timeout';
    case 3040: // out of capacity
      return 'judge_overloaded';
    case 3006: // request too large
      return 'judge_prompt_too_long';
    case 3023: // account blocked
    case 3041: // account not allowed for a private model
    case 5016: // model terms not agreed to
    case 5018: // account not allowed for a private model
      return 'judge_unauthorized';
    case 3003: // incomplete request
    case 3039: // finetune without its files
    case 3042: // invalid model id
    case 5004: // invalid data
    case 5005: // no LoRA for this model
    case 5007: // no such model
    case 5019: // deprecated SDK
      return 'judge_request_refused';
    default:
      return 'judge_error';
  }
}
