/**
 * The judge interface. Model backends, the sandbox and the built-in lexical judge implement it; the pipeline depends on
 * nothing else of a judge.
 */
import type { Failed } from '../result.ts';
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
  | Failed<JudgeFailure>;

/**
 * Answers judgment requests: a model behind a server, the lexical judge, or a sandbox. A failure is a value, never a
 * verdict.
 */
export interface Judge {
  /** The name by which a request selects the judge. */
  readonly name: string;
  /** The model name that the judge's backend uses; the same in every identity of this judge. */
  readonly model: string;
  /** The judge that answers requests of a kind; `null` = this one. Absent: this one answers all kinds. */
  forKind?(kind: JudgmentKind): Judge | null;
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

/**
 * @property replicate the number of the independent judgment, from 0, for judges that sample; default 0.
 * @property ask asks another judge, whose judgment is stored under its own key. A cascade needs it.
 */
export type JudgeCallOptions = CallOptions & { readonly replicate?: number; readonly ask?: AskJudge };

/**
 * Asks a judge. `judged`: the positions of the request's entries that the judge could read, where not all; a failure
 * with it says that each alone was too long.
 */
export type AskJudge = (
  judge: Judge,
  request: JudgmentRequest,
  options: Omit<JudgeCallOptions, 'ask'>,
) => Promise<
  | { readonly ok: true; readonly verdicts: Verdicts; readonly judged?: readonly number[] }
  | { readonly ok: false; readonly failure: JudgeFailure; readonly judged?: readonly [] }
>;

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
export type JudgeChoice = { readonly ok: true; readonly judge: Judge } | Failed<JudgeFailure>;

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

/**
 * Fits a planned request to the judge; it fails if its entries would have to be cut because the row is too long.
 * @param wanted its members are described at `WantedJudgment`.
 */
export function fitWanted(
  judge: Judge,
  {
    request,
    cited,
    ofRow,
    reserved_tokens,
  }: {
    readonly request: JudgmentRequest;
    readonly cited: ReadonlySet<number>;
    readonly ofRow?: JudgmentRequest;
    readonly reserved_tokens?: number;
  },
): Fitted<JudgmentRequest> {
  const fitted = fitToJudge(request, judge, cited, reserved_tokens);
  if (fitted.entries_cut === undefined || ofRow === undefined) return fitted;
  const own = fitToJudge(ofRow, judge, cited, reserved_tokens);
  return own.ok && own.entries_cut === undefined ? fitted : { ok: false, failure: ROW_TOO_LONG };
}

const ROW_TOO_LONG: JudgeFailure = {
  reason: 'judge_prompt_too_long',
  detail: 'the criteria of the row need more tokens than the judge takes',
  retryable: false,
};
