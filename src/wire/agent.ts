/**
 * `POST /v1/agent`: a conversation in, the trajectory of a policy with tools out, and its reward where a reference or tests
 * say what is right. The reply and the events of the same as a stream stand in agent-reply.ts.
 */
import * as z from 'zod';
import { TRUNCATE_SIDES } from '../agent/truncate.ts';
import { AGENT_DEFAULTS, AGENT_TOOLS } from '../agent/types.ts';
import { sharedFields, textSchema } from '../family/rollout-schema.ts';
import {
  MAX_AGENT_MESSAGES,
  MAX_AGENT_PROMPT_TOKENS,
  MAX_AGENT_RESPONSE_TOKENS,
  MAX_AGENT_TURNS,
  MAX_NAME_CHARS,
  MAX_SEED,
  MAX_TOOL_MEMORY_LIMIT_MB,
  MAX_TOOL_RESPONSE_CHARS,
  MAX_TOOL_TIME_LIMIT_S,
} from '../limits.ts';
import { onJudgeFailureSchema, scoringFields } from './score.ts';

const MIN_TOOL_MEMORY_LIMIT_MB = 64;

/** Everything is sent to the server, so that none of its own defaults gets in. The defaults are those of training. */
export const agentSamplingSchema = z.strictObject({
  temperature: z.number().min(0).max(2).default(AGENT_DEFAULTS.sampling.temperature).describe('0 = greedy.'),
  top_p: z.number().gt(0).max(1).default(AGENT_DEFAULTS.sampling.top_p).describe("Training's validation has 0.6."),
  top_k: z.int().min(1).max(1_000_000).nullable().default(null).describe('null = all tokens.'),
  seed: z.int().min(0).max(MAX_SEED).nullable().default(null).describe('Of every turn. null = left to chance.'),
});

const promptMessageSchema = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: textSchema.min(1),
});

const { judgments, replicate, recipe } = scoringFields;

/** What says how a trajectory is scored, and means nothing without something that says what is right. */
const scoring = {
  recipe: recipe.exactOptional().describe('Of the tool-call family. Default: open-agentrl.'),
  judgments,
  replicate,
  on_judge_failure: onJudgeFailureSchema.default('null'),
};

const toolFields = {
  max_tool_response_chars: z
    .int()
    .min(2)
    .max(MAX_TOOL_RESPONSE_CHARS)
    .default(AGENT_DEFAULTS.max_tool_response_chars)
    .describe('What the policy sees of one tool output, in characters.'),
  truncate: z
    .enum(TRUNCATE_SIDES)
    .default(AGENT_DEFAULTS.truncate)
    .describe('What is kept of a longer one: left its beginning, right its end, middle half of each.'),
  print_last_line: z
    .boolean()
    .default(AGENT_DEFAULTS.print_last_line)
    .describe('The last line of a program that does not begin with print becomes print(<line>), as in training.'),
  tool_time_limit_s: z
    .int()
    .min(1)
    .max(MAX_TOOL_TIME_LIMIT_S)
    .default(AGENT_DEFAULTS.tool_time_limit_s)
    .describe('For one program, in seconds.'),
  tool_memory_limit_mb: z
    .int()
    .min(MIN_TOOL_MEMORY_LIMIT_MB)
    .max(MAX_TOOL_MEMORY_LIMIT_MB)
    .default(AGENT_DEFAULTS.tool_memory_limit_mb)
    .describe('For one program, in MB.'),
  further_calls: z
    .enum(['ignore', 'report'])
    .default(AGENT_DEFAULTS.further_calls)
    .describe('One call a turn is run. ignore: the others are passed over, as in training. report: each is answered.'),
  bad_calls: z
    .enum(['show', 'as_training'])
    .default(AGENT_DEFAULTS.bad_calls)
    .describe(
      'show: the policy is told why a call could not be run, and that is a round. as_training: malformed calls are ' +
        'none, an unknown tool or missing code ends the trajectory.',
    ),
};

export const agentRequestSchema = z
  .strictObject({
    messages: z
      .array(promptMessageSchema)
      .min(1)
      .max(MAX_AGENT_MESSAGES)
      .describe('A system message first if there is one; a user message last.'),
    tools: z
      .array(z.enum(AGENT_TOOLS))
      .max(AGENT_TOOLS.length)
      .default([...AGENT_TOOLS])
      .describe('Empty = none; then the first turn is the last.'),
    generator: z.string().min(1).max(MAX_NAME_CHARS).exactOptional().describe('Name of a configured generator.'),
    sampling: agentSamplingSchema.prefault({}),
    thinking: z.boolean().default(false).describe('Whether the chat template may open a thinking part.'),
    max_turns: z.int().min(1).max(MAX_AGENT_TURNS).default(AGENT_DEFAULTS.max_turns).describe('Assistant turns.'),
    max_prompt_tokens: z
      .int()
      .min(1)
      .max(MAX_AGENT_PROMPT_TOKENS)
      .default(AGENT_DEFAULTS.max_prompt_tokens)
      .describe('A longer prompt, tools included and estimated from above, is refused.'),
    max_response_tokens: z
      .int()
      .min(1)
      .max(MAX_AGENT_RESPONSE_TOKENS)
      .exactOptional()
      .describe(
        "Of all turns, tool output included. Default: what the recipe's overlong penalty takes as the longest; 20480 where nothing is scored.",
      ),
    ...toolFields,
    reference: sharedFields.reference.describe('The right final answer; the trajectory is scored by it.'),
    tests: sharedFields.tests.describe('The tests of a program, in place of a reference.'),
    ...scoring,
    stream: z.boolean().default(false).describe('Answer with server-sent events.'),
  })
  .superRefine((request, context) => {
    const problem = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    for (const [position, { role }] of request.messages.entries()) {
      if (role === 'system' && position > 0) problem(['messages', position, 'role'], 'a system message comes first');
    }
    const last = request.messages.at(-1);
    if (last !== undefined && last.role !== 'user') problem(['messages'], 'the last message is to be of the user');
    if (request.reference !== undefined || request.tests !== undefined) return;
    for (const field of scoringFieldsGiven(request)) {
      problem([field], 'nothing is scored without reference or tests');
    }
  });

export type AgentRequest = z.infer<typeof agentRequestSchema>;

/** Fields that would change how a trajectory is scored: those with a default only where they differ from it. */
function scoringFieldsGiven(request: z.infer<z.ZodObject<typeof scoring>>): string[] {
  const given: readonly (readonly [string, boolean])[] = [
    ['recipe', request.recipe !== undefined],
    ['judgments', request.judgments !== 'use'],
    ['replicate', request.replicate !== 0],
    ['on_judge_failure', request.on_judge_failure !== 'null'],
  ];
  return given.flatMap(([field, isGiven]) => (isGiven ? [field] : []));
}
