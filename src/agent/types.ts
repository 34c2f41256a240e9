/**
 * The settings of an agent, their defaults (those of the GRPO-TCR models' training, `recipe/demystify` of
 * Gen-Verse/Open-AgentRL), and the messages of a trajectory.
 */
import type { GenerationSampling } from '../generation/generator.ts';
import type { MalformedCallReason } from '../tools/hermes.ts';
import type { TruncateSide } from './truncate.ts';

export const AGENT_TOOLS = ['code_interpreter'] as const;

export type AgentTool = (typeof AGENT_TOOLS)[number];

export type PromptMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

export type AgentSettings = {
  /** The conversation that the agent continues; its last message is a user's. */
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly AgentTool[];
  readonly sampling: GenerationSampling;
  readonly thinking: boolean;
  /** Maximum number of assistant turns, at least 1. */
  readonly max_turns: number;
  /** Token budget of the response: all turns together, tool output included. */
  readonly max_response_tokens: number;
  /** Maximum length of one tool output, in code points; longer output is cut at `truncate`. */
  readonly max_tool_response_chars: number;
  readonly truncate: TruncateSide;
  /** Whether `print(…)` is put around the last line of a program, as in Open-AgentRL. */
  readonly print_last_line: boolean;
  /** Time limit of one tool run, in seconds. */
  readonly tool_time_limit_s: number;
  readonly tool_memory_limit_mb: number;
  /**
   * What happens to the calls of a turn after the first: `ignore` drops them, `report` answers each with a note that it
   * did not run.
   */
  readonly further_calls: 'ignore' | 'report';
  /**
   * What happens to a call that cannot run: `show` tells the policy why; `as_training` drops a malformed call and ends
   * the trajectory at an unknown tool or a call without code, as verl's loop in Open-AgentRL does.
   */
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

/** A tool call of a turn. */
export type AgentCall = {
  /** The id of a call that the server parsed; `null` = read from the text. */
  readonly id: string | null;
  /** Name of the called tool; `null` = unreadable. */
  readonly name: string | null;
  /** Arguments of the call, as the JSON text that the policy wrote; `null` = unreadable. */
  readonly arguments: string | null;
  readonly problem: CallProblem | null;
};

/**
 * `finished`: the program exited with status 0. `failed`: it ended by an exception or a signal. `time_limit`: the
 * sandbox stopped it. `bad_call`: the call could not run, and its `problem` says why. `not_run`: a further call of the
 * turn.
 */
export const TOOL_OUTCOMES = ['finished', 'failed', 'time_limit', 'bad_call', 'not_run'] as const;

export type ToolOutcome = (typeof TOOL_OUTCOMES)[number];

/** Token counts of one turn. */
export type TurnTokens = {
  readonly assistant: number;
  /** Tokens of the tool results after the turn, with the chat template's words around them. */
  readonly tool_output: number;
  /** `estimated`: at least one part is an upper estimate from the text length. */
  readonly counted: 'server' | 'estimated';
};

export type AssistantMessage = {
  readonly role: 'assistant';
  /** Number of the assistant turn, from 1. */
  readonly turn: number;
  readonly content: string;
  /** Thinking that the server split off; empty = none, or it is inside the content. */
  readonly thinking: string;
  /** The finish reason as the model server reported it; `null` = the turn was interrupted. */
  readonly finish_reason: string | null;
  readonly tool_calls: readonly AgentCall[];
  readonly tokens: TurnTokens;
};

export type ToolMessage = {
  readonly role: 'tool';
  readonly turn: number;
  /** The text that the policy sees. */
  readonly content: string;
  readonly call_id: string | null;
  readonly outcome: ToolOutcome;
  /** Length of the output before truncation, in code points. */
  readonly raw_chars: number;
  readonly truncated: boolean;
  /** False = the result would have exceeded the response budget, so the policy never saw it. */
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
  /** Our choice. Open-AgentRL's loop drops malformed calls and ends at an unknown tool. */
  bad_calls: 'show',
  further_calls: 'ignore',
} as const;
