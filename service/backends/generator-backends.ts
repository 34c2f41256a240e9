/** Creates the generators of a deployment from its settings, with their health checks. */

import { createExtractiveGenerator } from '../../lib/extractive-generator.ts';
import { generationFailureOf } from '../../lib/model-servers/calls/failures.ts';
import { createVllmGenerator } from '../../lib/model-servers/vllm/vllm-generator.ts';
import { askServer } from '../../lib/model-servers/vllm/vllm-server.ts';
import type { GenerationFailureReason, Generator } from '../../src/generation/generator.ts';
import { type BindingOf, isAiBinding, transportOf } from './bindings.ts';
import type { RouteHealth } from './judge-backends.ts';
import type { BackendsConfig, GeneratorConfig } from './settings-schema.ts';
import { createWorkersAiGenerator } from './workers-ai/workers-ai-generator.ts';

/** A generator with its health check. */
type GeneratorBackend = {
  readonly generator: Generator;
  /** Checks the backend without a paid call. Never rejects. */
  readonly health: () => Promise<Omit<RouteHealth, 'name'>>;
};

export type Generators = {
  /** The generators that a request can name. */
  readonly named: readonly GeneratorBackend[];
  /** The generator of requests that name none; `null` = such requests fail with `generator_unconfigured`. */
  readonly default: GeneratorBackend | null;
};

/** The settings of the Worker that concern its generators. */
export type GeneratorSettings = { readonly backends: BackendsConfig; readonly allowExtractiveRefiner: boolean };

/** Creates the generators. A configured default takes precedence over the extractive refiner. */
export function createGenerators(
  { backends: config, allowExtractiveRefiner }: GeneratorSettings,
  bindingOf: BindingOf,
): Generators {
  const configured = config.generators.map((one) => generatorOf(one, bindingOf));
  const byDefault = configured.find(({ generator }) => generator.name === config.default_generator);
  const extractive: GeneratorBackend = {
    generator: createExtractiveGenerator(Math.random),
    health: async () => ({ reachable: true, model_present: true, last_error: null }),
  };
  return {
    named: [...configured, extractive],
    default: byDefault ?? (allowExtractiveRefiner ? extractive : null),
  };
}

function generatorOf(config: GeneratorConfig, bindingOf: BindingOf): GeneratorBackend {
  switch (config.kind) {
    case 'vllm': {
      const transport = transportOf(config.vpc_binding, bindingOf);
      const { generator, lastFailure } = watched(createVllmGenerator(config, transport, () => Date.now()));
      return {
        generator,
        async health() {
          const { reachable, model_present, fault } = await askServer(config, transport);
          const last_error = fault === null ? lastFailure() : generationFailureOf(fault).reason;
          return { reachable, model_present, last_error };
        },
      };
    }
    case 'workers-ai': {
      const ai = bindingOf('AI');
      if (!isAiBinding(ai)) throw new Error('generatorOf: the binding AI of the settings is missing');
      const { generator, lastFailure } = watched(createWorkersAiGenerator(config, ai));
      // A further check of the AI binding would need a paid call.
      return { generator, health: async () => ({ reachable: true, model_present: null, last_error: lastFailure() }) };
    }
  }
}

/** Wraps a generator to remember its last failure. A cancellation by the caller is no failure. */
function watched(generator: Generator): {
  readonly generator: Generator;
  readonly lastFailure: () => GenerationFailureReason | null;
} {
  let last: GenerationFailureReason | null = null;
  return {
    lastFailure: () => last,
    generator: {
      ...generator,
      generate(request, options) {
        const generation = generator.generate(request, options);
        return {
          async next() {
            const step = await generation.next();
            if (step.done && !step.value.ok && !options.signal.aborted) last = step.value.error.reason;
            return step;
          },
          return: (end) => generation.return(end),
          throw: (error: unknown) => generation.throw(error),
          [Symbol.asyncIterator]() {
            return this;
          },
          [Symbol.asyncDispose]: () => generation[Symbol.asyncDispose](),
        };
      },
    },
  };
}
