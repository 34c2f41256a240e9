/** What an agent is asked and what a trajectory is. The defaults are the training run's (settings.ts). */
import type { GenerationSampling } from '../generation/generator.ts';
import type { MalformedCallReason } from '../tools/hermes.ts';
import type { TruncateSide } from './truncate.ts';

export const AGENT_TOOLS = ['code_interpreter'] as const;

export type AgentTool = (typeof AGENT_TOOLS)[number];

export type PromptMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

export type AgentSettings = {
  /** Ends with a user's message. */
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly AgentTool[];
  readonly sampling: GenerationSampling;
  readonly thinking: boolean;
  /** Assistant turns; at least 1. */
  readonly max_turns: number;
  /** Tokens of all turns together, tool output included. */
  readonly max_response_tokens: number;
  /** Of a tool's output, in characters (code points): longer ones are cut at `truncate`. */
  readonly max_tool_response_chars: number;
  readonly truncate: TruncateSide;
  /** Whether the last line of a program is printed, as in training. */
  readonly print_last_line: boolean;
  /** For one run of the tool, in seconds. */
  readonly tool_time_limit_s: number;
  readonly tool_memory_limit_mb: number;
  /** What becomes of a turn's calls after the first: nothing, or each is answered with a note that it was not run. */
  readonly further_calls: 'ignore' | 'report';
  /** What becomes of a call that cannot be run: the policy is told why, or what the training loop did. */
  readonly bad_calls: 'show' | 'as_training';
};

/** Why a call cannot be run. */
export type CallProblem = MalformedCallReason | 'unknown_tool' | 'code_missing';

export const CALL_PROBLEMS = [
  'not_json',
  'no_name',
  'arguments_not_object',
  'unknown_tool',
  'code_missing',
] as const satisfies readonly CallProblem[];

/** A tool call of a turn, and whether it can be run. */
export type AgentCall = {
  /** The server's id where it parsed the call itself; `null` = read from the text. */
  readonly id: string | null;
  /** `null` where it could not be read. */
  readonly name: string | null;
  /** JSON text; `null` where it could not be read. */
  readonly arguments: string | null;
  readonly problem: CallProblem | null;
};

/**
 * `finished`: it ended with status 0. `failed`: by an exception or a signal. `time_limit`: it was stopped.
 * `bad_call`: nothing was run, and `problem` of the call says why. `not_run`: a further call of the turn.
 */
export const TOOL_OUTCOMES = ['finished', 'failed', 'time_limit', 'bad_call', 'not_run'] as const;

export type ToolOutcome = (typeof TOOL_OUTCOMES)[number];

/** Tokens of one turn. */
export type TurnTokens = {
  readonly assistant: number;
  /** Of what the tools answered to it, the chat template's words around it included. */
  readonly tool_output: number;
  /** `estimated`: some of it from above, by the length of the text. */
  readonly counted: 'server' | 'estimated';
};

export type AssistantMessage = {
  readonly role: 'assistant';
  /** From 1. */
  readonly turn: number;
  readonly content: string;
  /** Thinking that the server split off; empty = none, or it stands in the content. */
  readonly thinking: string;
  /** As the server said it; `null` = the turn broke off. */
  readonly finish_reason: string | null;
  readonly tool_calls: readonly AgentCall[];
  readonly tokens: TurnTokens;
};

export type ToolMessage = {
  readonly role: 'tool';
  readonly turn: number;
  /** As the policy sees it. */
  readonly content: string;
  readonly call_id: string | null;
  readonly outcome: ToolOutcome;
  /** Length of the output before it was cut, in characters (code points). */
  readonly raw_chars: number;
  readonly truncated: boolean;
  /** False = it would have spent the response budget, and the policy never saw it. */
  readonly shown: boolean;
};

export type TrajectoryMessage = AssistantMessage | ToolMessage;

export const AGENT_DEFAULTS = {
  sampling: { temperature: 1, top_p: 1, top_k: null, seed: null },
  max_turns: 16,
  max_prompt_tokens: 2_560,
  max_response_tokens: 20_480,
  max_tool_response_chars: 256,
  truncate: 'middle',
  print_last_line: true,
  tool_time_limit_s: 30,
  tool_memory_limit_mb: 2_048,
  /** Ours: the loop leaves malformed calls out and ends at an unknown tool, with a note to show them to the model one day. */
  bad_calls: 'show',
  further_calls: 'ignore',
} as const;
