/**
 * The one reader of message lists. It normalises what trainers send (OpenAI chat messages, TRL completions, the
 * histories of LongTraceRL and CaRR, messages and nodes of verifiers, items of the Responses API, Anthropic's parts,
 * Hermes calls in texts) to a `Trajectory`. Each message is read by its own shape, so a list may mix them.
 *
 * Pure. Never throws, whatever the input. Takes linear time.
 */

import type { InputProblem } from '../input-problem.ts';
import { isJsonObject } from '../json.ts';
import { MAX_MESSAGE_DEPTH, MAX_MESSAGES } from '../limits.ts';
import type { Result } from '../result.ts';
import { branchOf, isNode } from './branches.ts';
import { readChatMessage } from './chat.ts';
import { isDeeperThan, TrajectoryDraft } from './draft.ts';
import { findUnreadCalls, hasWrittenCalls, readWrittenCalls } from './hermes-turns.ts';
import { linkCalls } from './link-calls.ts';
import { readMarkedText, TEXT_MARKUPS, type TextMarkup } from './marked-text.ts';
import { isResponsesItem, readResponsesItem } from './responses.ts';
import type { MessagePath, Trajectory } from './trajectory.ts';

/** How messages are read. */
export type ReadOptions = {
  /**
   * Indexes of the messages that the policy wrote. Default: all assistant messages, unless a message says otherwise in
   * `sampled` (verifiers) or `by_policy`.
   */
  readonly policy_messages?: readonly number[];
  /** Index of the last node of the branch to read, for a verifiers trace with several branches. */
  readonly leaf?: number;
  /** The marks of a transcript that is one text. */
  readonly markup?: TextMarkup | keyof typeof TEXT_MARKUPS;
};

/**
 * Reads a message list, or a transcript that is one text. Problems are input errors; what is valid but has no place is a finding.
 *
 * @param path Path of the messages in the request, for problems and spans.
 * @example
 * readTrajectory([{ role: 'assistant', content: 'The Aare is 288 km long.' }]);
 */
export function readTrajectory(
  messages: unknown,
  { policy_messages, leaf, markup }: ReadOptions = {},
  path: MessagePath = ['messages'],
): Result<Trajectory, readonly InputProblem[]> {
  const draft = new TrajectoryDraft(policy_messages === undefined ? null : new Set(policy_messages));
  if (typeof messages === 'string') {
    if (markup === undefined) return problem(['trajectory', 'markup'], 'required: the messages are one text');
    readMarkedText(messages, typeof markup === 'string' ? TEXT_MARKUPS[markup] : markup, path, draft);
    if (draft.turns.length > MAX_MESSAGES) draft.problem(path, `expected at most ${MAX_MESSAGES} turns`);
    return finish(draft);
  }
  if (markup !== undefined) return problem(['trajectory', 'markup'], 'only with messages that are one text');
  if (!Array.isArray(messages)) return problem(path, 'expected an array of messages, or a text with its markup');
  if (messages.length === 0) return problem(path, 'expected at least one message');
  if (messages.length > MAX_MESSAGES) {
    return problem(path, `expected at most ${MAX_MESSAGES} messages, got ${messages.length}`);
  }
  const placed = messages.some(isNode)
    ? branchOf(messages, leaf, path, draft)
    : messages.map((message, position) => ({ message, position, path: [...path, position] }));
  for (const { message, position, path: at } of placed) {
    if (!isJsonObject(message)) draft.expected(at, 'a message: an object with role and content', message);
    else if (isDeeperThan(message, MAX_MESSAGE_DEPTH)) {
      draft.problem(at, `expected at most ${MAX_MESSAGE_DEPTH} levels of nesting`);
    } else if (isResponsesItem(message)) readResponsesItem(message, position, at, draft);
    else readChatMessage(message, position, at, draft);
  }
  const wrong = policy_messages?.find((index) => index < 0 || index >= messages.length);
  if (wrong !== undefined) draft.problem(path, `expected a message ${wrong}, which the policy is said to have written`);
  return finish(draft);
}

function finish(draft: TrajectoryDraft): Result<Trajectory, readonly InputProblem[]> {
  if (draft.problems.length > 0) return { ok: false, error: draft.problems };
  const areWritten = hasWrittenCalls(draft.turns);
  const read = areWritten ? readWrittenCalls(draft.turns, draft) : draft.turns;
  findUnreadCalls(read, areWritten, draft);
  const turns = linkCalls(read, draft);
  return { ok: true, value: { turns, findings: draft.findings, finding_count: draft.findingCount } };
}

function problem(path: MessagePath, message: string): Result<never, readonly InputProblem[]> {
  return { ok: false, error: [{ path, message }] };
}
