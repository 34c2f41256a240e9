/** The reply of `POST /v1/agent`: the trajectory, how it ended, and whether there is something to score. */

import type { AgentLoop, Stopped } from '../agent/loop.ts';
import { isWhole } from '../agent/stop-conditions.ts';
import type { AgentSettings } from '../agent/types.ts';
import type { ToolCallRecipe } from '../families/tool-call/recipe.ts';
import type { Generator } from '../generation/generator.ts';
import type { AgentResponse } from './agent-reply.ts';
import type { ScoreResponse } from './score.ts';

/** What is known before the first turn. */
export type AgentStart = Pick<
  AgentResponse,
  'generator' | 'model' | 'native_tools' | 'sampling' | 'max_turns' | 'max_response_tokens'
>;

export function agentStart(
  { max_turns, max_response_tokens, sampling }: AgentSettings,
  { name, model, native_tools }: Generator,
): AgentStart {
  return { generator: name, model, native_tools, sampling: { ...sampling }, max_turns, max_response_tokens };
}

export type AgentScore = Pick<AgentResponse, 'reward' | 'reason' | 'score'>;

/**
 * Why a trajectory has no reward whatever it says; `null` = it is to be scored.
 * @param recipe `null` = nothing says what is right.
 */
export function unscoredReason(loop: AgentLoop, recipe: ToolCallRecipe | null): AgentResponse['reason'] {
  if (recipe === null) return 'not_asked';
  const { stop, failure } = stoppedOf(loop);
  if (!isWhole(stop)) return failure?.reason ?? stop;
  return loop.tokensCounted === 'estimated' && dependsOnEstimate(stop, loop.responseTokens, recipe)
    ? 'tokens_estimated'
    : null;
}

/** Estimates are from above: where even they are too short for a penalty, or for an end, there is none. */
function dependsOnEstimate(stop: Stopped['stop'], tokens: number, { overlong_penalty }: ToolCallRecipe): boolean {
  if (stop === 'response_budget') return true;
  const { enabled, factor, max_response_tokens, buffer_tokens } = overlong_penalty;
  return enabled && factor > 0 && tokens > max_response_tokens - buffer_tokens;
}

export function unscored(reason: NonNullable<AgentResponse['reason']>): AgentScore {
  return { reward: null, reason, score: null };
}

export function scored(score: ScoreResponse): AgentScore {
  return { reward: score.reward, reason: score.reason, score };
}

/** @throws Error if the loop has not stopped. */
export function agentReply(start: AgentStart, loop: AgentLoop, score: AgentScore): AgentResponse {
  const { stop, failure } = stoppedOf(loop);
  return {
    ...start,
    trajectory: {
      prompt: loop.prompt.map(({ role, content }) => ({ role, content })),
      messages: loop.messages.map((message) =>
        message.role === 'tool'
          ? { ...message }
          : { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call })), tokens: { ...message.tokens } },
      ),
    },
    response: loop.response,
    stop,
    failure: failure === null ? null : wireFailure(failure),
    num_turns: loop.numTurns,
    response_tokens: loop.responseTokens,
    token_counts: loop.tokensCounted,
    usage: loop.usage,
    ...score,
  };
}

function wireFailure({ reason, detail, retryable }: NonNullable<Stopped['failure']>): AgentResponse['failure'] {
  return { reason, detail, retryable };
}

function stoppedOf({ step }: AgentLoop): Stopped {
  if (step.kind !== 'stopped') throw new Error('agentReply: the loop goes on');
  return step;
}
