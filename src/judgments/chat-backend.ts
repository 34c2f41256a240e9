/**
 * Declares a chat backend: it completes a chat under a JSON schema before a deadline, or returns a typed failure.
 * lib/model-servers implements the type for vLLM-compatible servers, functions/backends for Workers AI.
 */
import type { Failed } from '../result.ts';
import type { ChatDialect, Refusable } from './chat-dialects.ts';
import type { CallOptions } from './connections.ts';
import type { Thinking, ThinkingMode } from './protocol/asking.ts';
import type { JudgeFailure, TokenUsage } from './protocol/failure.ts';
import type { ChatMessage, JsonSchema } from './protocol/prompt.ts';

/** Sampling of a judge, sent explicitly so that no server default applies; part of every key. */
export type JudgeSampling = {
  readonly temperature: number;
  readonly top_p: number;
  readonly seed: number;
};

export type CompletionRequest = {
  readonly messages: readonly ChatMessage[];
  /** `null` = the reply is free text. */
  readonly schema: { readonly name: string; readonly schema: JsonSchema } | null;
  readonly sampling: JudgeSampling;
  /** Thinking included. */
  readonly max_tokens: number;
  /** Default off. */
  readonly thinking?: Thinking;
};

/** A finished completion: the model stopped by itself. */
type Completion = {
  readonly text: string;
  /** The model as the server names it. */
  readonly model: string;
  readonly usage: TokenUsage | null;
};

export type CompletionOutcome = { readonly ok: true; readonly completion: Completion } | Failed<JudgeFailure>;

export interface ChatBackend {
  /** The backend's name in the configuration. */
  readonly name: string;
  /** The model that the backend serves; part of the identity of its judgments. */
  readonly model: string;
  /** Context that prompt and reply share, in tokens; `null` = unlimited, so no request is cut. */
  readonly context_tokens: number | null;
  /** The request dialect of the server; default `vllm`. Another dialect is another judge identity. */
  readonly dialect?: ChatDialect;
  /** Parameters of the dialect that are not sent, because the server refuses them; part of the identity. */
  readonly refuses?: readonly Refusable[];
  /** What the backend can do about thinking; default: `off` only. It is never asked for anything else. */
  readonly thinking?: readonly ThinkingMode[];
  /** Completes one chat. Expected failures are outcomes; a rejection is a bug. */
  complete(request: CompletionRequest, options: CallOptions): Promise<CompletionOutcome>;
}
