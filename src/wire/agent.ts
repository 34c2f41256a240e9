/**
 * `POST /v1/agent`: runs a policy with tools on a conversation and returns its trajectory. The trajectory is scored if
 * the request has a reference or tests. agent-reply.ts has the reply.
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

/**
 * Sampling parameters, all sent explicitly, because servers have defaults of their own. Defaults: those of the GRPO-TCR
 * training (`AGENT_DEFAULTS`).
 */
export const agentSamplingSchema = z.strictObject({
  temperature: z.number().min(0).max(2).default(AGENT_DEFAULTS.sampling.temperature).describe('0 = greedy.'),
  top_p: z
    .number()
    .gt(0)
    .max(1)
    .default(AGENT_DEFAULTS.sampling.top_p)
    .describe("The training run's validation uses 0.6."),
  top_k: z.int().min(1).max(1_000_000).nullable().default(null).describe('null = all tokens.'),
  seed: z.int().min(0).max(MAX_SEED).nullable().default(null).describe('Seed of every turn; null = random.'),
});

const promptMessageSchema = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: textSchema.min(1),
});

const { judgments, replicate, recipe } = scoringFields;

/** Scoring fields. They require a reference or tests. */
const scoring = {
  recipe: recipe.exactOptional().describe('A recipe of the tool-call family. Default: open-agentrl.'),
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
    .describe('Maximum length of one tool output that the policy sees, in code points.'),
  truncate: z
    .enum(TRUNCATE_SIDES)
    .default(AGENT_DEFAULTS.truncate)
    .describe('The part that is kept of longer output: left = beginning, right = end, middle = half of each.'),
  print_last_line: z
    .boolean()
    .default(AGENT_DEFAULTS.print_last_line)
    .describe('Whether a last line that does not begin with print becomes print(<line>), as in training.'),
  tool_time_limit_s: z
    .int()
    .min(1)
    .max(MAX_TOOL_TIME_LIMIT_S)
    .default(AGENT_DEFAULTS.tool_time_limit_s)
    .describe('Time limit of one program, in seconds.'),
  tool_memory_limit_mb: z
    .int()
    .min(MIN_TOOL_MEMORY_LIMIT_MB)
    .max(MAX_TOOL_MEMORY_LIMIT_MB)
    .default(AGENT_DEFAULTS.tool_memory_limit_mb)
    .describe('Memory limit of one program, in MB.'),
  further_calls: z
    .enum(['ignore', 'report'])
    .default(AGENT_DEFAULTS.further_calls)
    .describe(
      'One call per turn runs. ignore: further calls are dropped, as in training. report: each gets an answer.',
    ),
  bad_calls: z
    .enum(['show', 'as_training'])
    .default(AGENT_DEFAULTS.bad_calls)
    .describe(
      'show: the policy is told why a call could not run, which counts as a round. as_training: malformed calls are ' +
        'dropped; an unknown tool or missing code ends the trajectory.',
    ),
};

export const agentRequestSchema = z
  .strictObject({
    messages: z
      .array(promptMessageSchema)
      .min(1)
      .max(MAX_AGENT_MESSAGES)
      .describe("A system message can come first; the last message is a user's."),
    tools: z
      .array(z.enum(AGENT_TOOLS))
      .max(AGENT_TOOLS.length)
      .default([...AGENT_TOOLS])
      .describe('Empty = no tools; then the first turn is the last.'),
    generator: z.string().min(1).max(MAX_NAME_CHARS).exactOptional().describe('Name of a configured generator.'),
    sampling: agentSamplingSchema.prefault({}),
    thinking: z.boolean().default(false).describe('Whether the chat template opens a thinking part.'),
    max_turns: z
      .int()
      .min(1)
      .max(MAX_AGENT_TURNS)
      .default(AGENT_DEFAULTS.max_turns)
      .describe('Maximum number of assistant turns.'),
    max_prompt_tokens: z
      .int()
      .min(1)
      .max(MAX_AGENT_PROMPT_TOKENS)
      .default(AGENT_DEFAULTS.max_prompt_tokens)
      .describe('Upper limit for the estimated prompt with its tools; a longer prompt is refused.'),
    max_response_tokens: z
      .int()
      .min(1)
      .max(MAX_AGENT_RESPONSE_TOKENS)
      .exactOptional()
      .describe(
        "Token budget of all turns, tool output included. Default: the maximum length in the recipe's overlong penalty, or 20480 without scoring.",
      ),
    ...toolFields,
    reference: sharedFields.reference.describe('The correct final answer; the trajectory is scored against it.'),
    tests: sharedFields.tests.describe('Tests of a program, instead of a reference.'),
    ...scoring,
    stream: z.boolean().default(false).describe('Whether to answer with server-sent events.'),
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

/** Names the scoring fields that the request sets, or sets to something other than their default. */
function scoringFieldsGiven(request: z.infer<z.ZodObject<typeof scoring>>): string[] {
  const given: readonly (readonly [string, boolean])[] = [
    ['recipe', request.recipe !== undefined],
    ['judgments', request.judgments !== 'use'],
    ['replicate', request.replicate !== 0],
    ['on_judge_failure', request.on_judge_failure !== 'null'],
  ];
  return given.flatMap(([field, isGiven]) => (isGiven ? [field] : []));
}
