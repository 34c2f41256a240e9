/**
 * The outcome of a math answer: +1 or -1, by the last `\boxed{…}` under the strict rules, or by the last `Answer: …`
 * line (final-answer.ts). Formula: `verl/utils/reward_score/math_dapo.py`, Gen-Verse/Open-AgentRL 1fe5dbd2; GRPO-TCR uses
 * the strict rules. Both read a fixed number of code points at the end, so the work does not grow with the solution.
 */
import { lastAnswerLine, normalizeFinalAnswer } from './final-answer.ts';
import { lastCodePoints } from './python-text.ts';

/** How much of a solution's end is read, in code points. */
export const BOX_WINDOW = 100;
export const ANSWER_LINE_WINDOW = 300;

/** The reference's prediction where a solution has no answer line. */
export const INVALID_ANSWER = '[INVALID]';

const BOX = '\\boxed{';
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

export type MathOutcome = {
  readonly score: 1 | -1;
  readonly correct: boolean;
  /** What was compared: the box's content as it stands, or the normalised answer line; `null` without a box. */
  readonly prediction: string | null;
};

/**
 * Content of the last `\boxed{` in the text's last 100 code points, braces matched (an escaped brace is a brace).
 * `null` if there is none there or the last one is never closed, even where a complete one stands before it [code].
 */
export function lastBoxedAnswer(solution: string): string | null {
  const text = lastCodePoints(solution, BOX_WINDOW);
  const box = text.lastIndexOf(BOX);
  if (box === -1) return null;
  const start = box + BOX.length;
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPENING_BRACE) depth++;
    else if (code === CLOSING_BRACE && --depth === 0) return text.slice(start, at);
  }
  return null;
}

/** Strict: the box's content equals the reference answer as text. Nothing is trimmed or normalised on either side. */
export function scoreBoxedAnswer(solution: string, referenceAnswer: string): MathOutcome {
  return outcome(lastBoxedAnswer(solution), referenceAnswer);
}

/** Lenient: the last answer line of the last 300 code points and the reference answer have the same normal form. */
export function scoreAnswerLine(solution: string, referenceAnswer: string): MathOutcome {
  const line = lastAnswerLine(lastCodePoints(solution, ANSWER_LINE_WINDOW)) ?? INVALID_ANSWER;
  return outcome(normalizeFinalAnswer(line), normalizeFinalAnswer(referenceAnswer));
}

function outcome(prediction: string | null, expected: string): MathOutcome {
  const correct = prediction === expected;
  return { score: correct ? 1 : -1, correct, prediction };
}
