/**
 * The interface of generators: a chat request in, a cancellable stream of events out. Model servers, Workers AI and the
 * extractive refiner implement it (functions/backends); refine and agent use nothing else.
 *
 * Generation differs from judging: samples are random, never stored, and cancelled with their caller. A reply that ends
 * at its length limit is a result with the finish reason `length`, not a failure.
 */

import type { TokenUsage } from '../judgments/protocol/failure.ts';
import { namesOf } from '../names-of.ts';
import type { Failure, Result } from '../result.ts';

/** A tool call that the server parsed. `arguments` is the model's JSON text, unchecked. */
export type NativeToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

export type GenerationMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly tool_calls?: readonly NativeToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

/**
 * Sampling parameters. All are sent explicitly, because servers have defaults of their own (vLLM:
 * generation_config.json).
 */
export type GenerationSampling = {
  /** 0 or more; 0 = greedy. */
  readonly temperature: number;
  /** In (0, 1]. */
  readonly top_p: number;
  /** Number of most likely tokens to sample from; `null` = all. */
  readonly top_k: number | null;
  /** Seed of the sampling; `null` = random. If the backend lacks `n`, choice i gets the seed `seed + i`. */
  readonly seed: number | null;
};

/** A function that the model can call, with the JSON Schema of its arguments. */
export type ToolDescription = {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
};

export type GenerationRequest = {
  readonly messages: readonly GenerationMessage[];
  /** Number of independent samples (choices), at least 1. */
  readonly n: number;
  readonly sampling: GenerationSampling;
  /** Token limit of each choice, thinking included. */
  readonly max_tokens: number;
  /** Whether the chat template opens a thinking part. */
  readonly thinking: boolean;
  /** Tools to describe in the server's own field; empty = none, or the prompt describes them. */
  readonly tools: readonly ToolDescription[];
  /** Input of generators that use no prompt (the extractive refiner). Models read `messages`. */
  readonly subject: { readonly question: string; readonly tool_output: string } | null;
};

/**
 * An event of a generation. `choice` counts from 0; the texts of one choice come in order, choices interleave.
 * `thinking` is text that the server split off; a server that does not split leaves thinking and its tags in `text`.
 */
export type GenerationEvent =
  | { readonly type: 'text'; readonly choice: number; readonly text: string }
  | { readonly type: 'thinking'; readonly choice: number; readonly text: string }
  /** A complete call. */
  | { readonly type: 'tool_call'; readonly choice: number; readonly call: NativeToolCall }
  /** The last event of a choice. `finish_reason` is `stop`, `length`, `tool_calls`, or a word of the server's own. */
  | { readonly type: 'finish'; readonly choice: number; readonly finish_reason: string }
  /** Token counts of all choices together, as the server reports them; at most one event per server call. */
  | { readonly type: 'usage'; readonly usage: TokenUsage };

type ReasonRow = {
  /** The status of a request that fails with it: 503 if a retry may help or no generator is configured, else 502 or 422. */
  readonly status: number;
  /** The title of its problem. */
  readonly title: string;
  /** Whether the backend answered, but without a usable result. */
  readonly answered?: true;
};

/** The reasons for which a generation is incomplete: one row each, which everything else reads. */
const GENERATION_REASONS = {
  generator_unconfigured: { status: 503, title: 'No generator is configured' },
  // The backend was unreachable or the connection was interrupted.
  generator_timeout: { status: 503, title: 'Generator timed out' },
  generator_unreachable: { status: 503, title: 'Generator unreachable' },
  generator_interrupted: { status: 503, title: 'Generator connection interrupted' },
  generator_rate_limited: { status: 503, title: 'Generator rate limited' },
  generator_overloaded: { status: 503, title: 'Generator overloaded' },
  generator_error: { status: 503, title: 'Generator failed' },
  generator_unauthorized: { status: 502, title: 'Generator rejected the credentials' },
  generator_request_refused: { status: 502, title: 'Generator rejected the request', answered: true },
  generator_not_an_api: { status: 502, title: 'Generator returned an unexpected response' },
  // The backend replied with something other than a sample of the policy.
  generator_prompt_too_long: { status: 422, title: 'Prompt too long for the generator', answered: true },
  generator_reply_too_large: { status: 502, title: 'Generator reply too large', answered: true },
  generator_refusal: { status: 502, title: 'Generator refused to answer', answered: true },
  generator_model_mismatch: { status: 502, title: 'Another model answered', answered: true },
} as const satisfies Readonly<Record<string, ReasonRow>>;

export type GenerationFailureReason = keyof typeof GENERATION_REASONS;

export const GENERATION_FAILURE_REASONS = namesOf(GENERATION_REASONS);

/** The row of a reason. */
export function generationReason(reason: GenerationFailureReason): ReasonRow {
  return GENERATION_REASONS[reason];
}

/** Why a generation is incomplete. A failure is never a candidate and never a number. */
export type GenerationFailure = {
  readonly reason: GenerationFailureReason;
  /** For people; contains no text of the caller. */
  readonly detail: string;
  readonly retryable: boolean;
  /** Delay before a retry, in seconds, if the backend named one. */
  readonly retry_after_s?: number;
};

/**
 * The end of a generation: every choice has finished, or the failure. Events before a failure belong to incomplete
 * choices.
 */
export type GenerationEnd = { readonly ok: true } | Failure<GenerationFailure>;

export interface Generator {
  /** The generator's name in the deployment's configuration. */
  readonly name: string;
  /** Model name to report: the served model, or `citeward-extractive-1`. */
  readonly model: string;
  /** Context length in tokens, prompt and reply together; `null` = unlimited. */
  readonly context_tokens: number | null;
  /** Whether the server parses tool calls. If not, the agent parses Hermes calls from the text. */
  readonly native_tools: boolean;
  /**
   * Streams a generation. The first `next` sends the request; each further `next` reads one more event, so a slow
   * reader slows the backend. `return` and `signal` cancel the request. Expected failures are returned as the end; a
   * rejection is a bug.
   * @param options.deadline_ms time limit from the first `next`, in milliseconds.
   */
  generate(
    request: GenerationRequest,
    options: { readonly deadline_ms: number; readonly signal: AbortSignal },
  ): AsyncGenerator<GenerationEvent, GenerationEnd>;
}

/** The generator that a request named, or why none is available. */
export type GeneratorChoice = Result<Generator, GenerationFailure>;
