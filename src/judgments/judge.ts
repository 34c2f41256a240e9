/**
 * The judge interface. Model backends, the sandbox and the built-in lexical judge implement it; the pipeline depends on
 * nothing else of a judge.
 */
import type { CallOptions } from './connections.ts';
import type { JudgeIdentity } from './judgment.ts';
import type { JudgmentKind } from './kinds/names.ts';
import { type JudgmentRequest, kindOf, type Verdicts } from './kinds/registry.ts';
import { type Asking, thinkingTokens, unusualOptions } from './protocol/asking.ts';
import type { Fitted } from './protocol/budget.ts';
import type { JudgeFailure, TokenUsage } from './protocol/failure.ts';

/** Verdicts that answer the request exactly, or the failure. */
export type JudgeReply =
  | {
      readonly ok: true;
      readonly verdicts: Verdicts;
      readonly usage: TokenUsage | null;
      /** The reason of each entry of the request, in order. Absent: the judge gives none. */
      readonly reasons?: readonly string[];
    }
  | { readonly ok: false; readonly failure: JudgeFailure };

/**
 * Answers judgment requests: a model behind a server, the lexical judge, or a sandbox. A failure is a value, never a
 * verdict.
 */
export interface Judge {
  /** The name by which a request selects the judge. */
  readonly name: string;
  /** The model name that the judge's backend uses; the same in every identity of this judge. */
  readonly model: string;
  /** Part of the key of every judgment of this kind that is asked for in this way. @param asking default: usual. */
  identityFor(kind: JudgmentKind, asking?: Asking): JudgeIdentity;
  /**
   * The names of the options that the judge cannot follow, of those that are not usual; empty = it can follow all.
   * Absent: it can follow none.
   */
  unsupported?(asking: Asking): readonly string[];
  /** Context that prompt and reply share, in tokens; longer requests are cut. `null` = unlimited. */
  readonly context_tokens: number | null;
  /** Leaves out entries that the judge cannot read. Absent: requests are cut to `context_tokens`. */
  fit?(request: JudgmentRequest): Fitted<JudgmentRequest>;
  /**
   * Answers one request. Expected failures are replies; a rejection is a bug. A judge that makes several calls at once
   * has the deadline for each of them.
   */
  judge(request: JudgmentRequest, options: JudgeCallOptions): Promise<JudgeReply>;
}

/** @property replicate the number of the independent judgment, from 0, for judges that sample; default 0. */
export type JudgeCallOptions = CallOptions & { readonly replicate?: number };

/**
 * Why the judge cannot be asked in the way that a request wants; `null` = it can. An option that a judge cannot follow
 * is never ignored, because the judgment would be stored as if it had been followed.
 */
export function optionsRefused(judge: Judge, { asking = {} }: JudgmentRequest): JudgeFailure | null {
  const unusual = unusualOptions(asking);
  const refused = unusual.length === 0 ? [] : (judge.unsupported?.(asking) ?? unusual);
  if (refused.length === 0) return null;
  const detail = `the judge ${judge.name} cannot follow ${refused.join(' and ')}: change the recipe or choose another judge`;
  return { reason: 'judge_option_unsupported', detail, retryable: false };
}

/** The judge of a request, or the failure that none is available. The failure counts only if a judgment is needed. */
export type JudgeChoice =
  | { readonly ok: true; readonly judge: Judge }
  | { readonly ok: false; readonly failure: JudgeFailure };

/**
 * Cuts a request to the judge's context. Call it before computing the key, which covers only what the judge sees.
 * @param cited indexes of the sources that the answer cites; they are cut last.
 * @param reserved_tokens tokens of the context that stay unused.
 */
export function fitToJudge(
  request: JudgmentRequest,
  judge: Pick<Judge, 'context_tokens' | 'fit'>,
  cited: ReadonlySet<number>,
  reserved_tokens = 0,
): Fitted<JudgmentRequest> {
  if (judge.fit !== undefined) return judge.fit(request);
  const { context_tokens } = judge;
  const kind = kindOf(request.kind);
  if (context_tokens === null || kind.answeredBy === 'sandbox') return { ok: true, request, cuts: [] };
  const replyTokens = kind.maxReplyTokens(request) + thinkingTokens(request.asking);
  return kind.fit(request, context_tokens - replyTokens - reserved_tokens, cited);
}
