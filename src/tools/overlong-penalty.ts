/**
 * The overlong penalty of DAPO. It is 0 up to `maxTokens - bufferTokens` and then falls linearly, to `-factor` at
 * `maxTokens` and lower beyond. Formula: `verl/workers/reward_manager/dapo.py`, Gen-Verse/Open-AgentRL 1fe5dbd2, but in
 * double precision instead of float32.
 */

/** Options of `overlongPenalty`. */
type OverlongOptions = {
  /** Longest response, in tokens; at least `bufferTokens`. */
  readonly maxTokens: number;
  /** Length of the range before `maxTokens` where the penalty grows, in tokens; above 0. */
  readonly bufferTokens: number;
  /** Size of the penalty at `maxTokens`; 0 or more. */
  readonly factor: number;
};

/**
 * Returns min(-(L - (M - B)) / B * factor, 0), which is added to a reward. L is `responseTokens`, M `maxTokens` and B
 * `bufferTokens`.
 *
 * @param responseTokens Number of tokens of the response, tool output included; 0 or more.
 * @throws RangeError if a number is not finite or out of its range.
 * @example
 * overlongPenalty(20_000, { maxTokens: 20_480, bufferTokens: 4_096, factor: 1 }); // -0.8828125
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
  // With a factor of 0 the penalty is -0, which becomes 0.
  return penalty < 0 ? penalty : 0;
}

function check(holds: boolean, expected: string): void {
  if (!holds) throw new RangeError(`overlongPenalty: ${expected}`);
}
