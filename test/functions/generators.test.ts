/** The generators: the shared contract (test/contract/generator.case.ts), and the specifics of each. */
import { describe, expect, it, vi } from 'vitest';
import FakeAi from '../../fake-ai/index.ts';
import { spokenText } from '../../fake-ai/speech.ts';
import { problemResponse } from '../../functions/http/problem-response.ts';
import { createExtractiveGenerator } from '../../lib/extractive-generator.ts';
import type { AiBinding, WorkersAiGeneratorConfig } from '../../service/backends/workers-ai/ai-run.ts';
import { createWorkersAiGenerator } from '../../service/backends/workers-ai/workers-ai-generator.ts';
import type { GenerationRequest } from '../../src/generation/generator.ts';
import { DIALECTS, STUB_CANARY, STUB_MODEL, type StubBehaviour } from '../contract/backend-faults.ts';
import {
  CALL_ARGUMENTS,
  GENERATION_FAULTS,
  GENERATION_SAMPLES,
  type GenerationBehaviour,
  sampleText,
} from '../contract/generation-faults.ts';
import { choiceOf, GENERATION, generatorContract, readAll, type Staged } from '../contract/generator.case.ts';
import { AI, listed, onAi, onStub, openAiEvents, ownEvents, QWEN, silentAi, USAGE } from './staged-generators.ts';
import { seenUnder } from './stub-judges.ts';

for (const [name, native_n] of [
  ['an OpenAI-compatible server that takes n', true],
  ['an OpenAI-compatible server asked once a choice', false],
] as const) {
  const behaving = (behaviour: StubBehaviour | GenerationBehaviour) => () => onStub(behaviour, { native_n });
  generatorContract({
    name,
    good: behaving('vllm'),
    endless: behaving('endless'),
    silent: behaving('silent'),
    text: sampleText,
  });
}

const LONG_MS = 10_000;
const options = (deadline_ms = LONG_MS) => ({ deadline_ms, signal: new AbortController().signal });
const read = (staged: Pick<Staged, 'generator'>, request: Partial<GenerationRequest> = {}, deadline_ms = LONG_MS) =>
  readAll(staged.generator.generate({ ...GENERATION, ...request }, options(deadline_ms)));

const TOOL = { name: 'code_interpreter', description: 'Runs code.', parameters: { type: 'object' } };

describe('what an OpenAI-compatible server is asked', () => {
  it('leaves nothing to defaults of its own', async () => {
    const staged = onStub('vllm');
    const messages = [
      { role: 'user', content: 'U' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'call_1', name: 'code_interpreter', arguments: '{}' }] },
      { role: 'tool', tool_call_id: 'call_1', content: '1' },
    ] as const;
    await read(staged, { messages, n: 2, tools: [TOOL], thinking: true });
    const [seen] = await seenUnder(staged.base_url);
    expect(JSON.parse(seen?.body ?? '')).toEqual({
      model: STUB_MODEL,
      messages: [
        messages[0],
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'code_interpreter', arguments: '{}' } }],
        },
        messages[2],
      ],
      stream: true,
      stream_options: { include_usage: true },
      n: 2,
      temperature: 1,
      top_p: 0.9,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      seed: 7,
      max_completion_tokens: 512,
      chat_template_kwargs: { enable_thinking: true },
      tools: [{ type: 'function', function: TOOL }],
    });
  });

  const bodiesOf = async (staged: { readonly base_url: string }): Promise<readonly unknown[]> =>
    (await seenUnder(staged.base_url)).map(({ body }) => JSON.parse(body));

  it('is a request a choice where the server takes no n, or would refuse greedy ones', async () => {
    const single = onStub('vllm', { native_n: false });
    await read(single, { n: 3 });
    expect(await bodiesOf(single)).toMatchObject([0, 1, 2].map((choice) => ({ n: 1, seed: 7 + choice })));

    const greedy = onStub('vllm');
    await read(greedy, { n: 2, sampling: { temperature: 0, top_p: 1, top_k: 5, seed: null } });
    const bodies = await bodiesOf(greedy);
    expect(bodies).toMatchObject([
      { n: 1, top_k: 5 },
      { n: 1, top_k: 5 },
    ]);
    for (const body of bodies) expect(body).not.toHaveProperty('seed');
  });

  it('describes tools only to a server that parses calls', async () => {
    const text = onStub('vllm', { tools: 'text', length_field: 'max_tokens' });
    expect(text.generator.native_tools).toBe(false);
    await read(text, { tools: [TOOL] });
    const [body] = await bodiesOf(text);
    expect(body).not.toHaveProperty('tools');
    expect(body).toMatchObject({ max_tokens: 512 });
  });
});

describe('what an OpenAI-compatible server answers', () => {
  it.concurrent.each(DIALECTS)('means the same in every dialect: %s', async (dialect) => {
    const told = await read(onStub(dialect), { n: 2 });
    expect(told.end).toEqual({ ok: true });
    for (const choice of [0, 1]) {
      expect(choiceOf(told, choice)).toMatchObject({ text: sampleText(7 + choice), finishes: ['stop'] });
    }
  });

  it('leaves a connection that is used again', async () => {
    const staged = onStub('ends_late');
    for (let n = 0; n < 6; n++) expect((await read(staged)).end).toEqual({ ok: true });
    // On a busy machine the end may come too late now and then.
    expect(new Set((await seenUnder(staged.base_url)).map(({ port }) => port)).size).toBeLessThan(6);
  });

  it('may have its thinking split off', async () => {
    const { text, thinking } = choiceOf(await read(onStub('reasoning_field')), 0);
    expect({ text, thinking }).toEqual({ text: sampleText(7), thinking: '{"c1": a thought}' });
    expect(choiceOf(await read(onStub('sglang_reasoning')), 0).thinking).toBe('{"c1": a thought');
  });

  it('interleaves choices, also those of requests of their own', async () => {
    for (const native_n of [true, false]) {
      const { events } = await read(onStub('vllm', { native_n }), { n: 2 });
      const texts = events.flatMap((event) => (event.type === 'text' ? [event.choice] : []));
      expect(texts.indexOf(1)).toBeLessThan(texts.lastIndexOf(0));
      expect(texts.indexOf(0)).toBeLessThan(texts.lastIndexOf(1));
    }
  });

  it('is counted once: by the server, or as the sum over all requests', async () => {
    const usageOf = async (behaviour: StubBehaviour, native_n: boolean) => {
      const { events } = await read(onStub(behaviour, { native_n }), { n: 3 });
      return events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    };
    expect(await usageOf('vllm', true)).toEqual([{ prompt_tokens: 120, completion_tokens: 30 }]);
    expect(await usageOf('vllm', false)).toEqual([{ prompt_tokens: 360, completion_tokens: 90 }]);
    expect(await usageOf('vllm_without_usage', false)).toEqual([]);
  });

  it.each(GENERATION_SAMPLES)('keeps the finish reason of %s: %s', async (behaviour, finish_reason) => {
    const told = await read(onStub(behaviour));
    expect(told.end).toEqual({ ok: true });
    expect(choiceOf(told, 0).finishes).toEqual([finish_reason]);
  });

  it('has whole tool calls, and none that the length cut', async () => {
    const whole = await read(onStub('tool_calls'), { n: 2, tools: [TOOL] });
    expect(choiceOf(whole, 1)).toMatchObject({
      text: 'I run it.',
      calls: [
        { id: 'call_10', name: 'code_interpreter', arguments: CALL_ARGUMENTS[0] },
        { id: 'call_11', name: 'code_interpreter', arguments: CALL_ARGUMENTS[1] },
      ],
      finishes: ['tool_calls'],
    });
    const cut = choiceOf(await read(onStub('tool_call_cut'), { tools: [TOOL] }), 0);
    expect(cut).toMatchObject({ finishes: ['length'], calls: [{ id: 'call_00' }] });
    expect(cut.calls).toHaveLength(1);
  });

  it('is read no faster than events are asked for', async () => {
    const staged = onStub('endless');
    const generation = staged.generator.generate({ ...GENERATION, max_tokens: 100_000_000 }, options());
    const written = async () => (await seenUnder(staged.base_url))[0]?.pieces ?? 0;
    await generation.next();
    /** Data buffered by the connection itself. */
    const full = async (): Promise<number> => {
      for (let before = -1; ; ) {
        const now = await written();
        if (now === before) return now;
        before = now;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    const held = await full();
    for (let i = 0; i < held + 10; i++) await generation.next();
    expect(await full()).toBeGreaterThan(held);
    await generation.return({ ok: true });
  });
});

describe('a fault of an OpenAI-compatible server', () => {
  it.concurrent.each(GENERATION_FAULTS)(
    '%s',
    async (behaviour, { reason, retryable, retry_after, retry_after_slack }) => {
      const deadline_ms = reason === 'generator_timeout' ? 300 : LONG_MS;
      const { end } = await read(onStub(behaviour), { n: 2 }, deadline_ms);
      expect(end).toMatchObject({ ok: false, error: { reason, retryable } });
      if (end.ok) throw new Error('unreachable');
      expect(end.error.detail).not.toContain(STUB_CANARY);
      const off = Math.ceil(end.error.retry_after_s ?? 0) - (retry_after ?? 0);
      expect(Math.abs(off)).toBeLessThanOrEqual(retry_after_slack ?? 0);
    },
  );

  it('of one request ends the others', async () => {
    const staged = onStub('stalls_in_stream', { native_n: false, slots: 4 });
    const { end } = await read(staged, { n: 4 }, 300);
    expect(end).toMatchObject({ ok: false, error: { reason: 'generator_timeout' } });
    expect(await staged.asked()).toBe(4);
    await vi.waitFor(async () => expect(await staged.working()).toBe(0), { timeout: 20_000 });
  });

  it('goes over the wire with the status and headers of its retryability', async () => {
    const wire = (reason: 'generator_rate_limited' | 'generator_refusal' | 'generator_prompt_too_long') => {
      const failure = { reason, detail: 'd', retryable: reason === 'generator_rate_limited', retry_after_s: 2.2 };
      return problemResponse({ reason: 'generation_failed', failure }, 'r', '/v1/refine');
    };
    expect(wire('generator_rate_limited').status).toBe(503);
    expect(wire('generator_rate_limited').headers.get('retry-after')).toBe('3');
    expect(wire('generator_refusal').status).toBe(502);
    expect(await wire('generator_refusal').json()).toMatchObject({ retryable: false });
    expect(wire('generator_refusal').headers.has('retry-after')).toBe(false);
    expect(wire('generator_prompt_too_long').status).toBe(422);
  });
});

for (const [name, model, events] of [
  ['Workers AI in its own shape', AI.model, ownEvents],
  ["Workers AI in OpenAI's shape", QWEN, openAiEvents],
] as const) {
  generatorContract({
    name,
    good: () => onAi(events, { model }),
    endless: () => onAi(() => ({ response: 'word ' }), { model }),
    silent: silentAi,
    text: sampleText,
  });
}

const fake: Pick<FakeAi, 'run'> = { run: FakeAi.prototype.run };
const FAKE = { ...AI, model: '@fake/first-allowed' };

generatorContract({
  name: 'the fake of local development',
  good: () => {
    let asked = 0;
    const ai: AiBinding = {
      run: (model, inputs) => {
        asked++;
        return fake.run(model, inputs);
      },
    };
    return { generator: createWorkersAiGenerator(FAKE, ai), asked: async () => asked, working: async () => 0 };
  },
  endless: null,
  silent: null,
  text: () => spokenText(512),
});

describe('what Workers AI is asked', () => {
  const inputsOf = async (config: Partial<WorkersAiGeneratorConfig>, request: Partial<GenerationRequest> = {}) => {
    const staged = onAi(ownEvents, config);
    const { end } = await read(staged, request);
    return { end, calls: staged.binding.calls };
  };

  it("is in the family's shape", async () => {
    const common = { messages: GENERATION.messages, stream: true, temperature: 1, top_p: 0.9, seed: 7 };
    const tools = [{ type: 'function', function: TOOL }];
    const { calls: flat } = await inputsOf({}, { tools: [TOOL], sampling: { ...GENERATION.sampling, top_k: 5 } });
    expect(flat[0]?.inputs).toEqual({ ...common, max_tokens: 512, repetition_penalty: 1, top_k: 5, tools });
    const { calls: wrapped } = await inputsOf({ model: QWEN, tools: 'text' }, { tools: [TOOL], thinking: true });
    expect(wrapped[0]?.inputs).toEqual({
      ...common,
      max_completion_tokens: 512,
      stream_options: { include_usage: true },
      chat_template_kwargs: { enable_thinking: true },
    });
    const { calls: unknown } = await inputsOf({ model: '@cf/somebody/else' });
    expect(unknown[0]?.inputs).toHaveProperty('max_tokens', 512);
  });

  it('is nothing where it has no field for the sampling', async () => {
    const { end, calls } = await inputsOf({ model: QWEN }, { sampling: { ...GENERATION.sampling, top_k: 5 } });
    expect(end).toMatchObject({ ok: false, error: { reason: 'generator_request_refused', retryable: false } });
    expect(calls).toEqual([]);
  });

  it('goes through an AI Gateway that neither caches, logs nor retries', async () => {
    const { calls } = await inputsOf({ gateway_id: 'policy' });
    expect(calls[0]?.options.gateway).toEqual({
      id: 'policy',
      skipCache: true,
      collectLog: false,
      retries: { maxAttempts: 1 },
    });
  });

  it('is one run a choice under a seed of its own, so many at a time', async () => {
    const staged = onAi(ownEvents);
    const told = await read(staged, { n: 5 });
    expect(staged.binding.calls.map(({ inputs }) => inputs['seed'])).toEqual([7, 8, 9, 10, 11]);
    expect(staged.binding.atOnce()).toBe(2);
    expect(told.events.at(-1)).toEqual({ type: 'usage', usage: { prompt_tokens: 50, completion_tokens: 10 } });
  });
});

describe('what Workers AI answers', () => {
  it('is read no faster than events are asked for', async () => {
    const { generator, binding } = onAi(() => ({ response: 'word ' }));
    const generation = generator.generate(GENERATION, options());
    for (let asked = 1; asked <= 5; asked++) {
      await generation.next();
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(binding.pulled()).toBe(asked);
    }
    await generation.return({ ok: true });
  });

  it.each([
    ['a whole one', [{ response: 'a', usage: USAGE }, '[DONE]'], 'stop'],
    [
      'one of as many tokens as allowed',
      [{ response: 'a', usage: { ...USAGE, completion_tokens: 3 } }, '[DONE]'],
      'length',
    ],
    ['one of as many pieces, uncounted', [{ response: 'a' }, { response: 'b' }, { response: 'c' }, '[DONE]'], 'length'],
    ['one that says so', [{ response: 'a' }, { response: '', finish_reason: 'eos' }, '[DONE]'], 'eos'],
  ] as const)('has a finish reason: %s', async (_name, events, finish) => {
    const told = await read(onAi(listed(...events)), { max_tokens: 3 });
    expect(told.end).toEqual({ ok: true });
    expect(choiceOf(told, 0).finishes).toEqual([finish]);
  });

  it('has its texts as they were written, though the platform has parsed them', async () => {
    const told = await read(onAi(listed({ response: 'n = ' }, { response: 42 }, { response: '' }, '[DONE]')));
    expect(choiceOf(told, 0).text).toBe('n = 42');
  });

  it('has tool calls, in either shape', async () => {
    const call = { name: 'code_interpreter', arguments: { code: 'print(1)' } };
    const own = await read(onAi(listed({ response: '', tool_calls: [call, call] }, '[DONE]')), { tools: [TOOL] });
    expect(choiceOf(own, 0)).toMatchObject({
      calls: [0, 1].map((index) => ({ id: `call_0_${index}`, arguments: '{"code":"print(1)"}' })),
      finishes: ['tool_calls'],
    });
    const delta = (tool_calls: readonly object[], finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta: { tool_calls }, finish_reason }],
    });
    const events = [
      delta([{ index: 0, id: 'c1', type: 'function', function: { name: 'code_interpreter' } }]),
      delta([{ index: 0, function: { arguments: '{"code":' } }]),
      delta([{ index: 0, function: { arguments: '"x"}' } }]),
      delta([{ index: 1, id: null, type: null, function: { name: null, arguments: '' } }]),
      delta([], 'tool_calls'),
      '[DONE]',
    ];
    const openAi = choiceOf(await read(onAi(listed(...events)), { tools: [TOOL] }), 0);
    expect(openAi.calls).toEqual([{ id: 'c1', name: 'code_interpreter', arguments: '{"code":"x"}' }]);
  });

  it('may come in one piece', async () => {
    const whole = async (reply: unknown) =>
      readAll(
        createWorkersAiGenerator(AI, { run: async () => reply }).generate({ ...GENERATION, max_tokens: 3 }, options()),
      );
    const own = await whole({ response: 'a', usage: USAGE });
    expect(choiceOf(own, 0)).toMatchObject({ text: 'a', finishes: ['stop'] });
    expect(own.events.at(-1)).toMatchObject({ type: 'usage' });
    const openAi = await whole({ choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'length' }] });
    expect(choiceOf(openAi, 0)).toMatchObject({ text: 'a', finishes: ['length'] });
    expect(await whole({ response: null })).toMatchObject({ end: { error: { reason: 'generator_refusal' } } });
    expect(await whole(undefined)).toMatchObject({ end: { error: { reason: 'generator_not_an_api' } } });
  });

  it.each([
    ['generator_interrupted', true, listed({ response: 'a' })],
    ['generator_interrupted', true, listed({ response: 'a' }, '{"respo')],
    ['generator_error', true, listed({ response: 'a' }, { error: { message: STUB_CANARY, code: 500 } })],
    ['generator_model_mismatch', false, listed({ model: STUB_CANARY, choices: [{ delta: { content: 'a' } }] })],
    ['generator_not_an_api', false, listed({ result: STUB_CANARY })],
    [
      'generator_unreachable',
      true,
      () => {
        throw new Error(`Network connection lost. ${STUB_CANARY}`);
      },
    ],
  ] as const)('%s is an end', async (reason, retryable, events) => {
    const { end } = await read(onAi(events));
    // A stream that breaks is a reply that broke off.
    const expected = reason === 'generator_unreachable' ? 'generator_interrupted' : reason;
    expect(end).toMatchObject({ ok: false, error: { reason: expected, retryable } });
    expect(JSON.stringify(end)).not.toContain(STUB_CANARY);
  });

  it.each([
    ['3040: Capacity temporarily exceeded', 'generator_overloaded', undefined],
    ['3036: You have used up your daily free allocation', 'generator_rate_limited', 3_600],
    ['5007: No such model', 'generator_request_refused', undefined],
    ['3006: Request is too large', 'generator_prompt_too_long', undefined],
    ['Network connection lost.', 'generator_unreachable', undefined],
  ])('%s', async (message, reason, retry_after_s) => {
    const ai: AiBinding = {
      run: async () => {
        throw new Error(`${message} ${STUB_CANARY}`);
      },
    };
    const { end } = await read({ generator: createWorkersAiGenerator(AI, ai) }, { n: 3 });
    expect(end).toMatchObject({
      ok: false,
      error: { reason, ...(retry_after_s === undefined ? {} : { retry_after_s }) },
    });
    expect(JSON.stringify(end)).not.toContain(STUB_CANARY);
  });

  it('of the fake is cut at its length', async () => {
    const ai: AiBinding = { run: (model, inputs) => fake.run(model, inputs) };
    const told = await read({ generator: createWorkersAiGenerator(FAKE, ai) }, { max_tokens: 3 });
    expect(choiceOf(told, 0)).toMatchObject({ text: spokenText(3), finishes: ['length'] });
  });
});

/** Counts as asked once it has read its subject, and as working until it is ended. */
function extractive(): Staged {
  let asked = 0;
  const generator = createExtractiveGenerator(() => 0.5);
  return {
    generator: {
      ...generator,
      generate: (request, given) =>
        generator.generate(
          {
            ...request,
            get subject() {
              asked++;
              return request.subject;
            },
          },
          given,
        ),
    },
    asked: async () => asked,
    working: async () => 0,
  };
}

generatorContract({ name: 'the extractive refiner', good: extractive, endless: null, silent: null, text: null });

describe('the extractive refiner', () => {
  const generator = createExtractiveGenerator(() => 0.5);

  it('says what it is, and cites the tool output word for word', async () => {
    expect(generator).toMatchObject({ name: 'extractive', model: 'citeward-extractive-1', context_tokens: null });
    const { text } = choiceOf(await read({ generator }), 0);
    expect(text).toBe(
      '<answer><snippet id=S1>The river Aare is 288 km long and flows through Bern.</snippet></answer>',
    );
  });

  it('answers nothing but questions about tool output', async () => {
    const { end } = await read({ generator }, { subject: null });
    expect(end).toMatchObject({ ok: false, error: { reason: 'generator_request_refused', retryable: false } });
  });

  it('stops when it is left, and at its deadline', async () => {
    const leaving = new AbortController();
    const generation = generator.generate(
      { ...GENERATION, n: 1_000 },
      { deadline_ms: LONG_MS, signal: leaving.signal },
    );
    await generation.next();
    leaving.abort();
    expect(await readAll(generation)).toMatchObject({
      events: [],
      end: { error: { reason: 'generator_interrupted' } },
    });
    const late = await read({ generator }, { n: 1_000_000 }, 50);
    expect(late.end).toMatchObject({ ok: false, error: { reason: 'generator_timeout' } });
  });
});
