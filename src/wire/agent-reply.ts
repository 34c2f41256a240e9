/** The reply of `POST /v1/agent`, and its events with `stream: true`. */
import * as z from 'zod';
import type { AgentLoop, Stopped } from '../agent/loop.ts';
import { isWhole, OUR_STOPS, STOP_CONDITIONS } from '../agent/stop-conditions.ts';
import type { AgentSettings } from '../agent/types.ts';
import { CALL_PROBLEMS, TOOL_OUTCOMES } from '../agent/types.ts';
import { indexSchema } from '../citations/finding-schema.ts';
import type { ToolCallRecipe } from '../families/tool-call/recipe.ts';
import { unscoredReasonSchema } from '../family/unscored-reason.ts';
import type { Generator } from '../generation/generator.ts';
import { GENERATION_FAILURE_REASONS } from '../generation/generator.ts';
import { tokenUsageSchema } from '../judgments/judgment-schema.ts';
import { JUDGE_FAILURE_REASONS } from '../judgments/types.ts';
import { agentSamplingSchema } from './agent.ts';
import { problemSchema } from './problem.ts';
import type { ScoreResponse } from './score.ts';
import { scoreResponseSchema } from './score.ts';

const turnSchema = z.int().min(1).describe('Assistant turns count from 1.');

const callSchema = z.strictObject({
  id: z.string().nullable().describe('Where the server parsed the call; null = read from the text.'),
  name: z.string().nullable().describe('null = it could not be read.'),
  arguments: z.string().nullable().describe('JSON as the policy wrote it; null = it could not be read.'),
  problem: z.enum(CALL_PROBLEMS).nullable().describe('Why it cannot be run.'),
});

const tokensSchema = z.strictObject({
  assistant: indexSchema,
  tool_output: indexSchema.describe("Of what the tools answered, the template's words around it included."),
  counted: z.enum(['server', 'estimated']).describe('estimated: some of it from above, by the length of the text.'),
});

const assistantMessageSchema = z.strictObject({
  role: z.literal('assistant'),
  turn: turnSchema,
  content: z.string().describe('As the server gave it: calls that it parsed stand in tool_calls only.'),
  thinking: z.string().describe('Where the server splits it off; else it stands in the content.'),
  finish_reason: z.string().nullable().describe('As the server said it; null = the turn broke off.'),
  tool_calls: z.array(callSchema),
  tokens: tokensSchema,
});

export const toolMessageSchema = z.strictObject({
  role: z.literal('tool'),
  turn: turnSchema,
  content: z.string().describe('As the policy sees it.'),
  call_id: z.string().nullable(),
  outcome: z
    .enum(TOOL_OUTCOMES)
    .describe('failed: by an exception or a signal. bad_call: nothing was run. not_run: a further call of the turn.'),
  raw_chars: indexSchema.describe('Length of the output before it was cut, in code points.'),
  truncated: z.boolean(),
  shown: z.boolean().describe('false = it would have spent the response budget, and the policy never saw it.'),
});

const failureSchema = z
  .strictObject({
    reason: z.enum([...GENERATION_FAILURE_REASONS, ...JUDGE_FAILURE_REASONS]),
    detail: z.string(),
    retryable: z.boolean(),
  })
  .describe('What went wrong on our side.');

/** What is known before the first turn. */
const startFields = {
  generator: z.string(),
  model: z.string(),
  native_tools: z.boolean().describe('Whether the server parses calls by itself; else they are read from the text.'),
  sampling: agentSamplingSchema.describe('As sent.'),
  max_turns: z.int().min(1),
  max_response_tokens: z.int().min(1),
};

/** Reasons of an agent, beside those of scoring. */
export const AGENT_UNSCORED_REASONS = [
  // Neither a reference nor tests.
  'not_asked',
  // Nobody counted the tokens, and the penalty for length would depend on the estimate.
  'tokens_estimated',
  // The trajectory is not whole.
  ...OUR_STOPS,
  ...GENERATION_FAILURE_REASONS,
] as const;

export const agentResponseSchema = z.strictObject({
  ...startFields,
  trajectory: z.strictObject({
    prompt: z
      .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.string() }))
      .describe('As sent; where tools are told in the system message, with them.'),
    messages: z.array(z.discriminatedUnion('role', [assistantMessageSchema, toolMessageSchema])),
  }),
  response: z
    .string()
    .describe('All turns and tool results in a row, as the reward reads them (and as the training run decoded them).'),
  stop: z.enum(STOP_CONDITIONS),
  failure: failureSchema.nullable(),
  num_turns: z.int().min(1).describe('User turns and assistant turns and 1: 2 without a tool call, 4 with one round.'),
  response_tokens: indexSchema.describe('Of the response, tool output included.'),
  token_counts: z
    .enum(['server', 'estimated'])
    .describe('estimated: the server did not count all of it; then response_tokens is an upper estimate.'),
  usage: tokenUsageSchema.nullable().describe('Of all calls of the server together; null = it counted none of them.'),
  reward: z.number().nullable().describe('null = could not be determined, or not asked; reason says why.'),
  reason: z
    .union([unscoredReasonSchema, z.enum(AGENT_UNSCORED_REASONS)])
    .nullable()
    .describe('Why the reward is null.'),
  score: scoreResponseSchema
    .nullable()
    .describe('As POST /v1/score answers; null where there was nothing to send there.'),
});

export type AgentResponse = z.infer<typeof agentResponseSchema>;

/** Data of the events, by their names. */
export const agentEventSchemas = {
  start: z.strictObject(startFields).describe('Before anything is generated.'),
  turn: z.strictObject({ turn: turnSchema }).describe('A turn begins.'),
  delta: z.strictObject({ turn: turnSchema, text: z.string() }).describe('The next piece of the turn.'),
  thinking: z
    .strictObject({ turn: turnSchema, text: z.string() })
    .describe('The next piece of thinking, where the server splits it off.'),
  tool_call: callSchema
    .extend({ turn: turnSchema, code: z.string().nullable().describe('What is run; null = nothing is.') })
    .describe('A call of the turn.'),
  tool_result: toolMessageSchema.omit({ role: true }),
  turn_end: z
    .strictObject({ turn: turnSchema, finish_reason: z.string().nullable(), tokens: tokensSchema })
    .describe('The turn and its tool results have ended.'),
  done: agentResponseSchema.describe('The whole reply, as without stream. The last event.'),
  error: problemSchema.describe('There is no reply. The last event.'),
};

export type AgentEventName = keyof typeof agentEventSchemas;
export type AgentEventData = { readonly [Name in AgentEventName]: z.infer<(typeof agentEventSchemas)[Name]> };

/** Data of any event, for the description of the API. */
export const agentEventSchema = z
  .union(Object.values(agentEventSchemas))
  .describe('Data of an event: start, turn, delta, thinking, tool_call, tool_result, turn_end; then done or error.');

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
