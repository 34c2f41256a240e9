/**
 * A trajectory: the conversation of one rollout, turn by turn, in one form for all trainers. `readTrajectory` (read.ts)
 * builds it from the messages of a request. Every text keeps the way back to the strings that the caller sent.
 */
import type { InputProblem } from '../input-problem.ts';

/** Path of a value in the request, as problems name it: `messages[3].content`. */
export type MessagePath = InputProblem['path'];

/** A part of a text, copied from one string of the request. */
export type TextPiece = {
  /** Half-open range in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Path of the string in the request, and the offset in it where the piece begins. */
  readonly path: MessagePath;
  readonly from: number;
};

/** A text with its origin. The pieces are in order and do not overlap; text outside them is not the caller's. */
export type TracedText = { readonly text: string; readonly pieces: readonly TextPiece[] };

/** `other`: a role that the reader does not know. */
export type TurnRole = 'system' | 'user' | 'assistant' | 'tool' | 'other';

/** A tool call of a turn. */
export type TrajectoryCall = {
  /** `null` if the trainer's calls have no ids. */
  readonly id: string | null;
  readonly name: string;
  /** `null` if they are not a JSON object. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** The arguments as the policy wrote them; printed as JSON if the trainer sent an object. */
  readonly arguments_text: string;
  readonly path: MessagePath;
};

/** The result of a tool call. */
export type TrajectoryResult = {
  /** `null` if the result has no id. */
  readonly call_id: string | null;
  /** The tool's name, as the result or its call gives it. */
  readonly name: string | null;
  readonly output: TracedText;
  /** The call that this result answers: its turn, and its index there. `null` = none was found. */
  readonly call: { readonly turn: number; readonly call: number } | null;
  readonly path: MessagePath;
};

/** One message, or one item of a Responses API output. */
export type Turn = {
  readonly role: TurnRole;
  /** The visible text, as written: `<think>` blocks in it remain. `null` = the message has no content. */
  readonly text: TracedText | null;
  /** Thinking that the trainer sends apart from the text; `null` = none. */
  readonly thinking: TracedText | null;
  readonly calls: readonly TrajectoryCall[];
  readonly results: readonly TrajectoryResult[];
  /** Whether the policy wrote the turn. Other assistant turns are context: examples, or earlier conversations. */
  readonly by_policy: boolean;
  /** Why the turn ended, if the message says so. */
  readonly finish_reason: string | null;
  /** Index of the source message. */
  readonly message: number;
  readonly path: MessagePath;
};

/** Every reason of a finding about a trajectory. */
export const TRAJECTORY_FINDING_REASONS = [
  'role_unknown',
  'part_unread',
  'item_unread',
  'refusal',
  'content_truncated',
  'arguments_malformed',
  'call_unread',
  'call_without_result',
  'result_without_call',
  'tools_after_answer',
  'result_without_source',
  'policy_markup_in_context',
] as const;

type TrajectoryFindingReason = (typeof TRAJECTORY_FINDING_REASONS)[number];

/** Something in the messages that has no place in the trajectory, or an unusual place. */
export type TrajectoryFinding = { readonly reason: TrajectoryFindingReason; readonly path: MessagePath };

export type Trajectory = {
  readonly turns: readonly Turn[];
  /** At most MAX_FINDINGS findings, in the order of the messages. */
  readonly findings: readonly TrajectoryFinding[];
  /** The number of all findings. */
  readonly finding_count: number;
};
