/** Rollouts as callers of the library give them: a response, or the messages of a conversation. */
import type { Rollout as ScoredRollout } from '../src/family/rollout.ts';
import type { InputProblem } from '../src/input-problem.ts';
import type { Result } from '../src/result.ts';
import { derivedFields } from '../src/trajectory/final-turns.ts';
import { type Messages, readMessages, type TrajectoryOptions } from '../src/trajectory/rollout-messages.ts';

type Shared = Omit<ScoredRollout, 'response' | 'messages' | 'trajectory'>;

/**
 * The input of a score: what the policy wrote, the sources that it could cite, and what the recipe reads about the
 * question. What the policy wrote is `response`, or `messages` with its tool calls and results, from which the response,
 * the sources and the turns are read.
 */
export type Rollout =
  | (Shared & { readonly response: string; readonly messages?: never; readonly trajectory?: never })
  | (Shared & { readonly messages: Messages; readonly trajectory?: TrajectoryOptions; readonly response?: never });

/** Reads the messages of a rollout. The fields that the rollout gives win over what its messages say. */
export function readRollout(rollout: Rollout): Result<ScoredRollout, readonly InputProblem[]> {
  const { response, messages, trajectory, ...shared } = rollout;
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

const ONE_OUTPUT = 'give exactly one of response (a string) and messages';
const NO_MESSAGES = 'only with messages: it says how they are read';

function problem(field: string, message: string): Result<never, readonly InputProblem[]> {
  return { ok: false, error: [{ path: [field], message }] };
}
