/**
 * A chat backend on Workers AI. JSON mode does not stream, so the connection is silent until the call ends; that is
 * safe, because no proxy is between the Worker and Workers AI. Each call is one request, which neither the backend nor
 * the AI Gateway retries.
 */

import * as z from 'zod';
import { withDeadline } from '../../../lib/model-servers/calls/deadline.ts';
import { backendFailure, failed, judgeFailureOf } from '../../../lib/model-servers/calls/failures.ts';
import { pinnedModel } from '../../../lib/model-servers/calls/model-config.ts';
import { ChatCompletionReader } from '../../../lib/model-servers/dialects/completion-reader.ts';
import type { ChatBackend, CompletionOutcome, CompletionRequest } from '../../../src/judgments/chat-backend.ts';
import { UNLIMITED_CONNECTIONS } from '../../../src/judgments/connections.ts';
import { type AiBinding, faultOfThrownJson, runOptions, type WorkersAiConfig } from './ai-run.ts';

export function createWorkersAiBackend(config: WorkersAiConfig, ai: AiBinding): ChatBackend {
  return {
    name: config.name,
    model: pinnedModel(config),
    context_tokens: config.context_tokens,
    // No field of Workers AI limits thinking.
    thinking: ['off', 'model_default'],
    async complete(request, { deadline_ms, connections = UNLIMITED_CONNECTIONS }) {
      // The headers of a reply in JSON mode come with the reply, so the connection is held until then.
      const leave = await connections.enter();
      try {
        const limit_ms = Math.min(deadline_ms, (config.timeout_s ?? Number.POSITIVE_INFINITY) * 1000);
        const result = await withDeadline(limit_ms, (signal) => run(config, ai, request, signal));
        if (!result.expired) return result.value;
        return failed(backendFailure('judge_timeout', 'Workers AI had not answered at the deadline'));
      } finally {
        leave();
      }
    },
  };
}

async function run(
  config: WorkersAiConfig,
  ai: AiBinding,
  request: CompletionRequest,
  signal: AbortSignal,
): Promise<CompletionOutcome> {
  let reply: unknown;
  try {
    reply = await ai.run(config.model, inputsOf(config, request), runOptions(config.gateway_id, signal));
  } catch (error) {
    return failed(judgeFailureOf(faultOfThrownJson(error)));
  }
  return readRunReply(config, request.max_tokens, reply);
}

/** Builds the inputs in the format of the model's family. */
function inputsOf(config: WorkersAiConfig, request: CompletionRequest): Readonly<Record<string, unknown>> {
  const { temperature, top_p, seed } = request.sampling;
  const common = { messages: request.messages, temperature, top_p, seed, stream: false };
  const constrained = (json_schema: object): object =>
    request.schema === null ? {} : { response_format: { type: 'json_schema', json_schema } };
  switch (config.schema_shape) {
    case 'flat':
      return {
        ...common,
        max_tokens: request.max_tokens,
        repetition_penalty: 1,
        ...constrained({ ...request.schema?.schema }),
      };
    case 'wrapped':
      return {
        ...common,
        max_completion_tokens: request.max_tokens,
        ...constrained({ ...request.schema, strict: true }),
        ...(request.thinking === 'model_default' ? {} : { chat_template_kwargs: { enable_thinking: false } }),
      };
  }
}

const ownShape = z.object({
  response: z.union([z.string(), z.record(z.string(), z.unknown()), z.null()]),
  usage: z
    .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
});

/**
 * Reads what `AI.run` returns: OpenAI's format, or Workers AI's own `{response, usage}`, whose response is a text or,
 * in JSON mode, a parsed object. The own format has neither model nor finish reason: the model is the called one, and a
 * reply with `max_tokens` tokens was cut.
 */
function readRunReply(config: WorkersAiConfig, max_tokens: number, reply: unknown): CompletionOutcome {
  const own = ownShape.safeParse(reply);
  if (!own.success) return readOpenAiShape(config, reply);
  const { response, usage } = own.data;
  if (response === null) return failed(backendFailure('judge_refusal', 'the model gave no answer'));
  if (usage !== null && usage !== undefined && usage.completion_tokens >= max_tokens) {
    return failed(backendFailure('judge_reply_cut', 'the reply was cut off at the token limit'));
  }
  // The strict reader of replies needs text. The platform has parsed this object already, so the reader cannot detect
  // repeated keys in it.
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
