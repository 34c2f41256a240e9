/** Computes the tool-call reward from facts and a recipe. Pure. */
import type { Observed } from '../../family/facts.ts';
import type { Component, UnscoredReason } from '../../family/score.ts';
import { overlongPenalty } from '../../tools/overlong-penalty.ts';
import type { ToolCallFacts, ToolCallOutcomeFact } from './facts.ts';
import { shapeByTurns } from './formula.ts';
import type { ToolCallRecipe } from './recipe.ts';
import type { ToolCallScore } from './reply.ts';

const WRONG = -1;
const FREE_TURNS = 2;

/** Mathematics: 1 if right, else -1. Code: the share of tests passed, or -1 without a program that parses. */
function outcomeValue(outcome: ToolCallOutcomeFact, recipe: ToolCallRecipe): Observed<number> {
  switch (outcome.kind) {
    case 'math': {
      if (outcome.exact) return observed(1);
      if (recipe.math_equivalence === 'exact') return observed(WRONG);
      const { equivalent } = outcome;
      return equivalent.status === 'unscored' ? equivalent : observed(equivalent.observed ? 1 : WRONG);
    }
    case 'code': {
      const { tests } = outcome;
      if (!outcome.runnable) return observed(WRONG);
      if (tests.status === 'unscored') return tests;
      if (tests.observed.includes('compile_error')) return observed(WRONG);
      return observed(tests.observed.filter((test) => test === 'passed').length / tests.observed.length);
    }
  }
}

function observed(value: number): Observed<number> {
  return { status: 'scored', observed: value };
}

/**
 *     s       = outcome, [-1, 1]
 *     s'      = min(ceiling, s + (num_turns - 2) / 2 * per_round)   if s < 0, else s
 *     reward  = s' + min(-(L - (M - B)) / B * factor, 0)
 *
 * @throws RangeError on a non-finite result.
 */
export function composeToolCall(facts: ToolCallFacts, recipe: ToolCallRecipe): ToolCallScore {
  const { outcome, num_turns, response_tokens } = facts;
  const value = outcomeValue(outcome, recipe);
  const penalty = overlongOf(response_tokens, recipe);
  const overlong = { status: 'scored', value: penalty, weight: 1, contribution: penalty } as const;
  const details = testCounts(outcome);
  if (value.status === 'unscored') {
    const { reason } = value;
    const lost: Component = { status: 'unscored', value: null, weight: 1, contribution: null, reason };
    return scoreOf(null, null, reason, null, { outcome: lost, tool_calls: lost, overlong }, details);
  }
  const base = value.observed;
  const shaped = shapedScore(base, num_turns, recipe);
  const credit = shaped - base;
  const components = {
    outcome: { status: 'scored', value: base, weight: 1, contribution: base },
    tool_calls: { status: 'scored', value: credit, weight: 1, contribution: credit },
    overlong,
  } as const;
  const unrunnable = outcome.kind === 'code' && base === WRONG;
  const rule = unrunnable ? 'no_runnable_block' : 'components';
  return scoreOf(shaped + penalty, base, null, rule, components, details);
}

function scoreOf(
  reward: number | null,
  base: number | null,
  reason: UnscoredReason | null,
  decided_by: ToolCallScore['decided_by'],
  components: ToolCallScore['components'],
  details: ToolCallScore['details'],
): ToolCallScore {
  if (reward !== null && !Number.isFinite(reward)) throw new RangeError('composeToolCall: a non-finite reward');
  const status = reward === null ? 'unscored' : 'scored';
  return { family: 'tool-call', reward, base, status, reason, decided_by, components, details };
}

function shapedScore(score: number, numTurns: number, { tool_call_credit }: ToolCallRecipe): number {
  const { enabled, ceiling, per_round } = tool_call_credit;
  if (!enabled) return score;
  return shapeByTurns(score, numTurns, { ceiling, freeTurns: FREE_TURNS, bonusPerRound: per_round });
}

function overlongOf(responseTokens: number, { overlong_penalty }: ToolCallRecipe): number {
  const { enabled, max_response_tokens, buffer_tokens, factor } = overlong_penalty;
  if (!enabled) return 0;
  return overlongPenalty(responseTokens, { maxTokens: max_response_tokens, bufferTokens: buffer_tokens, factor });
}

function testCounts(outcome: ToolCallOutcomeFact): ToolCallScore['details'] {
  if (outcome.kind === 'math' || outcome.tests.status === 'unscored') return { tests_passed: null, tests_total: null };
  const { observed: tests } = outcome.tests;
  return { tests_passed: tests.filter((test) => test === 'passed').length, tests_total: tests.length };
}
