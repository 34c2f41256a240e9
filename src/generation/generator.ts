/**
 * What generates: something that answers a chat as a stream of events and stops the moment nobody reads on. A model server,
 * Workers AI and the extractive refiner stand behind it (functions/backends); refine and agent know nothing else of them.
 *
 * Generation is a policy's work, so it differs from judging: it is sampled, it is never stored, it ends with its caller, and
 * a reply that was cut at its length is a result with a finish reason, not a failure.
 */
import type { TokenUsage } from '../judgments/types.ts';

/** A call in the server's own shape, its arguments as the model wrote them: JSON text that nobody has checked. */
export type NativeToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

export type GenerationMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly tool_calls?: readonly NativeToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

/** Everything is sent, so that no default of a server (vLLM takes a model's generation_config.json) gets in. */
export type GenerationSampling = {
  /** >= 0; 0 = greedy. */
  readonly temperature: number;
  /** (0, 1]. */
  readonly top_p: number;
  /** Candidates at each token; `null` = all. */
  readonly top_k: number | null;
  /** `null` = left to chance. Choice i of a backend without `n` of its own gets seed + i. */
  readonly seed: number | null;
};

/** A function that the model may call, with the JSON Schema of its arguments. */
export type ToolDescription = {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
};

export type GenerationRequest = {
  readonly messages: readonly GenerationMessage[];
  /** Choices, each an independent sample; at least 1. */
  readonly n: number;
  readonly sampling: GenerationSampling;
  /** Of each choice, thinking included. */
  readonly max_tokens: number;
  /** Whether the chat template may open a thinking part. */
  readonly thinking: boolean;
  /** Described to the server in its own field, where it parses calls by itself; empty = none. */
  readonly tools: readonly ToolDescription[];
  /** What a generator that writes without a prompt reads (the extractive refiner); models read `messages`. */
  readonly subject: { readonly question: string; readonly tool_output: string } | null;
};

/**
 * `choice` counts from 0. Texts of a choice come in their order, choices interleave. `thinking` is text that the server has
 * split off; where it does not, thinking stands inside `text` with its tags.
 */
export type GenerationEvent =
  | { readonly type: 'text'; readonly choice: number; readonly text: string }
  | { readonly type: 'thinking'; readonly choice: number; readonly text: string }
  /** Whole: its arguments have ended. */
  | { readonly type: 'tool_call'; readonly choice: number; readonly call: NativeToolCall }
  /** The choice has ended: `stop`, `length`, `tool_calls`, or a word of the server's own. Nothing of it follows. */
  | { readonly type: 'finish'; readonly choice: number; readonly finish_reason: string }
  /** Of all choices together, as the server counts. At most once a call of the server. */
  | { readonly type: 'usage'; readonly usage: TokenUsage };

export const GENERATION_FAILURE_REASONS = [
  'generator_unconfigured',
  // The backend could not be reached or broke off.
  'generator_timeout',
  'generator_unreachable',
  'generator_interrupted',
  'generator_rate_limited',
  'generator_overloaded',
  'generator_error',
  'generator_unauthorized',
  'generator_request_refused',
  'generator_not_an_api',
  // It answered, and not with a sample of the policy.
  'generator_prompt_too_long',
  'generator_reply_too_large',
  'generator_refusal',
  'generator_model_mismatch',
] as const;

export type GenerationFailureReason = (typeof GENERATION_FAILURE_REASONS)[number];

/** Why there is no whole generation. Never a candidate, never a number. */
export type GenerationFailure = {
  readonly reason: GenerationFailureReason;
  /** For people; holds no caller text. */
  readonly detail: string;
  readonly retryable: boolean;
  /** Seconds after which a retry makes sense, where the backend said so. */
  readonly retry_after_s?: number;
};

/** Every choice has finished, or why not; what was sent before a failure stands, and is not whole. */
export type GenerationEnd = { readonly ok: true } | { readonly ok: false; readonly failure: GenerationFailure };

export interface Generator {
  /** Its name in the configuration. */
  readonly name: string;
  /** The model as it is reported: what the server serves, or `citeward-extractive-1`. */
  readonly model: string;
  /** Prompt and reply together, in tokens; `null` = takes any. */
  readonly context_tokens: number | null;
  /** Whether the server parses tool calls by itself; otherwise they are read from the text (Hermes). */
  readonly native_tools: boolean;
  /**
   * Generates. Nothing is asked of the backend before the first `next`, and the next piece is read only when the next event
   * is asked for, so a slow reader slows the backend. `return` frees the backend at once, as `signal` does.
   * Expected failures are the end that is returned; a rejection is a bug.
   * @param options.deadline_ms from the first `next` on.
   */
  generate(
    request: GenerationRequest,
    options: { readonly deadline_ms: number; readonly signal: AbortSignal },
  ): AsyncGenerator<GenerationEvent, GenerationEnd>;
}

/** The generator of a request, or why there is none. */
export type GeneratorChoice =
  | { readonly ok: true; readonly generator: Generator }
  | { readonly ok: false; readonly failure: GenerationFailure };
