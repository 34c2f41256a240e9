/**
 * The tool-call shaping of GRPO-TCR: a wrong answer costs less the more rounds of tool calls were made, up to a
 * ceiling; a right answer gets no tool term. Formula: `recipe/demystify/reward.py`, Gen-Verse/Open-AgentRL 1fe5dbd2.
 */

type TurnShaping = {
  /** Upper bound of a shaped score. */
  readonly ceiling: number;
  /** Turn count of a rollout without a tool call, which earns no bonus. */
  readonly freeTurns: number;
  /** Added to a score below 0 for each round of two turns beyond `freeTurns`. */
  readonly bonusPerRound: number;
};

/** The reference's constants. */
export const TURN_SHAPING: TurnShaping = { ceiling: -0.6, freeTurns: 2, bonusPerRound: 0.1 };

const TURNS_PER_ROUND = 2;

/**
 * score, if it is 0 or more; else min(ceiling, score + (numTurns - freeTurns) / 2 * bonusPerRound).
 *
 * @param score the outcome: ±1 for math, the share of tests passed or -1 for code.
 * @param numTurns user turns + assistant turns + 1: 2 without a tool call, 4 with one round. Fewer than `freeTurns`
 *   lower the score, as in the reference: refuse a rollout without a turn count instead of passing 0.
 * @throws RangeError on a number that is not finite.
 */
export function shapeByTurns(score: number, numTurns: number, shaping: TurnShaping = TURN_SHAPING): number {
  const { ceiling, freeTurns, bonusPerRound } = shaping;
  const shaped =
    score < 0 ? Math.min(ceiling, score + ((numTurns - freeTurns) / TURNS_PER_ROUND) * bonusPerRound) : score;
  if (![score, numTurns, ceiling, freeTurns, bonusPerRound, shaped].every(Number.isFinite)) {
    throw new RangeError('shapeByTurns: a number is not finite');
  }
  return shaped;
}
