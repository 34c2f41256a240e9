/**
 * A generator on Workers AI. Workers AI has no `n`, so each choice is a run with its own seed. Neither the generator
 * nor the AI Gateway retries, because streamed text cannot be withdrawn.
 */

import { backendFault, brokenGeneration, type SharedFault } from '../../../lib/model-servers/calls/failures.ts';
import { type Generation, generationWithin, type Lifetime } from '../../../lib/model-servers/calls/lifetime.ts';
import { pinnedModel } from '../../../lib/model-servers/calls/model-config.ts';
import { openAiMessages, openAiTools } from '../../../lib/model-servers/dialects/openai-messages.ts';
import { parallelChoices } from '../../../lib/model-servers/dialects/parallel-choices.ts';
import { SampleReader } from '../../../lib/model-servers/dialects/sample-reader.ts';
import { boundsOf, streamedGeneration, wholeGeneration } from '../../../lib/model-servers/dialects/sample-stream.ts';
import type { GenerationRequest, Generator } from '../../../src/generation/generator.ts';
import type { Result } from '../../../src/result.ts';
import { type AiBinding, faultOfThrown, runOptions, type WorkersAiGeneratorConfig } from './ai-run.ts';
import { familyOf } from './model-families.ts';
import { RunStreamReader } from './run-stream.ts';

export function createWorkersAiGenerator(config: WorkersAiGeneratorConfig, ai: AiBinding): Generator {
  return {
    name: config.name,
    model: pinnedModel(config),
    context_tokens: config.context_tokens,
    native_tools: config.tools === 'native',
    generate: (request, options) =>
      generationWithin(options, (life) => {
        const call = (one: GenerationRequest): Generation => run(config, ai, one, life);
        return request.n === 1 ? call(request) : parallelChoices(request, config.slots, call);
      }),
  };
}

type Answer = Result<unknown, SharedFault>;

async function* run(
  config: WorkersAiGeneratorConfig,
  ai: AiBinding,
  request: GenerationRequest,
  life: Lifetime,
): Generation {
  const built = generationInputs(config, request);
  if (!built.ok) {
    return brokenGeneration(
      backendFault('request_refused', `this model of Workers AI has no ${built.error}: leave it out`),
    );
  }
  // A request for several choices makes one call per choice, so a later call may start after the lifetime has ended.
  if (life.signal.aborted) return brokenGeneration(life.fault);
  const answering = answerOf(ai, config, built.value, life.signal);
  const answered = await life.during(answering, discard);
  if (answered.ended) return brokenGeneration(life.fault);
  if (!answered.value.ok) return brokenGeneration(answered.value.error);
  const { value: reply } = answered.value;
  const answers_as = config.answers_as ?? config.model;
  const samples = new SampleReader({ n: 1, answers_as, echo: 'may' });
  const reader = new RunStreamReader(request.max_tokens);
  if (!(reply instanceof ReadableStream)) return yield* wholeGeneration(reader.whole(reply), samples);
  return yield* streamedGeneration(reply, life, boundsOf(request), samples, (data) => reader.item(data));
}

async function answerOf(
  ai: AiBinding,
  { model, gateway_id }: WorkersAiGeneratorConfig,
  inputs: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return { ok: true, value: await ai.run(model, inputs, runOptions(gateway_id, signal)) };
  } catch (error) {
    return { ok: false, error: faultOfThrown(error) };
  }
}

/** Cancels the stream of a reply that arrived after the lifetime had ended. */
function discard(late: Answer): void {
  if (late.ok && late.value instanceof ReadableStream) late.value.cancel().catch(() => undefined);
}

/**
 * Builds the inputs of one choice, or returns the field that the model does not support. They are in the format of the
 * model's family: OpenAI's chat, or Cloudflare's own, which unlisted models get.
 * @param request a request for one choice.
 */
function generationInputs(
  { model, tools }: WorkersAiGeneratorConfig,
  request: GenerationRequest,
): Result<Readonly<Record<string, unknown>>, 'top_k'> {
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
      // These models have no `top_k`. Dropping the field silently would sample from another policy than the requested
      // one.
      if (top_k !== null) return { ok: false, error: 'top_k' };
      return {
        ok: true,
        value: {
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
        value: {
          ...common,
          max_tokens: request.max_tokens,
          repetition_penalty: 1,
          // Without `top_k` the model samples from all tokens.
          ...(top_k === null ? {} : { top_k }),
        },
      };
  }
}
