/**
 * The one reader of message lists. It normalises what trainers send (OpenAI chat messages, TRL completions, the
 * histories of LongTraceRL and CaRR, flat calls of verifiers) to a `Trajectory`.
 *
 * Pure. Never throws, whatever the input. Takes linear time: it never descends into a value that it does not read.
 */
import type { InputProblem } from '../input-problem.ts';
import { MAX_MESSAGES } from '../limits.ts';
import type { Result } from '../result.ts';
import { readChatMessage } from './chat.ts';
import { isRecord, TrajectoryDraft } from './draft.ts';
import { linkCalls } from './link-calls.ts';
import type { MessagePath, Trajectory } from './trajectory.ts';

type ReadOptions = {
  /** Path of the messages in the request, for problems and spans. Default `messages`. */
  readonly path?: MessagePath;
  /**
   * Indexes of the messages that the policy wrote. Default: all assistant messages, unless a message says otherwise in
   * `sampled` (verifiers) or `by_policy`.
   */
  readonly policyMessages?: readonly number[];
};

/**
 * Reads a message list. Problems are input errors; what is valid but has no place is a finding.
 *
 * @example
 * readTrajectory([{ role: 'assistant', content: 'The Aare is 288 km long.' }]);
 */
export function readTrajectory(
  messages: unknown,
  { path = ['messages'], policyMessages }: ReadOptions = {},
): Result<Trajectory, readonly InputProblem[]> {
  if (!Array.isArray(messages)) return problem(path, 'expected an array of messages');
  if (messages.length === 0) return problem(path, 'expected at least one message');
  if (messages.length > MAX_MESSAGES) {
    return problem(path, `expected at most ${MAX_MESSAGES} messages, got ${messages.length}`);
  }
  const draft = new TrajectoryDraft(policyMessages === undefined ? null : new Set(policyMessages));
  for (const [position, message] of messages.entries()) {
    const at = [...path, position];
    if (isRecord(message)) readChatMessage(message, position, at, draft);
    else draft.expected(at, 'a message: an object with role and content', message);
  }
  const wrong = policyMessages?.find((index) => index < 0 || index >= messages.length);
  if (wrong !== undefined) draft.problem(path, `expected a message ${wrong}, which the policy is said to have written`);
  if (draft.problems.length > 0) return { ok: false, error: draft.problems };
  const turns = linkCalls(draft.turns, draft);
  return { ok: true, value: { turns, findings: draft.findings, finding_count: draft.findingCount } };
}

function problem(path: MessagePath, message: string): Result<never, readonly InputProblem[]> {
  return { ok: false, error: [{ path, message }] };
}
