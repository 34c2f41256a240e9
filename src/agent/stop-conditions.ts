/**
 * The ways in which a trajectory of the tool agent ends. An end that the policy caused is scored as training scores it.
 * An end that our systems caused leaves the trajectory unfinished, so it has no reward.
 */

export const POLICY_STOPS = [
  // A turn without a tool call: the final answer.
  'no_tool_call',
  // The last allowed assistant turn calls a tool; the call does not run.
  'max_turns',
  // The response has spent its token budget, or the next tool result would.
  'response_budget',
  // Only with `bad_calls: "as_training"`: a call of an unknown tool, or a call without code.
  'bad_call',
] as const;

export const OUR_STOPS = [
  // The server cut a turn before the budget was spent.
  'length',
  // The next turn does not fit into the generator's context.
  'context_full',
  'deadline',
  'generator_failed',
  'sandbox_failed',
  'caller_gone',
] as const;

export const STOP_CONDITIONS = [...POLICY_STOPS, ...OUR_STOPS] as const;

type PolicyStop = (typeof POLICY_STOPS)[number];
type OurStop = (typeof OUR_STOPS)[number];
export type StopCondition = PolicyStop | OurStop;

/** Whether the policy itself ended the trajectory, so that it is complete and can be scored. */
export function isWhole(stop: StopCondition): stop is PolicyStop {
  return POLICY_STOPS.some((own) => own === stop);
}
