/**
 * Generators for tests, with observations of their backends: the stub server over real sockets, and Workers AI
 * bindings.
 */
import { inject } from 'vitest';
import { publicTransport } from '../../lib/model-servers/calls/transport.ts';
import { createVllmGenerator } from '../../lib/model-servers/vllm/vllm-generator.ts';
import type { VllmGeneratorConfig } from '../../lib/model-servers/vllm/vllm-server.ts';
import type { AiBinding, AiRunOptions, WorkersAiGeneratorConfig } from '../../service/backends/workers-ai/ai-run.ts';
import { createWorkersAiGenerator } from '../../service/backends/workers-ai/workers-ai-generator.ts';
import { STUB_KEY, STUB_MODEL } from '../contract/backend-faults.ts';
import { sampleText } from '../contract/generation-faults.ts';
import type { Staged } from '../contract/generator.case.ts';
import { seenUnder } from './stub-judges.ts';

const VLLM: VllmGeneratorConfig = {
  kind: 'vllm',
  name: 'policy',
  model: STUB_MODEL,
  identity: null,
  answers_as: null,
  slots: 2,
  context_tokens: 8_192,
  base_url: 'https://gpu.test/v1',
  vpc_binding: null,
  api_key: STUB_KEY,
  access: null,
  length_field: 'max_completion_tokens',
  tools: 'native',
  native_n: true,
};

let stages = 0;

/** A generator on the stub server, alone under its path. */
export function onStub(
  behaviour: string,
  config: Partial<VllmGeneratorConfig> = {},
): Staged & { readonly base_url: string } {
  const origin = inject(behaviour === 'refused' ? 'closedUrl' : 'stubUrl');
  const base_url = `${origin}/${behaviour}/generators-${stages++}/v1`;
  const seen = () => seenUnder(base_url);
  return {
    base_url,
    generator: createVllmGenerator({ ...VLLM, ...config, base_url }, publicTransport, () => Date.now()),
    asked: async () => (await seen()).length,
    working: async () => (await seen()).filter(({ closed }) => !closed).length,
  };
}

export const AI: WorkersAiGeneratorConfig = {
  kind: 'workers-ai',
  name: 'ai',
  model: '@cf/meta/llama-3.3-70b-instruct-fp8-fast',
  identity: null,
  answers_as: null,
  slots: 2,
  context_tokens: 24_000,
  gateway_id: null,
  tools: 'native',
};
export const QWEN = '@cf/qwen/qwen3.8-27b';

export type Call = { readonly inputs: Readonly<Record<string, unknown>>; readonly options: AiRunOptions };

/** A binding that streams so many events of a run; an event is made when it is pulled. */
function streaming(eventOf: (call: Call, position: number) => unknown) {
  const calls: Call[] = [];
  let working = 0;
  let atOnce = 0;
  let pulled = 0;
  const ai: AiBinding = {
    run: async (_model, inputs, runOptions) => {
      const call = { inputs, options: runOptions };
      calls.push(call);
      working++;
      atOnce = Math.max(atOnce, working);
      let position = 0;
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            pulled++;
            // As from a network: timers and others get their turn.
            await new Promise((resolve) => setTimeout(resolve, 0));
            const event = eventOf(call, position++);
            if (event === undefined) {
              working--;
              controller.close();
              return;
            }
            const data = typeof event === 'string' ? event : JSON.stringify(event);
            controller.enqueue(new TextEncoder().encode(`data: ${data}\n\n`));
          },
          cancel() {
            working--;
          },
        },
        { highWaterMark: 0 },
      );
    },
  };
  return { ai, calls, working: () => working, atOnce: () => atOnce, pulled: () => pulled };
}

export function onAi(
  eventOf: (call: Call, position: number) => unknown,
  config: Partial<WorkersAiGeneratorConfig> = {},
) {
  const binding = streaming(eventOf);
  return {
    binding,
    generator: createWorkersAiGenerator({ ...AI, ...config }, binding.ai),
    asked: async () => binding.calls.length,
    working: async () => binding.working(),
  };
}

/** Answers of a run from its events. */
export const listed =
  (...events: readonly unknown[]) =>
  (_call: Call, position: number): unknown =>
    events[position];

export const USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

export const ownEvents = ({ inputs }: Call, position: number): unknown => {
  const text = sampleText(Number(inputs['seed']));
  return [
    { response: text.slice(0, 20), p: 'ab' },
    { response: text.slice(20) },
    { response: '', usage: USAGE },
    '[DONE]',
  ][position];
};

export const openAiEvents = ({ inputs }: Call, position: number): unknown => {
  const text = sampleText(Number(inputs['seed']));
  const delta = (content: string, finish_reason: string | null = null) => ({
    model: QWEN,
    choices: [{ index: 0, delta: { content }, finish_reason }],
  });
  return [delta(text.slice(0, 20)), delta(text.slice(20)), delta('', 'stop'), { choices: [], usage: USAGE }, '[DONE]'][
    position
  ];
};

/** A binding that never answers. */
export function silentAi(): Staged {
  const signals: AbortSignal[] = [];
  const ai: AiBinding = {
    run: (_model, _inputs, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
  };
  return {
    generator: createWorkersAiGenerator(AI, ai),
    asked: async () => signals.length,
    working: async () => signals.filter(({ aborted }) => !aborted).length,
  };
}
