/**
 * How a trajectory of the tool agent can end. Two kinds, because of what follows: an end that the policy brought about is
 * scored as training scores it; an end that is ours leaves the trajectory unfinished, and there is no reward for it.
 */

export const POLICY_STOPS = [
  // A turn without a tool call: the final answer.
  'no_tool_call',
  // The last assistant turn that was allowed still calls a tool; it is not run.
  'max_turns',
  // The response is as long as it may be, or the next tool result would make it so.
  'response_budget',
  // Only with `bad_calls: "as_training"`: a call of an unknown tool, or without code.
  'bad_call',
] as const;

export const OUR_STOPS = [
  // The server cut a turn before its budget was spent.
  'length',
  // The next turn would not fit into the generator's context.
  'context_full',
  'deadline',
  'generator_failed',
  'sandbox_failed',
  'caller_gone',
] as const;

export const STOP_CONDITIONS = [...POLICY_STOPS, ...OUR_STOPS] as const;

export type PolicyStop = (typeof POLICY_STOPS)[number];
export type OurStop = (typeof OUR_STOPS)[number];
export type StopCondition = PolicyStop | OurStop;

/** Whether the trajectory is whole: the policy's own, and so to be scored. */
export function isWhole(stop: StopCondition): stop is PolicyStop {
  return POLICY_STOPS.some((own) => own === stop);
}
