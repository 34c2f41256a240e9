/**
 * Answers what a sandbox would be asked and no run is needed for: whether two plain numbers are equal. Used where no
 * sandbox is configured; a sandbox computes the same itself, so that its judgments keep their keys.
 */
import type { Judge, JudgeChoice } from './judge.ts';
import { type JudgmentRequest, kindOf, templateOf, type Verdicts } from './kinds/registry.ts';

/** The sandbox; where none is configured, the judge of requests that need no run. */
export function sandboxFor(request: JudgmentRequest, sandbox: JudgeChoice = NO_SANDBOX): JudgeChoice {
  return sandbox.ok || computedVerdicts(request) === null ? sandbox : { ok: true, judge: COMPUTING_JUDGE };
}

/** The verdicts of a request that needs no run; `null` = it needs one. */
function computedVerdicts(request: JudgmentRequest): Verdicts | null {
  const kind = kindOf(request.kind);
  return kind.answeredBy === 'sandbox' ? (kind.compute?.(request) ?? null) : null;
}

const NAME = 'arithmetic';

/** Takes only requests with `computedVerdicts`. */
const COMPUTING_JUDGE: Judge = {
  name: NAME,
  model: NAME,
  identityFor: (kind) => ({ model: NAME, template: templateOf(kind), sampling: null }),
  context_tokens: null,
  async judge(request) {
    const verdicts = computedVerdicts(request);
    if (verdicts === null) throw new Error(`COMPUTING_JUDGE: a ${request.kind} request needs a run`);
    return { ok: true, verdicts, usage: null };
  },
};

const NO_SANDBOX: JudgeChoice = {
  ok: false,
  failure: {
    reason: 'sandbox_unconfigured',
    detail: 'No sandbox is configured: programs cannot be run, nor expressions compared.',
    retryable: false,
  },
};
