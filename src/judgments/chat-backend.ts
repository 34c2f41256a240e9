/**
 * What a GPU backend is to the judging protocol: something that completes a chat under a JSON schema before a deadline,
 * or says in a typed way why not. vLLM-compatible servers and Workers AI stand behind it (functions/backends).
 */
import type { JudgeFailure, TokenUsage } from './protocol/failure.ts';
import type { ChatMessage, JsonSchema } from './protocol/prompt.ts';

/** Sampling of a judge, sent explicitly so that no server default gets in; part of every key. */
export type JudgeSampling = {
  readonly temperature: number;
  readonly top_p: number;
  readonly seed: number;
};

export type CompletionRequest = {
  readonly messages: readonly ChatMessage[];
  readonly schema: { readonly name: string; readonly schema: JsonSchema };
  readonly sampling: JudgeSampling;
  readonly max_tokens: number;
};

/** A finished completion: the model stopped by itself. */
export type Completion = {
  readonly text: string;
  /** As the server named it. */
  readonly model: string;
  readonly usage: TokenUsage | null;
};

export type CompletionOutcome =
  | { readonly ok: true; readonly completion: Completion }
  | { readonly ok: false; readonly failure: JudgeFailure };

export interface ChatBackend {
  /** Its name in the configuration. */
  readonly name: string;
  /** The model that it serves and that its judgments are pinned to. */
  readonly model: string;
  /** Context of the model, prompt and reply together, in tokens. */
  readonly context_tokens: number;
  /**
   * Completes one chat. Expected failures are outcomes; a rejection is a bug.
   * @param options.deadline_ms from the call on; then the backend has given up and freed what it held.
   */
  complete(request: CompletionRequest, options: { readonly deadline_ms: number }): Promise<CompletionOutcome>;
}
