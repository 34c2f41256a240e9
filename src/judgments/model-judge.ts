/**
 * A judge made of a chat backend: fit, prompt, complete, read, and one retry where the reply is not what was asked for.
 * Pure orchestration; transport, capacity and transport retries are the backend's and the router's business.
 */
import type { ChatBackend, JudgeSampling } from './chat-backend.ts';
import type { Judge, JudgeReply } from './judge.ts';
import { judgePrompt } from './prompt.ts';
import { readReply } from './reply.ts';
import { TEMPLATE_DIGEST } from './template.ts';
import { isSandboxRequest, type JudgeIdentity, type ReadingRequest, type TokenUsage } from './types.ts';

/** Temperature 0 and a fixed seed (REWARDS.md section 4). */
const SAMPLING: JudgeSampling = { temperature: 0, top_p: 1, seed: 0 };
/** A retry with the same seed would give the same reply; this one is as fixed. */
const RETRY_SEED = 1;

/** The identity of judgments made by a model under the current templates. Thinking is off, and part of it. */
export function modelJudgeIdentity(model: string): JudgeIdentity {
  return {
    model,
    template: TEMPLATE_DIGEST,
    sampling: { ...SAMPLING, retry_seed: RETRY_SEED, thinking: false },
  };
}

/** @param elapsed a clock for durations, in milliseconds. */
export function createModelJudge(backend: ChatBackend, elapsed: () => number): Judge {
  return {
    name: backend.name,
    identity: modelJudgeIdentity(backend.model),
    context_tokens: backend.context_tokens,
    async judge(request, { deadline_ms }) {
      if (isSandboxRequest(request)) throw new Error(`createModelJudge: ${request.kind} is for a sandbox`);
      const started = elapsed();
      const first = await attempt(backend, request, SAMPLING, deadline_ms);
      if (first.ok || first.failure.reason !== 'judge_reply_invalid') return first;
      const left = deadline_ms - (elapsed() - started);
      if (left <= 0) return first;
      const second = await attempt(backend, request, { ...SAMPLING, seed: RETRY_SEED }, left);
      return second.ok ? { ...second, usage: sumUsage(first.usage, second.usage) } : second;
    },
  };
}

type Attempt = JudgeReply & { readonly usage: TokenUsage | null };

async function attempt(
  backend: ChatBackend,
  request: ReadingRequest,
  sampling: JudgeSampling,
  deadline_ms: number,
): Promise<Attempt> {
  const prompt = judgePrompt(request);
  const outcome = await backend.complete(
    { messages: prompt.messages, schema: prompt.schema, sampling, max_tokens: prompt.max_reply_tokens },
    { deadline_ms },
  );
  if (!outcome.ok) return { ...outcome, usage: null };
  const { text, usage, model } = outcome.completion;
  if (model !== backend.model) {
    const detail = `the backend answered as another model than ${backend.model}`;
    return { ok: false, failure: { reason: 'judge_model_mismatch', detail, retryable: false }, usage };
  }
  const read = readReply(request, text);
  if (read.ok) return { ok: true, verdicts: read.verdicts, usage };
  const failure = {
    reason: 'judge_reply_invalid',
    detail: `${read.problem}: ${read.detail}`,
    retryable: true,
  } as const;
  return { ok: false, failure, usage };
}

/** What both attempts cost; unknown if either is. */
function sumUsage(first: TokenUsage | null, second: TokenUsage | null): TokenUsage | null {
  if (first === null || second === null) return null;
  return {
    prompt_tokens: first.prompt_tokens + second.prompt_tokens,
    completion_tokens: first.completion_tokens + second.completion_tokens,
  };
}
