/**
 * Reading what `AI.run` returns: OpenAI's shape where the model has it, else Workers AI's own `{response, usage}`, whose
 * response is a text, or the parsed object in JSON mode. The own shape says neither model nor finish reason: the model is
 * the one that was called, and a reply of as many tokens as were allowed is a cut one.
 */
import * as z from 'zod';
import type { CompletionOutcome } from '../../../src/judgments/chat-backend.ts';
import { pinnedModel, type WorkersAiConfig } from '../config.ts';
import { ChatCompletionReader } from '../dialects/chat-completion.ts';
import { backendFailure, failed } from '../failures.ts';

const ownShape = z.object({
  response: z.union([z.string(), z.record(z.string(), z.unknown()), z.null()]),
  usage: z
    .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
});

/** @param max_tokens as many as were allowed. */
export function readRunReply(config: WorkersAiConfig, max_tokens: number, reply: unknown): CompletionOutcome {
  const own = ownShape.safeParse(reply);
  if (!own.success) return readOpenAiShape(config, reply);
  const { response, usage } = own.data;
  if (response === null) return failed(backendFailure('judge_refusal', 'the model gave no answer'));
  if (usage !== null && usage !== undefined && usage.completion_tokens >= max_tokens) {
    return failed(backendFailure('judge_reply_cut', 'the reply was cut off at the token limit'));
  }
  // The strict reader reads texts. A repeated key is gone by then: the platform has parsed the reply already.
  const text = typeof response === 'string' ? response : JSON.stringify(response);
  return { ok: true, completion: { text, model: pinnedModel(config), usage: usage ?? null } };
}

function readOpenAiShape(config: WorkersAiConfig, reply: unknown): CompletionOutcome {
  const reader = new ChatCompletionReader({
    answers_as: config.answers_as ?? config.model,
    pinned: pinnedModel(config),
    echo: 'may',
  });
  const failure = reader.accept(reply);
  return failure === null ? reader.outcome() : failed(failure);
}
