/**
 * A chat backend on Workers AI. JSON mode does not stream, so a call is silent until it ends; it never leaves Cloudflare,
 * where no proxy gives up on it. One call, no retry, neither here nor in the AI Gateway.
 */
import type { ChatBackend, CompletionOutcome, CompletionRequest } from '../../../src/judgments/chat-backend.ts';
import type { AiBinding } from '../bindings.ts';
import { pinnedModel, type WorkersAiConfig } from '../config.ts';
import { withDeadline } from '../deadline.ts';
import { backendFailure, failed, judgeFailureOf } from '../failures.ts';
import { faultOfThrownJson } from './error.ts';
import { readRunReply } from './reply.ts';
import { runOptions } from './run-options.ts';

export function createWorkersAiBackend(config: WorkersAiConfig, ai: AiBinding): ChatBackend {
  return {
    name: config.name,
    model: pinnedModel(config),
    context_tokens: config.context_tokens,
    async complete(request, { deadline_ms }) {
      const result = await withDeadline(deadline_ms, (signal) => run(config, ai, request, signal));
      if (!result.expired) return result.value;
      return failed(backendFailure('judge_timeout', 'Workers AI had not answered at the deadline'));
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

/** The inputs in the shape that the model's family wants. */
export function inputsOf(config: WorkersAiConfig, request: CompletionRequest): Readonly<Record<string, unknown>> {
  const { temperature, top_p, seed } = request.sampling;
  const common = { messages: request.messages, temperature, top_p, seed, stream: false };
  const { name, schema } = request.schema;
  switch (config.schema_shape) {
    case 'flat':
      return {
        ...common,
        max_tokens: request.max_tokens,
        repetition_penalty: 1,
        response_format: { type: 'json_schema', json_schema: schema },
      };
    case 'wrapped':
      return {
        ...common,
        max_completion_tokens: request.max_tokens,
        response_format: { type: 'json_schema', json_schema: { name, schema, strict: true } },
        chat_template_kwargs: { enable_thinking: false },
      };
  }
}
