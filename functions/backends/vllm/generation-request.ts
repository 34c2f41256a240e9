/**
 * A generation as an OpenAI-compatible server gets it: streamed, and with everything said that a server could fill in by a
 * default of its own (vLLM takes sampling from a model's generation_config.json, llama.cpp has a min_p of 0.05).
 */
import type { GenerationRequest } from '../../../src/generation/generator.ts';
import type { VllmGeneratorConfig } from '../config.ts';
import { openAiMessages, openAiTools } from '../dialects/generation-request.ts';

/**
 * All candidates: -1 is the one word for it that vLLM, SGLang (which refuses 0: sglang@00c17caf, sampling_params.py) and
 * llama.cpp (anything below 1) agree on. Ollama takes no top_k here.
 */
const ALL_CANDIDATES = -1;

/** The JSON body. */
export function generationBody(config: VllmGeneratorConfig, request: GenerationRequest): string {
  const { temperature, top_p, top_k, seed } = request.sampling;
  return JSON.stringify({
    model: config.model,
    messages: openAiMessages(request.messages),
    stream: true,
    stream_options: { include_usage: true },
    n: request.n,
    temperature,
    top_p,
    top_k: top_k ?? ALL_CANDIDATES,
    min_p: 0,
    repetition_penalty: 1,
    ...(seed === null ? {} : { seed }),
    [config.length_field]: request.max_tokens,
    chat_template_kwargs: { enable_thinking: request.thinking },
    ...(config.tools === 'native' ? openAiTools(request) : {}),
  });
}
