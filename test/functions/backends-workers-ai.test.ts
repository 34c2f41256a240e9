/** Workers AI: the requests in each model family's format, the failure that each fault becomes, and the local fake. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import FakeAi from '../../fake-ai/index.ts';
import { replyForSchema } from '../../fake-ai/schema-reply.ts';
import type { JudgeBackend } from '../../service/backends/judge-backends.ts';
import { lexicalBackend, modelJudge } from '../../service/backends/judge-backends.ts';
import type { AiBinding, AiRunOptions, WorkersAiConfig } from '../../service/backends/workers-ai/ai-run.ts';
import { familyOf } from '../../service/backends/workers-ai/model-families.ts';
import { createWorkersAiBackend } from '../../service/backends/workers-ai/workers-ai-chat.ts';
import type { CompletionRequest } from '../../src/judgments/chat-backend.ts';
import { judgePrompt } from '../../src/judgments/model-judge.ts';
import { STUB_CANARY } from '../contract/backend-faults.ts';
import { AI_FAULTS, type AiFaultRow } from '../contract/workers-ai-faults.ts';
import { post, problemOf, ROLLOUT, scoreOf, send } from './api.ts';
import { HURRIED } from './stub-judges.ts';
import { replaceParts } from './worker.ts';

const MODEL = '@cf/qwen/qwen3.8-27b';
const GOOD = 'good';

const CONFIG: WorkersAiConfig = {
  kind: 'workers-ai',
  name: 'ai',
  model: MODEL,
  identity: null,
  answers_as: null,
  slots: 4,
  context_tokens: 24_000,
  gateway_id: null,
  schema_shape: 'wrapped',
};

function schemaIn(inputs: Readonly<Record<string, unknown>>): unknown {
  const format: unknown = inputs['response_format'];
  if (typeof format !== 'object' || format === null) throw new TypeError('no response_format');
  return Reflect.get(Reflect.get(format, 'json_schema'), 'schema');
}

/** A binding that behaves in one way. */
function behaving(row: AiFaultRow | undefined): AiBinding {
  return {
    run: async (_model, inputs) => {
      const good = JSON.stringify(replyForSchema(schemaIn(inputs)));
      const behaviour = row?.behaviour ?? { returns: (text: string) => ({ response: JSON.parse(text), usage: null }) };
      if ('hangs' in behaviour) return new Promise(() => undefined);
      if ('fails' in behaviour) throw behaviour.fails;
      return behaviour.returns(good);
    },
  };
}

const judges: readonly JudgeBackend[] = [
  ...[GOOD, ...Object.keys(AI_FAULTS)].map((name): JudgeBackend => {
    const backend = modelJudge({ name, routes: [{ ...CONFIG, name }] }, () => behaving(AI_FAULTS[name]), HURRIED);
    const { judge } = backend;
    return { ...backend, judge: { ...judge, judge: (request) => judge.judge(request, { deadline_ms: 700 }) } };
  }),
  lexicalBackend,
];

replaceParts({
  backendsOf: () => ({ named: judges, default: null, sandbox: null, generators: { named: [], default: null } }),
});

describe('a fault of Workers AI', () => {
  it.concurrent.each(Object.entries(AI_FAULTS))('%s', async (judge, { reason, retryable, status, retry_after }) => {
    const body = { ...ROLLOUT, judge, replicate: Object.keys(AI_FAULTS).indexOf(judge) };
    const refused = await send(post('/v1/score', body));
    expect(await refused.clone().text()).not.toContain(STUB_CANARY);
    expect(refused.headers.get('retry-after')).toBe(retryable ? String(retry_after ?? 5) : null);
    expect(await problemOf(refused, status, reason)).toMatchObject({ retryable });

    const unscored = await scoreOf(await send(post('/v1/score', { ...body, on_judge_failure: 'null' })));
    expect(unscored).toMatchObject({ reward: null, status: 'unscored', reason });
    expect(unscored.criteria.map(({ score }) => score)).toEqual(unscored.criteria.map(() => null));
    expect(JSON.stringify(unscored)).not.toContain(STUB_CANARY);
    for (const { key } of unscored.judgments) expect(await env.JUDGMENTS.get(`${key}`)).toBeNull();
  });

  it('leaves nothing in the store, and a good reply does', async () => {
    expect((await env.JUDGMENTS.list()).keys).toEqual([]);
    const scored = await scoreOf(await send(post('/v1/score', { ...ROLLOUT, judge: GOOD, replicate: 999 })));
    expect(scored.reward).not.toBeNull();
    expect(scored.judgments.map(({ model, stored }) => [model, stored])).toEqual([
      [MODEL, true],
      [MODEL, true],
    ]);
  });
});

const REQUEST: CompletionRequest = {
  messages: [{ role: 'user', content: 'U' }],
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

async function asked(config: Partial<WorkersAiConfig>) {
  const calls: { model: string; inputs: unknown; options: AiRunOptions }[] = [];
  const ai: AiBinding = {
    run: async (model, inputs, options) => {
      calls.push({ model, inputs, options });
      return { response: '{}', usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
    },
  };
  const outcome = await createWorkersAiBackend({ ...CONFIG, ...config }, ai).complete(REQUEST, { deadline_ms: 500 });
  return { call: calls[0], outcome };
}

describe('the request', () => {
  it("wraps the schema in OpenAI's way where the family wants that", async () => {
    const { call, outcome } = await asked({});
    expect(call).toMatchObject({ model: MODEL });
    expect(call?.inputs).toEqual({
      messages: REQUEST.messages,
      temperature: 0,
      top_p: 1,
      seed: 7,
      stream: false,
      max_completion_tokens: 170,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'rubric_verdicts', schema: REQUEST.schema?.schema, strict: true },
      },
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(outcome).toEqual({
      ok: true,
      completion: { text: '{}', model: MODEL, usage: { prompt_tokens: 1, completion_tokens: 2 } },
    });
  });

  it('gives the schema as it is where the family wants that', async () => {
    const { call } = await asked({ model: '@cf/meta/llama-3.3-70b-instruct-fp8-fast', schema_shape: 'flat' });
    expect(call?.inputs).toMatchObject({
      max_tokens: 170,
      stream: false,
      response_format: { type: 'json_schema', json_schema: REQUEST.schema?.schema },
    });
    expect(call?.inputs).not.toHaveProperty('chat_template_kwargs');
  });

  it('goes through an AI Gateway that neither caches, logs nor retries', async () => {
    const { call } = await asked({ gateway_id: 'judges' });
    expect(call?.options.gateway).toEqual({
      id: 'judges',
      skipCache: true,
      collectLog: false,
      retries: { maxAttempts: 1 },
    });
    expect((await asked({})).call?.options).not.toHaveProperty('gateway');
  });

  it('ends the call at the deadline', async () => {
    let signal: AbortSignal | null = null;
    const ai: AiBinding = {
      run: (_model, _inputs, options) => {
        signal = options.signal;
        return new Promise(() => undefined);
      },
    };
    const outcome = await createWorkersAiBackend(CONFIG, ai).complete(REQUEST, { deadline_ms: 30 });
    expect(outcome).toMatchObject({ ok: false, failure: { reason: 'judge_timeout' } });
    expect(signal).toMatchObject({ aborted: true });
  });
});

describe('the families', () => {
  it.each([
    ['@cf/meta/llama-3.3-70b-instruct-fp8-fast', { schema_shape: 'flat', thinking: 'none' }],
    ['@cf/qwen/qwen3.8-27b', { schema_shape: 'wrapped', thinking: 'switchable' }],
    ['@cf/openai/gpt-oss-120b', { schema_shape: 'wrapped', thinking: 'always' }],
    ['@cf/somebody/else', undefined],
  ])('%s', (model, family) => {
    expect(familyOf(model)).toEqual(family);
  });
});

describe('the fake', () => {
  const fake: Pick<FakeAi, 'run'> = { run: FakeAi.prototype.run };
  const flat = { messages: REQUEST.messages, response_format: { json_schema: REQUEST.schema?.schema } };

  it('answers as no real model', async () => {
    await expect(fake.run(MODEL, flat)).rejects.toThrow('5007: No such model');
    expect(familyOf('@fake/first-allowed')).toBeUndefined();
  });

  it('keeps to the schema, with the first value it allows', async () => {
    expect(await fake.run('@fake/first-allowed', flat)).toMatchObject({
      response: { c1: { reason: 'nothing was read', score: 0 } },
      usage: { prompt_tokens: 1 },
    });
  });
});
