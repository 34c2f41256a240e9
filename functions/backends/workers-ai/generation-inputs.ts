/**
 * A generation as a model of Workers AI gets it, in the shape that its family wants: Cloudflare's own inputs, or those of
 * OpenAI's chat. A model that is not listed in families.ts gets Cloudflare's own.
 */
import type { GenerationRequest } from '../../../src/generation/generator.ts';
import type { WorkersAiGeneratorConfig } from '../config.ts';
import { openAiMessages, openAiTools } from '../dialects/generation-request.ts';
import { familyOf } from './families.ts';

/** Inputs of one choice, or what of the request they have no field for. */
export type GenerationInputs =
  | { readonly ok: true; readonly inputs: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly missing: 'top_k' };

/** @param request of one choice: there is no `n`. */
export function generationInputs(
  { model, tools }: WorkersAiGeneratorConfig,
  request: GenerationRequest,
): GenerationInputs {
  const { temperature, top_p, top_k, seed } = request.sampling;
  const common = {
    messages: openAiMessages(request.messages),
    stream: true,
    temperature,
    top_p,
    ...(seed === null ? {} : { seed }),
    ...(tools === 'native' ? openAiTools(request) : {}),
  };
  switch (familyOf(model)?.schema_shape) {
    case 'wrapped':
      // It would be left out in silence, and the samples would be those of another policy.
      if (top_k !== null) return { ok: false, missing: 'top_k' };
      return {
        ok: true,
        inputs: {
          ...common,
          max_completion_tokens: request.max_tokens,
          stream_options: { include_usage: true },
          chat_template_kwargs: { enable_thinking: request.thinking },
        },
      };
    case 'flat':
    case undefined:
      return {
        ok: true,
        inputs: {
          ...common,
          max_tokens: request.max_tokens,
          repetition_penalty: 1,
          // There is no value for "all".
          ...(top_k === null ? {} : { top_k }),
        },
      };
  }
}
