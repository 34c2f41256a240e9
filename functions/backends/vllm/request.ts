/**
 * The request as an OpenAI-compatible server gets it. Streamed, so that no proxy gives up on a silent connection, and so
 * that closing it frees the GPU. Everything that a server could fill in by a default of its own is said: sampling
 * (including the repetition penalty that vLLM takes from a model's generation_config.json), length, thinking off.
 */
import type { CompletionRequest } from '../../../src/judgments/chat-backend.ts';
import type { ServerConfig, VllmConfig } from '../config.ts';

/** Where the server's route for chat completions is. */
export function completionsUrl({ base_url }: Pick<ServerConfig, 'base_url'>): string {
  return `${base_url}/chat/completions`;
}

/** Where the server lists its models. */
export function modelsUrl({ base_url }: Pick<ServerConfig, 'base_url'>): string {
  return `${base_url}/models`;
}

/** Credentials: the server's own key, and a Cloudflare Access service token for what stands in front of it. */
export function credentials({ api_key, access }: Pick<ServerConfig, 'api_key' | 'access'>): Record<string, string> {
  return {
    ...(api_key === null ? {} : { authorization: `Bearer ${api_key}` }),
    ...(access === null
      ? {}
      : { 'cf-access-client-id': access.client_id, 'cf-access-client-secret': access.client_secret }),
  };
}

/** The JSON body. `response_format` is what all servers of gpu-backends.md section 5 know; `guided_json` is ignored. */
export function completionBody(config: VllmConfig, request: CompletionRequest): string {
  const { temperature, top_p, seed } = request.sampling;
  return JSON.stringify({
    model: config.model,
    messages: request.messages,
    stream: true,
    stream_options: { include_usage: true },
    n: 1,
    temperature,
    top_p,
    seed,
    repetition_penalty: 1,
    [config.length_field]: request.max_tokens,
    response_format: {
      type: 'json_schema',
      json_schema: { name: request.schema.name, schema: request.schema.schema, strict: true },
    },
    chat_template_kwargs: { enable_thinking: false },
  });
}
