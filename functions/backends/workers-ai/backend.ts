/**
 * A chat backend on Workers AI. JSON mode does not stream, so a call is silent until it ends; it never leaves Cloudflare,
 * where no proxy gives up on it. One call, no retry, neither here nor in the AI Gateway.
 */
import type { ChatBackend, CompletionOutcome, CompletionRequest } from '../../../src/judgments/backend.ts';
import type { AiBinding, AiRunOptions } from '../bindings.ts';
import { pinnedModel, type WorkersAiConfig } from '../config.ts';
import { withDeadline } from '../deadline.ts';
import { backendFailure, failed, judgeFailureOf } from '../failures.ts';
import { faultOfThrownJson } from './error.ts';
import { readRunReply } from './reply.ts';

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
    reply = await ai.run(config.model, inputsOf(config, request), optionsOf(config, signal));
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

/**
 * A cached reply would make replicates equal and retries pointless; logs of a gateway would hold prompts; and it is the
 * router that retries.
 */
function optionsOf({ gateway_id }: WorkersAiConfig, signal: AbortSignal): AiRunOptions {
  if (gateway_id === null) return { signal };
  return { signal, gateway: { id: gateway_id, skipCache: true, collectLog: false, retries: { maxAttempts: 1 } } };
}
