/** Compares the tool-call reward and its readers with Gen-Verse/Open-AgentRL, row by row, defects included. */
import { describe, expect, it } from 'vitest';
import {
  computeScore,
  computeScoreOutcomeReward,
  type VerlRewardInput,
} from '../../../src/families/tool-call/exact.ts';
import { readToolCallsAsVerl } from '../../../src/tools/hermes.ts';
import { normalizeFinalAnswer, scoreAnswerLine, scoreBoxedAnswer } from '../../../src/tools/math-answer.ts';
import { overlongPenalty } from '../../../src/tools/overlong-penalty.ts';
import { GOLDEN_TOLERANCE, type GoldenRow, goldenRows } from '../golden.ts';

type MathInput = { solution_str: string; ground_truth: string; strict_box_verify: boolean };

type OverlongInput = {
  score: number;
  response_length: number;
  max_resp_len: number;
  buffer_len: number;
  penalty_factor: number;
  enable: boolean;
};

function overlong(input: OverlongInput): unknown {
  if (!input.enable) return { overlong_reward: null, overlong: null, reward: input.score };
  const penalty = overlongPenalty(input.response_length, {
    maxTokens: input.max_resp_len,
    bufferTokens: input.buffer_len,
    factor: input.penalty_factor,
  });
  return { overlong_reward: penalty, overlong: penalty < 0, reward: input.score + penalty };
}

/** Converts our result to the shape of the golden row. */
function ours({ fn, input }: GoldenRow): unknown {
  switch (fn) {
    case 'math_dapo.compute_score': {
      const { solution_str, ground_truth, strict_box_verify } = input as MathInput;
      const score = strict_box_verify ? scoreBoxedAnswer : scoreAnswerLine;
      const outcome = score(solution_str, ground_truth);
      return { score: outcome.score, acc: outcome.correct, pred: outcome.prediction };
    }
    case 'math_dapo.normalize_final_answer':
      return normalizeFinalAnswer(String(input['final_answer']));
    case 'recipe.compute_score':
      return computeScore(input as VerlRewardInput);
    case 'recipe.compute_score_outcome_reward':
      return computeScoreOutcomeReward(input as VerlRewardInput);
    case 'DAPORewardManager.overlong':
      return overlong(input as OverlongInput);
    case 'HermesToolParser.extract_tool_calls':
      return readToolCallsAsVerl(String(input['text']));
    default:
      throw new Error(`no function ${fn}`);
  }
}

/** Replaces each number that is close enough by the expected one, so that the rest is compared exactly. */
function rounded(actual: unknown, expected: unknown): unknown {
  if (typeof actual === 'number' && typeof expected === 'number') {
    return Math.abs(actual - expected) <= GOLDEN_TOLERANCE ? expected : actual;
  }
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return actual;
  if (Array.isArray(actual)) return actual;
  const wanted = new Map(Object.entries(expected));
  return Object.fromEntries(Object.entries(actual).map(([key, value]) => [key, rounded(value, wanted.get(key))]));
}

it('a row without a data source is refused by name', () => {
  const row = { data_source: null, solution_str: '\\boxed{1}', ground_truth: '1', extra_info: {} };
  expect(() => computeScore(row)).toThrow(new RangeError('data_source is null: expected a text'));
});

describe('tcr.jsonl', () => {
  const rows = goldenRows('tcr.jsonl');
  it('has all rows', () => expect(rows).toHaveLength(118));
  it.each(rows.map((row) => [row.id, row] as const))('%s', (_id, row) => {
    expect(rounded(ours(row), row.output), row.note).toStrictEqual(row.output);
  });
});
