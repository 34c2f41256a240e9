/** A request as a certain judge can take it. Done before the key is computed: what the judge did not see is no part of it. */
import { type Fitted, fitOutcome, fitRequest } from './budget.ts';
import type { Judge } from './judge.ts';
import { judgePrompt } from './prompt.ts';
import { isSandboxRequest, type JudgmentRequest, type ReadingRequest } from './types.ts';

/** @param cited positions of the sources that the answer cites; they are cut last. */
export function fitToJudge(request: JudgmentRequest, judge: Judge, cited: ReadonlySet<number>): Fitted {
  if (judge.context_tokens === null || isSandboxRequest(request)) return { ok: true, request, cuts: [] };
  const promptTokens = judge.context_tokens - replyTokens(request);
  return request.kind === 'outcome' ? fitOutcome(request, promptTokens) : fitRequest(request, promptTokens, cited);
}

/** What the reply may take. It depends on what is asked, not on the sources, which are left out as they may be large. */
function replyTokens(request: ReadingRequest): number {
  const small = request.kind === 'outcome' ? request : { ...request, question: '', sources: [] };
  return judgePrompt(small).max_reply_tokens;
}
