/** The vLLM backend alone: its requests, its transport, its deadlines, and the replies that it refuses. */
import { describe, expect, it, vi } from 'vitest';
import { publicTransport, retryAfterSeconds, type Transport } from '../../lib/model-servers/calls/transport.ts';
import { createVllmBackend } from '../../lib/model-servers/vllm/vllm-chat.ts';
import type { VllmConfig } from '../../lib/model-servers/vllm/vllm-server.ts';
import { probeServer } from '../../lib/model-servers/vllm/vllm-server.ts';
import { vpcTransport } from '../../service/backends/bindings.ts';
import type { CompletionRequest } from '../../src/judgments/chat-backend.ts';
import { judgePrompt } from '../../src/judgments/model-judge.ts';
import { STUB_KEY, STUB_MODEL, type StubBehaviour } from '../contract/backend-faults.ts';
import { seenUnder, stubUrl } from './stub-judges.ts';

const CONFIG: VllmConfig = {
  kind: 'vllm',
  name: 'gpu',
  model: STUB_MODEL,
  identity: null,
  answers_as: null,
  slots: 1,
  context_tokens: 8_192,
  base_url: 'https://gpu.test/v1',
  vpc_binding: null,
  api_key: null,
  access: null,
  length_field: 'max_completion_tokens',
};

const REQUEST: CompletionRequest = {
  messages: [
    { role: 'system', content: 'S' },
    { role: 'user', content: 'U' },
  ],
  schema: judgePrompt({
    kind: 'rubric',
    question: '',
    sources: [],
    criteria: [{ description: 'd' }],
    answer: '',
  }).schema,
  sampling: { temperature: 0, top_p: 1, seed: 7 },
  max_tokens: 170,
};

const DEADLINE = { deadline_ms: 1_000 };

/** A transport that keeps what it was given and answers with a stream of the given text. */
function recording(text = `data: ${chunk('{}', 'stop')}\n\ndata: [DONE]\n\n`) {
  const sent: { url: string; init: RequestInit }[] = [];
  const transport: Transport = async (url, init) => {
    sent.push({ url, init });
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { sent, transport };
}

function chunk(content: string, finish_reason: string | null, model = STUB_MODEL): string {
  return JSON.stringify({ model, choices: [{ index: 0, delta: { content }, finish_reason }] });
}

async function complete(config: Partial<VllmConfig>, transport: Transport) {
  return createVllmBackend({ ...CONFIG, ...config }, transport, () => 0).complete(REQUEST, DEADLINE);
}

describe('the request', () => {
  it('says everything that a server could fill in by itself, and nothing that it would ignore', async () => {
    const { sent, transport } = recording();
    await complete({}, transport);
    expect(sent.map(({ url }) => url)).toEqual(['https://gpu.test/v1/chat/completions']);
    const { body, ...init } = sent[0]?.init ?? {};
    expect(init).toMatchObject({
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    });
    expect(init.headers).not.toHaveProperty('authorization');
    expect(JSON.parse(String(body))).toEqual({
      model: STUB_MODEL,
      messages: REQUEST.messages,
      stream: true,
      stream_options: { include_usage: true },
      n: 1,
      temperature: 0,
      top_p: 1,
      seed: 7,
      repetition_penalty: 1,
      max_completion_tokens: 170,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'rubric_verdicts', schema: REQUEST.schema?.schema, strict: true },
      },
      chat_template_kwargs: { enable_thinking: false },
    });
  });

  it('carries the key, and the service token for what stands in front', async () => {
    const { sent, transport } = recording();
    await complete({ api_key: 'sk-1', access: { client_id: 'id.access', client_secret: 'sec' } }, transport);
    expect(sent[0]?.init.headers).toMatchObject({
      authorization: 'Bearer sk-1',
      'cf-access-client-id': 'id.access',
      'cf-access-client-secret': 'sec',
    });
  });

  it('names the session, by which a router keeps the prompts of a group on one engine', async () => {
    const { sent, transport } = recording();
    const backend = createVllmBackend(CONFIG, transport, () => 0);
    await backend.complete(REQUEST, { ...DEADLINE, session: 'a1b2' });
    await backend.complete(REQUEST, DEADLINE);
    const sessions = sent.map(({ init }) => new Headers(init.headers).get('x-session-id'));
    expect(sessions).toEqual(['a1b2', null]);
  });

  it('names the length as the server knows it', async () => {
    const { sent, transport } = recording();
    await complete({ length_field: 'max_tokens' }, transport);
    const body = JSON.parse(String(sent[0]?.init.body));
    expect(body.max_tokens).toBe(170);
    expect(body).not.toHaveProperty('max_completion_tokens');
  });

  it('goes through a Workers VPC service by the same path', async () => {
    const { sent, transport } = recording();
    const service: Pick<Fetcher, 'fetch'> = {
      fetch: async (input, init) => transport(String(input), { ...init }),
    };
    const outcome = await complete({ base_url: 'http://vllm/v1', api_key: 'k' }, vpcTransport(service));
    expect(outcome).toMatchObject({ ok: true });
    expect(sent[0]).toMatchObject({ url: 'http://vllm/v1/chat/completions', init: { redirect: 'manual' } });
  });

  it('reaches a real server as it was meant', async () => {
    const base_url = stubUrl('vllm', 'request');
    const outcome = await complete({ base_url, api_key: STUB_KEY }, publicTransport);
    expect(outcome).toMatchObject({ ok: true, completion: { model: STUB_MODEL } });
    const [seen] = await seenUnder(base_url);
    expect(seen).toMatchObject({ method: 'POST', path: '/vllm/request/v1/chat/completions' });
    expect(seen?.headers).toMatchObject({ authorization: `Bearer ${STUB_KEY}`, 'content-type': 'application/json' });
  });
});

describe('the connection', () => {
  it('is used again, also where the body ends some time after the last event', async () => {
    const base_url = stubUrl('ends_late', 'connection');
    for (let n = 0; n < 6; n++) {
      expect(await complete({ base_url, api_key: STUB_KEY }, publicTransport)).toMatchObject({ ok: true });
    }
    // On a busy machine the end may come too late now and then.
    expect(new Set((await seenUnder(base_url)).map(({ port }) => port)).size).toBeLessThan(6);
  });

  it('is closed where the body does not end', async () => {
    const base_url = stubUrl('never_ends', 'connection');
    expect(await complete({ base_url, api_key: STUB_KEY }, publicTransport)).toMatchObject({ ok: true });
    await vi.waitFor(async () => {
      expect((await seenUnder(base_url)).map(({ aborted }) => aborted)).toEqual([true]);
    }, 20_000);
  });
});

describe('the model', () => {
  it('is reported by its identity', async () => {
    const outcome = await complete({ identity: 'Qwen/Qwen3.5-35B-A3B-FP8' }, recording().transport);
    expect(outcome).toMatchObject({ ok: true, completion: { model: 'Qwen/Qwen3.5-35B-A3B-FP8' } });
  });

  it('may answer under another name only where the configuration says so', async () => {
    const { transport } = recording(`data: ${chunk('{}', 'stop', '/models/judge.gguf')}\n\n`);
    expect(await complete({}, transport)).toMatchObject({ ok: false, failure: { reason: 'judge_model_mismatch' } });
    expect(await complete({ answers_as: '/models/judge.gguf' }, transport)).toMatchObject({
      ok: true,
      completion: { model: STUB_MODEL },
    });
  });
});

describe('the deadline', () => {
  it.each(['silent', 'stalls_in_stream'] as const)(
    'ends a call that is %s, and frees the server',
    async (behaviour) => {
      const base_url = stubUrl(behaviour, 'deadline');
      const backend = createVllmBackend({ ...CONFIG, base_url, api_key: STUB_KEY }, publicTransport, () => 0);
      const outcome = await backend.complete(REQUEST, { deadline_ms: 200 });
      expect(outcome).toMatchObject({ ok: false, failure: { reason: 'judge_timeout', retryable: true } });
      await vi.waitFor(async () => {
        expect((await seenUnder(base_url)).map(({ aborted }) => aborted)).toEqual([true]);
      }, 20_000);
    },
  );

  it('of silence ends a call in the middle of its reply, and not one that goes on', async () => {
    const piece = new TextEncoder().encode(`data: ${chunk('', null, 'other')}\n\n`);
    const streaming = (pieces: number): Transport => {
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          for (let n = 0; n < pieces; n++) {
            await new Promise((resolve) => setTimeout(resolve, 60));
            controller.enqueue(piece);
          }
        },
      });
      return async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    for (const pieces of [1, 4]) {
      const started = performance.now();
      const backend = createVllmBackend({ ...CONFIG, answers_as: 'other' }, streaming(pieces), () => 0, 150);
      expect(await backend.complete(REQUEST, { deadline_ms: 20_000 })).toMatchObject({
        ok: false,
        failure: { reason: 'judge_timeout', detail: expect.stringContaining('sent nothing') },
      });
      expect(performance.now() - started).toBeGreaterThan(60 * pieces + 100);
    }
  });

  it('of the first byte is that of the call, unless first_byte_s is shorter', async () => {
    const late: Transport = async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return new Response('', { headers: { 'content-type': 'text/event-stream' } });
    };
    const backend = (times: { timeout_s?: number; first_byte_s?: number }) =>
      createVllmBackend({ ...CONFIG, ...times }, late, () => 0, 50).complete(REQUEST, { deadline_ms: 20_000 });
    expect(await backend({})).toMatchObject({ ok: false, failure: { reason: 'judge_interrupted' } });
    expect(await backend({ first_byte_s: 0.1 })).toMatchObject({
      ok: false,
      failure: { reason: 'judge_timeout', detail: expect.stringContaining('first_byte_s') },
    });
    expect(await backend({ timeout_s: 0.1 })).toMatchObject({
      ok: false,
      failure: { reason: 'judge_timeout', detail: expect.stringContaining('deadline') },
    });
  });

  it('ends a call over a transport that does not listen', async () => {
    const deaf: Transport = () => new Promise(() => undefined);
    const backend = createVllmBackend(CONFIG, deaf, () => 0);
    expect(await backend.complete(REQUEST, { deadline_ms: 30 })).toMatchObject({
      ok: false,
      failure: { reason: 'judge_timeout' },
    });
  });

  it('leaves no timer and no open body behind', async () => {
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${chunk('', null, 'other')}\n\n`)),
      cancel: () => {
        cancelled = true;
      },
    });
    const transport: Transport = async () =>
      new Response(endless, { headers: { 'content-type': 'text/event-stream' } });
    try {
      expect(await complete({}, transport)).toMatchObject({ ok: false, failure: { reason: 'judge_model_mismatch' } });
      expect(cancelled).toBe(true);
      expect(clear).toHaveBeenCalledTimes(1);
    } finally {
      clear.mockRestore();
    }
  });
});

describe('bounds', () => {
  const flood = (type: string, status: number, piece: string): { transport: Transport; pulled: () => number } => {
    let bytes = 0;
    const encoded = new TextEncoder().encode(piece);
    const transport: Transport = async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            bytes += encoded.byteLength;
            controller.enqueue(encoded);
          },
        }),
        { status, headers: { 'content-type': type } },
      );
    return { transport, pulled: () => bytes };
  };

  it.each([
    [
      'a reply without end',
      'text/event-stream',
      200,
      `data: ${chunk('x'.repeat(200_000), null)}\n\n`,
      'judge_reply_cut',
      8,
    ],
    ['a line without end', 'text/event-stream', 200, 'x'.repeat(1_000_000), 'judge_reply_cut', 40],
    ['comments without end', 'text/event-stream', 200, ': ping\n\n'.repeat(100_000), 'judge_reply_cut', 40],
    ['JSON without end', 'application/json', 200, '[0,'.repeat(300_000), 'judge_reply_cut', 40],
    ['an error without end', 'application/json', 500, '[0,'.repeat(300_000), 'judge_error', 3],
  ])('%s is not read to its end', async (_name, type, status, piece, reason, megabytes) => {
    const { transport, pulled } = flood(type, status, piece);
    const backend = createVllmBackend(CONFIG, transport, () => 0);
    const outcome = await backend.complete(REQUEST, { deadline_ms: 15_000 });
    expect(outcome).toMatchObject({ ok: false, failure: { reason } });
    expect(pulled()).toBeLessThan(megabytes * 1_000_000);
  });
});

describe('Retry-After', () => {
  const NOW = Date.parse('2026-11-21T12:00:00Z');
  it.each([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': ' 0 ' }, 0],
    [{ 'retry-after': '1.5' }, 1.5],
    [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30],
    [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '250' }, 0.25],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 0.25],
    [{ 'retry-after': '99999999' }, 3_600],
    [{ 'retry-after': '-3' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '' }, null],
    [{}, null],
  ])('%j is %s', (headers, seconds) => {
    expect(retryAfterSeconds(new Headers(headers), NOW)).toBe(seconds);
  });
});

describe('the probe', () => {
  const probe = (behaviour: StubBehaviour, fields: Partial<VllmConfig> = {}) =>
    probeServer({ ...CONFIG, base_url: stubUrl(behaviour), api_key: STUB_KEY, ...fields }, publicTransport);

  it('tells a server that serves the model from one that does not, and from none', async () => {
    expect(await probe('vllm')).toEqual({ reachable: true, model_present: true, failure: null });
    expect(await probe('http_404_model')).toEqual({ reachable: true, model_present: false, failure: null });
    for (const [behaviour, reason, fields] of [
      ['refused', 'judge_unreachable', {}],
      ['http_503', 'judge_overloaded', {}],
      ['html_login', 'judge_not_an_api', {}],
      ['vllm', 'judge_unauthorized', { api_key: 'wrong' }],
    ] as const) {
      expect(await probe(behaviour, fields)).toMatchObject({
        reachable: false,
        model_present: null,
        failure: { reason },
      });
    }
  });
});
