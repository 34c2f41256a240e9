/** A request as a certain judge can take it. Done before the key is computed: what the judge did not see is no part of it. */
import { type Fitted, fitRequest } from './budget.ts';
import type { Judge } from './judge.ts';
import { judgePrompt } from './prompt.ts';
import type { JudgmentRequest } from './types.ts';

/** @param cited positions of the sources that the answer cites; they are cut last. */
export function fitToJudge(request: JudgmentRequest, judge: Judge, cited: ReadonlySet<number>): Fitted {
  if (judge.context_tokens === null) return { ok: true, request, cuts: [] };
  return fitRequest(request, judge.context_tokens - replyTokens(request), cited);
}

/** What the reply may take. It depends on what is asked, not on the sources, which are left out as they may be large. */
function replyTokens(request: JudgmentRequest): number {
  return judgePrompt({ ...request, question: '', sources: [] }).max_reply_tokens;
}
