/**
 * Reads a request as LongTraceRL's `POST /evaluate` does before judging: which text is the response, which messages
 * count for the rubric, and which requests it refuses. Source: THU-KEG/LongTraceRL 415b6433, `launch_server.py`,
 * `evaluate`, `get_aa_lcr_reward` and `get_rubric_reward`.
 */
import type { TraceMessage } from '../../family/rollout.ts';
import { stripPythonSpace } from '../../text/python-text.ts';

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';

/** The fields that this file reads. `label` and `extra_reward_info` are only checked for presence. */
export type EvaluateRequest = {
  readonly label?: unknown;
  readonly extra_reward_info?: unknown;
  /** The conversation of the request; if it is given, `response` is not read. */
  readonly history?: readonly TraceMessage[];
  readonly response?: string;
};

type EvaluateReading =
  | {
      readonly status: 'ready';
      /** The text whose final answer is judged. */
      readonly response: string;
      /** The messages in which entities and chunks are searched. */
      readonly history: readonly TraceMessage[];
    }
  /** The last turn is not an assistant's, or has no content: outcome, rubric and reward are 0 without a judgment. */
  | { readonly status: 'no_final_turn' }
  | {
      readonly status: 'error';
      /** The server raises 400 for a missing field, and its own handler turns that into 500. */
      readonly http_status: 500;
      readonly reason: 'label_missing' | 'extra_reward_info_missing' | 'history_and_response_missing' | 'history_empty';
    };

export function readEvaluateRequest(request: EvaluateRequest): EvaluateReading {
  if (request.label === undefined) return refusal('label_missing');
  if (request.extra_reward_info === undefined) return refusal('extra_reward_info_missing');
  if (request.history !== undefined) {
    const last = request.history.at(-1);
    if (last === undefined) return refusal('history_empty');
    if (last.role !== 'assistant' || last.content === undefined) return { status: 'no_final_turn' };
    return { status: 'ready', response: last.content, history: request.history };
  }
  if (request.response === undefined) return refusal('history_and_response_missing');
  const message = splitThinking(request.response);
  return { status: 'ready', response: message.content, history: [message] };
}

type EvaluateError = Extract<EvaluateReading, { status: 'error' }>;

function refusal(reason: EvaluateError['reason']): EvaluateError {
  return { status: 'error', http_status: 500, reason };
}

/** A response as one assistant message, split at the first `</think>`; without one, the whole response is content. */
export function splitThinking(response: string): TraceMessage & { readonly content: string } {
  const close = response.indexOf(THINK_CLOSE);
  if (close === -1) return { role: 'assistant', content: response };
  // An opening tag is removed only at the very start, before the edges are stripped.
  const reasoningStart = response.startsWith(THINK_OPEN) ? THINK_OPEN.length : 0;
  return {
    role: 'assistant',
    reasoning_content: stripPythonSpace(response.slice(reasoningStart, close)),
    content: stripPythonSpace(response.slice(close + THINK_CLOSE.length)),
  };
}

/**
 * The text that a judge compares with the reference: the text after the last `</think>`, or the whole response without
 * one. `null` if that text is empty: the outcome is then 0 and no judge is asked.
 */
export function finalAnswer(response: string): string | null {
  const close = response.lastIndexOf(THINK_CLOSE);
  if (close === -1) return response;
  const answer = stripPythonSpace(response.slice(close + THINK_CLOSE.length));
  return answer === '' ? null : answer;
}

/** Which of the assistant's texts the rubric counts (`rubric_use_reasoning_content`, `rubric_use_content`). */
type TextChoice = { readonly reasoning: boolean; readonly content: boolean };

/** The chosen texts of all assistant messages in order, separated by blank lines. */
export function chosenText(history: readonly TraceMessage[], choice: TextChoice): string {
  const texts: string[] = [];
  for (const message of history) {
    if (message.role !== 'assistant') continue;
    if (choice.reasoning && message.reasoning_content !== undefined)
      texts.push(stripPythonSpace(message.reasoning_content));
    if (choice.content && message.content !== undefined) texts.push(stripPythonSpace(message.content));
  }
  return texts.join('\n\n');
}
