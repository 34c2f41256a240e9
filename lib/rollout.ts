/** Rollouts as callers of the library give them: a response, or the messages of a conversation. */
import type { AnswerFormatName } from '../src/citations/formats/names.ts';
import { requestedAnswer } from '../src/citations/formats/requested-answer.ts';
import type { Rollout as ScoredRollout } from '../src/family/rollout.ts';
import type { InputProblem } from '../src/input-problem.ts';
import type { Result } from '../src/result.ts';
import { derivedFields } from '../src/trajectory/final-turns.ts';
import { type Messages, readMessages, type TrajectoryOptions } from '../src/trajectory/rollout-messages.ts';

type Shared = Omit<ScoredRollout, 'response' | 'messages' | 'trajectory'>;

/**
 * The input of a score: what the policy wrote, the sources that it could cite, and what the recipe reads about the
 * question. What the policy wrote is `response`, or `messages` with its tool calls and results, from which the response,
 * the sources and the turns are read, or `cited_answer`, an answer as its vendor sent it.
 */
export type Rollout =
  | (Shared & { readonly response: string; readonly messages?: never; readonly trajectory?: never })
  | (Shared & { readonly messages: Messages; readonly trajectory?: TrajectoryOptions; readonly response?: never })
  | (Shared & {
      readonly cited_answer: unknown;
      readonly answer_format?: AnswerFormatName;
      readonly response?: never;
      readonly messages?: never;
      readonly trajectory?: never;
    });

/** Reads the messages of a rollout. The fields that the rollout gives win over what its messages say. */
export function readRollout(rollout: Rollout): Result<ScoredRollout, readonly InputProblem[]> {
  const { response, messages, trajectory, ...shared } = rollout;
  const { cited_answer } = shared;
  if (cited_answer !== undefined && response === undefined) {
    return messages === undefined ? readAnswer(rollout, cited_answer) : problem('response', ONE_OUTPUT);
  }
  if (cited_answer === undefined && rollout.answer_format !== undefined) return problem('answer_format', NO_ANSWER);
  if (messages === undefined || response !== undefined) {
    if (messages !== undefined || response === undefined) return problem('response', ONE_OUTPUT);
    return trajectory === undefined ? { ok: true, value: { ...shared, response } } : problem('trajectory', NO_MESSAGES);
  }
  // A copy, because readings are kept by list, and the caller may change theirs.
  const list = typeof messages === 'string' ? messages : [...messages];
  const conversation = { messages: list, ...(trajectory === undefined ? {} : { trajectory }) };
  const read = readMessages(conversation);
  return read.ok ? { ok: true, value: { ...derivedFields(read.value), ...shared, ...conversation } } : read;
}

/** Converts an answer as its vendor sent it. Its own texts are the sources if the rollout gives none. */
function readAnswer(rollout: Rollout, cited_answer: unknown): Result<ScoredRollout, readonly InputProblem[]> {
  const { response: _response, messages: _messages, trajectory, ...shared } = rollout;
  if (trajectory !== undefined) return problem('trajectory', NO_MESSAGES);
  const fields = { ...shared, cited_answer };
  const answer = requestedAnswer(fields);
  if (answer === null) throw new Error('readAnswer: no cited_answer');
  if (!answer.ok) return answer;
  const { response, sources } = answer.value;
  return { ok: true, value: { ...(sources === null ? {} : { sources }), ...fields, response } };
}

const ONE_OUTPUT = 'give exactly one of response (a string), messages and cited_answer';
const NO_ANSWER = 'only with cited_answer: it names the format of that answer';
const NO_MESSAGES = 'only with messages: it says how they are read';

function problem(field: string, message: string): Result<never, readonly InputProblem[]> {
  return { ok: false, error: [{ path: [field], message }] };
}
