/**
 * The reply of `POST /v1/agent`, its events with `stream: true`, and the construction of the reply from a finished
 * loop.
 */
import * as z from 'zod';
import type { AgentLoop, Stopped } from '../agent/loop.ts';
import { isWhole, OUR_STOPS, STOP_CONDITIONS } from '../agent/stop-conditions.ts';
import { type AgentSettings, CALL_PROBLEMS, TOOL_OUTCOMES } from '../agent/types.ts';
import { indexSchema } from '../citations/finding-schema.ts';
import type { ToolCallRecipe } from '../families/tool-call/recipe.ts';
import { unscoredReasonSchema } from '../family/score.ts';
import { GENERATION_FAILURE_REASONS, type Generator } from '../generation/generator.ts';
import { tokenUsageSchema } from '../judgments/judgment-schema.ts';
import { JUDGE_FAILURE_REASONS } from '../judgments/protocol/failure.ts';
import { agentSamplingSchema } from './agent.ts';
import { problemSchema } from './problem.ts';
import { type ScoreResponse, scoreResponseSchema } from './score.ts';

const turnSchema = z.int().min(1).describe('Assistant turn, from 1.');

const callSchema = z.strictObject({
  id: z.string().nullable().describe('Id of a call that the server parsed; null = read from the text.'),
  name: z.string().nullable().describe('null = unreadable.'),
  arguments: z.string().nullable().describe('JSON text as the policy wrote it; null = unreadable.'),
  problem: z.enum(CALL_PROBLEMS).nullable().describe('Why the call cannot run.'),
});

const tokensSchema = z.strictObject({
  assistant: indexSchema,
  tool_output: indexSchema.describe("Tokens of the tool results, with the chat template's words around them."),
  counted: z
    .enum(['server', 'estimated'])
    .describe('estimated: at least one part is an upper estimate from the text length.'),
});

const assistantMessageSchema = z.strictObject({
  role: z.literal('assistant'),
  turn: turnSchema,
  content: z.string().describe('As the server returned it; calls that the server parsed are in tool_calls only.'),
  thinking: z.string().describe('Thinking that the server split off. Otherwise it is inside the content.'),
  finish_reason: z
    .string()
    .nullable()
    .describe('The finish reason as the model server reported it; null = the turn was interrupted.'),
  tool_calls: z.array(callSchema),
  tokens: tokensSchema,
});

const toolMessageSchema = z.strictObject({
  role: z.literal('tool'),
  turn: turnSchema,
  content: z.string().describe('The text that the policy sees.'),
  call_id: z.string().nullable(),
  outcome: z
    .enum(TOOL_OUTCOMES)
    .describe(
      'failed: ended by an exception or a signal. bad_call: the call could not run. not_run: a further call of the turn.',
    ),
  raw_chars: indexSchema.describe('Length of the output before truncation, in code points.'),
  truncated: z.boolean(),
  shown: z
    .boolean()
    .describe('false = the result would have exceeded the response budget, so the policy never saw it.'),
});

const failureSchema = z
  .strictObject({
    reason: z.enum([...GENERATION_FAILURE_REASONS, ...JUDGE_FAILURE_REASONS]),
    detail: z.string(),
    retryable: z.boolean(),
  })
  .describe("The failure of one of the deployment's own systems.");

/** Fields that are known before the first turn. */
const startFields = {
  generator: z.string(),
  model: z.string(),
  native_tools: z.boolean().describe('Whether the server parses tool calls. If not, calls are read from the text.'),
  sampling: agentSamplingSchema.describe('The sampling parameters as sent.'),
  max_turns: z.int().min(1),
  max_response_tokens: z.int().min(1),
};

/** Reasons for a null reward that only the agent has, besides those of scoring. */
const AGENT_UNSCORED_REASONS = [
  // The request has neither a reference nor tests, so no score was asked for.
  'not_asked',
  // The length penalty depends on an estimated token count.
  'tokens_estimated',
  // The trajectory is incomplete: the policy did not end it.
  ...OUR_STOPS,
  ...GENERATION_FAILURE_REASONS,
] as const;

export const agentResponseSchema = z.strictObject({
  ...startFields,
  trajectory: z.strictObject({
    prompt: z
      .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.string() }))
      .describe('The prompt as sent. It includes the tool descriptions if the system message carries them.'),
    messages: z.array(z.discriminatedUnion('role', [assistantMessageSchema, toolMessageSchema])),
  }),
  response: z
    .string()
    .describe(
      'All turns and tool results as one text, as the reward reads them (and as the training run decoded them).',
    ),
  stop: z.enum(STOP_CONDITIONS),
  failure: failureSchema.nullable(),
  num_turns: z
    .int()
    .min(1)
    .describe('User turns plus assistant turns plus 1: 2 without a tool call, 4 with one round.'),
  response_tokens: indexSchema.describe('Tokens of the response, tool output included.'),
  token_counts: z
    .enum(['server', 'estimated'])
    .describe('estimated: the server did not count every part, so response_tokens is an upper estimate.'),
  usage: tokenUsageSchema.nullable().describe('Sum over all calls of the server; null = the server reported none.'),
  reward: z.number().nullable().describe('null = undetermined or not requested; reason says why.'),
  reason: z
    .union([unscoredReasonSchema, z.enum(AGENT_UNSCORED_REASONS)])
    .nullable()
    .describe('Why the reward is null.'),
  score: scoreResponseSchema.nullable().describe('The reply of POST /v1/score; null if nothing was scored.'),
});

/** The reply of `POST /v1/agent`: a trajectory and its score. */
export type AgentResponse = z.infer<typeof agentResponseSchema>;

/** Data of each event, by event name. */
export const agentEventSchemas = {
  start: z.strictObject(startFields).describe('Sent before generation begins.'),
  turn: z.strictObject({ turn: turnSchema }).describe('A turn begins.'),
  delta: z.strictObject({ turn: turnSchema, text: z.string() }).describe('The next piece of the turn.'),
  thinking: z
    .strictObject({ turn: turnSchema, text: z.string() })
    .describe('The next piece of thinking, if the server splits it off.'),
  tool_call: callSchema
    .extend({
      turn: turnSchema,
      code: z.string().nullable().describe('The code to run; null = the call does not run.'),
    })
    .describe('A tool call of the turn.'),
  tool_result: toolMessageSchema.omit({ role: true }),
  turn_end: z
    .strictObject({ turn: turnSchema, finish_reason: z.string().nullable(), tokens: tokensSchema })
    .describe('The turn and its tool results are complete.'),
  done: agentResponseSchema.describe('The whole reply, as without stream. The last event.'),
  error: problemSchema.describe('The request failed without a reply. The last event.'),
};

export type AgentEventName = keyof typeof agentEventSchemas;
export type AgentEventData = { readonly [Name in AgentEventName]: z.infer<(typeof agentEventSchemas)[Name]> };

/** Data of any event, for the OpenAPI document. */
export const agentEventSchema = z
  .union(Object.values(agentEventSchemas))
  .describe('Data of an event: start, turn, delta, thinking, tool_call, tool_result, turn_end; then done or error.');

/** The part of the reply that is known before the first turn. */
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

type AgentScore = Pick<AgentResponse, 'reward' | 'reason' | 'score'>;

/**
 * Returns why a trajectory has no reward, or `null` if it can be scored.
 * @param recipe `null` = the request has neither reference nor tests.
 */
export function unscoredReason(loop: AgentLoop, recipe: ToolCallRecipe | null): AgentResponse['reason'] {
  if (recipe === null) return 'not_asked';
  const { stop, failure } = stoppedOf(loop);
  if (!isWhole(stop)) return failure?.reason ?? stop;
  return loop.tokensCounted === 'estimated' && dependsOnEstimate(stop, loop.responseTokens, recipe)
    ? 'tokens_estimated'
    : null;
}

/** Whether a length penalty or the end of the trajectory depends on an estimate. Estimates are upper bounds. */
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

/** Builds the reply. @throws Error if the loop has not stopped. */
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
  if (step.kind !== 'stopped') throw new Error('agentReply: the loop has not stopped');
  return step;
}
