/**
 * What a judge is: something that answers judgment requests. Model backends and the built-in lexical judge stand behind
 * this one interface; the pipeline knows nothing else of them.
 */
import type { JudgeFailure, JudgeIdentity, JudgmentRequest, TokenUsage, Verdicts } from './types.ts';

/** Verdicts that answer the request exactly, or why there are none. */
export type JudgeReply =
  | { readonly ok: true; readonly verdicts: Verdicts; readonly usage: TokenUsage | null }
  | { readonly ok: false; readonly failure: JudgeFailure };

export interface Judge {
  /** The name under which a request can ask for it. */
  readonly name: string;
  /** Joins every key of its judgments. */
  readonly identity: JudgeIdentity;
  /** Context that prompt and reply share, in tokens; longer requests are cut to fit (fit.ts). `null` = takes any. */
  readonly context_tokens: number | null;
  /**
   * Answers one request. Expected failures are replies; a rejection is a bug.
   * @param options.deadline_ms time after which the judge must have given up, from the call on.
   */
  judge(request: JudgmentRequest, options: { readonly deadline_ms: number }): Promise<JudgeReply>;
}

/** The judge of a request, or why there is none. Matters only once a judgment is needed. */
export type JudgeChoice =
  | { readonly ok: true; readonly judge: Judge }
  | { readonly ok: false; readonly failure: JudgeFailure };
