/** Tests the properties of llama-server that the contract tests rely on, over real HTTP with the random model. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChatBody, chat, openStream, streamChat } from '../../gpu-backend/check/chat.ts';
import { send, type Target } from '../../gpu-backend/check/connection.ts';
import { readMetrics } from '../../gpu-backend/check/metrics.ts';
import { sampleCitations, sampleRubric } from '../../gpu-backend/check/sample-requests.ts';
import { LLM_BUILD_TIMEOUT_MS, type LlmServer, startLlmServer } from '../../scripts/llm/local-server.ts';
import { tinyModel } from '../../scripts/llm/tiny-model.ts';
import { judgePrompt, readReply } from '../../src/judgments/model-judge.ts';

let server: LlmServer;
let target: Target;

function targetOf({ url, key }: LlmServer): Target {
  return { url, key, headers: {}, timeout_ms: 30_000 };
}

function prose(maxTokens: number, extra: ChatBody = {}): ChatBody {
  const messages = [{ role: 'user', content: 'Say something.' }];
  return { model: server.model, messages, max_tokens: maxTokens, temperature: 1, ...extra };
}

/** Requests that the server is working on or that wait, once it is at most `most` or time is up. */
async function requestsUnderWay(most: number, withinMs: number): Promise<number> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const metrics = await readMetrics(target, null);
    if (metrics === null) throw new Error('the server has no metrics');
    if (metrics.requests <= most || performance.now() > deadline) return metrics.requests;
    await pause(20);
  }
}

beforeAll(async () => {
  server = await startLlmServer();
  target = targetOf(server);
}, LLM_BUILD_TIMEOUT_MS);

afterAll(async () => {
  await server?.stop();
});

describe('judge calls', () => {
  const requests = [sampleRubric('n1', 1), sampleCitations('n1')];

  it.each(requests)('$kind: ten replies of ten fit the schema, whatever the noise', async (request) => {
    const { messages, schema, max_reply_tokens } = judgePrompt(request);
    for (let seed = 1; seed <= 10; seed++) {
      const { choices, usage, model } = await chat(target, {
        ...prose(max_reply_tokens, { seed }),
        messages,
        response_format: { type: 'json_schema', json_schema: { ...schema, strict: true } },
        chat_template_kwargs: { enable_thinking: false },
      });
      expect(choices[0]?.finish_reason).toBe('stop');
      expect(readReply(request, choices[0]?.content ?? '')).toMatchObject({ ok: true });
      expect(model).toBe(server.model);
      expect(usage?.prompt_tokens).toBeGreaterThan(1_000);
    }
  });

  it('the template takes the argument that switches thinking off', async () => {
    const tokens = async (thinking: boolean): Promise<number | undefined> => {
      const { usage } = await chat(target, prose(1, { chat_template_kwargs: { enable_thinking: thinking } }));
      return usage?.prompt_tokens;
    };
    expect(await tokens(false)).not.toBe(await tokens(true));
  });

  it('the same seed gives the same text, beside others too', async () => {
    const ask = async (seed: number): Promise<string> =>
      (await chat(target, prose(64, { seed }))).choices[0]?.content ?? '';
    const alone = await ask(5);
    const crowd = await Promise.all([5, 6, 5, 7, 5, 8, 5, 9].map(ask));
    expect(crowd.filter((text) => text === alone)).toHaveLength(4);
    expect(new Set(crowd).size).toBe(5);
  });
});

describe('streams', () => {
  it('come in pieces, with a finish reason and usage', async () => {
    const stream = await streamChat(target, prose(40, { seed: 3 }));
    expect(stream).toMatchObject({ finish_reason: 'length', error: null, done_marker: true });
    expect(stream.content_type).toContain('text/event-stream');
    expect(stream.pieces).toBe(40);
    expect(stream.usage?.completion_tokens).toBe(40);
    const whole = await chat(target, prose(40, { seed: 3 }));
    expect(stream.text).toBe(whole.choices[0]?.content);
  });

  it('free their slots when they are dropped', async () => {
    const before = await readMetrics(target, null);
    const asked = 8_000;
    const callers = new AbortController();
    // Twice as many as there are slots: half of them wait, and must leave the queue too.
    const streams = Array.from({ length: 2 * server.slots }, async () => {
      const stream = await openStream(target, prose(asked, { ignore_eos: true }), callers.signal);
      for await (const event of stream.events()) if (event === '[DONE]') return;
    });
    const outcomes = Promise.allSettled(streams);
    await pause(300);
    expect(await requestsUnderWay(0, 0)).toBe(2 * server.slots);
    callers.abort();
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { reason: 'dropped' } });
    expect(await requestsUnderWay(0, 2_000)).toBe(0);
    const after = await readMetrics(target, null);
    expect((after?.generated_tokens ?? 0) - (before?.generated_tokens ?? 0)).toBeLessThan(server.slots * asked);
  });
});

describe('refusals', () => {
  const post = (path: string, body: unknown, authorized = true) =>
    send(target, { method: 'POST', path, body, authorized });

  it('401 without the key, 404 for an unknown path, 400 for a bad request', async () => {
    expect(await post('/v1/chat/completions', prose(1), false)).toMatchObject({
      status: 401,
      json: { error: { type: 'authentication_error' } },
    });
    expect(await post('/v1/no-such-path', {})).toMatchObject({ status: 404 });
    expect(await post('/v1/chat/completions', { ...prose(1), messages: 'no list' })).toMatchObject({
      status: 400,
      json: { error: { code: 400 } },
    });
  });

  it('400 with a type of its own for a prompt longer than the context', async () => {
    const messages = [{ role: 'user', content: 'x'.repeat(40_000) }];
    expect(await post('/v1/chat/completions', { ...prose(1), messages })).toMatchObject({
      status: 400,
      json: { error: { type: 'exceed_context_size_error', n_ctx: 32_768 } },
    });
  });
});

describe('the process', () => {
  it('kill -9 in mid-call is a broken connection, and a restart under the same URL serves again', async () => {
    const victim = await startLlmServer({ key: 'sk-victim', model: 'victim' });
    const itsTarget = targetOf(victim);
    const calls = [
      chat(itsTarget, prose(20_000, { ignore_eos: true })),
      streamChat(itsTarget, prose(20_000, { ignore_eos: true })),
    ];
    const outcomes = Promise.allSettled(calls);
    await pause(200);
    await victim.kill();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'ConnectionError', reason: 'reset' } });
    }
    await expect(chat(itsTarget, prose(1))).rejects.toMatchObject({ reason: 'refused' });
    await victim.stop();

    const restarted = await startLlmServer({ key: 'sk-victim', model: 'victim', port: victim.port });
    try {
      expect(restarted.url).toBe(victim.url);
      expect((await chat(itsTarget, prose(4, { seed: 1 }))).model).toBe('victim');
    } finally {
      await restarted.stop();
    }
    expect(() => process.kill(restarted.pid, 0)).toThrow('ESRCH');
  });

  it('says why it does not start', async () => {
    await expect(startLlmServer({ port: server.port })).rejects.toMatchObject({
      message: expect.stringContaining('EADDRINUSE'),
    });
  });
});

describe('the tools model', () => {
  it('answers a required tool with a call', async () => {
    const tools = await startLlmServer({ kind: 'tools' });
    try {
      const parameters = {
        type: 'object',
        properties: { code: { type: 'string', maxLength: 80 } },
        required: ['code'],
      };
      for (let seed = 1; seed <= 5; seed++) {
        const body = {
          ...prose(1_000, { seed, tool_choice: 'required', parallel_tool_calls: false }),
          tools: [{ type: 'function', function: { name: 'code_interpreter', parameters } }],
        };
        const reply = await chat(targetOf(tools), body);
        expect(reply.choices[0]?.finish_reason).toBe('tool_calls');
      }
    } finally {
      await tools.stop();
    }
  });
});

describe('the model file', () => {
  it('is the same for the same seed, another for another, and half a megabyte', () => {
    const file = tinyModel({ seed: 1, kind: 'text' });
    expect(file.equals(tinyModel({ seed: 1, kind: 'text' }))).toBe(true);
    expect(file.equals(tinyModel({ seed: 2, kind: 'text' }))).toBe(false);
    expect(file.subarray(0, 4).toString()).toBe('GGUF');
    expect(file.length).toBeLessThan(600_000);
  });
});
