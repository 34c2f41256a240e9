/**
 * The built-in lexical judge: answers requests by comparing words. It is for setup, tests, CI and demos without a GPU;
 * it is not a model and is never presented as one. docs/concepts/lexical-judge.md has its measured accuracy.
 * Deterministic: equal requests give equal verdicts on every runtime. Each judgment kind defines its own lexical answer.
 */
import { LEXICAL_JUDGE_MODEL } from '../lexical/index.ts';
import type { Judge } from './judge.ts';
import type { JudgeIdentity } from './judgment.ts';
import { type JudgmentRequest, kindOf, type Verdicts } from './kinds/registry.ts';
import { unusualOptions } from './protocol/asking.ts';
import type { JudgeFailure } from './protocol/failure.ts';

/** The template of the lexical judge for every usual question: its version, because it has no prompt and samples nothing. */
export const LEXICAL_IDENTITY: JudgeIdentity = {
  model: LEXICAL_JUDGE_MODEL,
  template: LEXICAL_JUDGE_MODEL,
  sampling: null,
};

/**
 * The identity for citations that also ask which claims the sources contradict: these judgments have keys of their own.
 */
const CONTRADICTION_IDENTITY: JudgeIdentity = { ...LEXICAL_IDENTITY, template: `${LEXICAL_JUDGE_MODEL} contradiction` };

/**
 * Compares words and numbers; needs no model. For setup, tests and CI: docs/concepts/lexical-judge.md has its measured
 * accuracy.
 */
export const LEXICAL_JUDGE: Judge = {
  name: 'lexical',
  model: LEXICAL_JUDGE_MODEL,
  identityFor: (_kind, asking) => (asking?.contradiction === undefined ? LEXICAL_IDENTITY : CONTRADICTION_IDENTITY),
  // It compares words, whatever it is told: it neither thinks nor samples.
  unsupported: ({ contradiction: _contradiction, ...asking }) => unusualOptions(asking),
  context_tokens: null,
  async judge(request) {
    const verdicts = lexicalVerdicts(request);
    return verdicts === null ? { ok: false, failure: NO_LEXICAL_ANSWER } : { ok: true, verdicts, usage: null };
  },
};

/**
 * Judges one request, in linear time. @throws Error for a kind that comparing words cannot answer, such as `execution`.
 */
export function judgeLexically(request: JudgmentRequest): Verdicts {
  const verdicts = lexicalVerdicts(request);
  if (verdicts === null) throw new Error(`judgeLexically: the lexical judge cannot answer ${request.kind} requests`);
  return verdicts;
}

function lexicalVerdicts(request: JudgmentRequest): Verdicts | null {
  const kind = kindOf(request.kind);
  return kind.answeredBy === 'reader' ? (kind.judgeLexically?.(request) ?? null) : null;
}

const NO_LEXICAL_ANSWER: JudgeFailure = {
  reason: 'judge_request_refused',
  detail: 'the lexical judge cannot answer requests of this kind; use a model judge',
  retryable: false,
};
