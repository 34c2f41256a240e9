/**
 * The overlong penalty of DAPO: free up to the limit less the buffer, then linear, -factor at the limit and lower beyond.
 * Formula: `verl/workers/reward_manager/dapo.py`, Gen-Verse/Open-AgentRL 1fe5dbd2, in double precision (there float32).
 */

export type OverlongOptions = {
  /** Longest response, in tokens; at least `bufferTokens`. */
  readonly maxTokens: number;
  /** Where the penalty grows: this many tokens before the limit; above 0. */
  readonly bufferTokens: number;
  /** Size of the penalty at the limit; 0 or more. */
  readonly factor: number;
};

/**
 * min(-(L - (M - B)) / B * factor, 0), to be added to a reward.
 *
 * @param responseTokens L: all tokens of the response, tool output included.
 * @throws RangeError on a number that is not finite or out of its range above.
 */
export function overlongPenalty(responseTokens: number, options: OverlongOptions): number {
  const { maxTokens, bufferTokens, factor } = options;
  check(Number.isFinite(responseTokens) && responseTokens >= 0, 'responseTokens must be 0 or more');
  check(Number.isFinite(bufferTokens) && bufferTokens > 0, 'bufferTokens must be above 0');
  check(Number.isFinite(maxTokens) && maxTokens >= bufferTokens, 'maxTokens must be at least bufferTokens');
  check(Number.isFinite(factor) && factor >= 0, 'factor must be 0 or more');
  const excess = responseTokens - (maxTokens - bufferTokens);
  if (excess <= 0) return 0;
  const penalty = (-excess / bufferTokens) * factor;
  check(Number.isFinite(penalty), 'the penalty is not finite');
  // A factor of 0 would give -0.
  return penalty < 0 ? penalty : 0;
}

function check(holds: boolean, expected: string): void {
  if (!holds) throw new RangeError(`overlongPenalty: ${expected}`);
}
