/**
 * The reward functions of `recipe/demystify/reward.py`, Gen-Verse/Open-AgentRL 1fe5dbd2, for trainers that move from
 * that code: same names, keys, defaults and numbers. That code counts a missing turn count as 0, a defect that cost a
 * training run its tool term (Gen-Verse/Open-AgentRL#13); the HTTP API refuses such a request.
 */

import { stripPythonSpace } from '../../text/python-text.ts';
import { scoreBoxedAnswer } from '../../tools/math-answer.ts';
import { shapeByTurns } from './formula.ts';

/** The keyword arguments of verl's reward functions that this file reads. */
export type VerlRewardInput = {
  /** `null` where the data set has none, which that code refuses, too. */
  readonly data_source: string | null;
  readonly solution_str: string;
  readonly ground_truth: string;
  readonly extra_info: { readonly num_turns?: unknown };
};

type VerlRewardResult = {
  readonly score: number;
  readonly acc: boolean;
  /** Empty without a prediction, since verl's logging rejects null. */
  readonly pred: string;
};

/**
 * The outcome, shaped by the turn count if it is wrong.
 *
 * @throws RangeError for no data source, for one with `code` in its name, whose outcome needs the sandbox (shape the
 *   share of tests with `shapeByTurns`), and for a turn count that Python's `int()` refuses.
 */
export function computeScore(input: VerlRewardInput): VerlRewardResult {
  const outcome = computeScoreOutcomeReward(input);
  const { num_turns: numTurns = 0 } = input.extra_info;
  return { ...outcome, score: shapeByTurns(outcome.score, toPythonInt(numTurns)) };
}

/** The outcome without the turn shaping. @throws RangeError for no data source, or one with `code` in its name. */
export function computeScoreOutcomeReward(input: VerlRewardInput): VerlRewardResult {
  if (input.data_source === null) throw new RangeError('data_source is null: expected a text');
  if (input.data_source.includes('code')) throw new RangeError('a code outcome needs the sandbox');
  const { score, correct, prediction } = scoreBoxedAnswer(input.solution_str, input.ground_truth);
  return { score, acc: correct, pred: prediction ?? '' };
}

const INTEGER = /^[+-]?\d+(?:_\d+)*$/;

/** Python's `int(value)` for JSON values; text must consist of ASCII digits. */
function toPythonInt(value: unknown): number {
  const number = pythonNumber(value);
  if (!Number.isFinite(number)) throw new RangeError('num_turns is not an integer');
  return Math.trunc(number);
}

function pythonNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const text = typeof value === 'string' ? stripPythonSpace(value) : '';
  return INTEGER.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
}
