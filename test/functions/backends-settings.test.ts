/**
 * The setting BACKENDS through the API: accepted values, refused values with their problems, and the report of /readyz.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { type Environment, readSettings } from '../../functions/environment.ts';
import worker from '../../functions/index.ts';
import { chatUrlProblem } from '../../lib/model-servers/calls/server-address.ts';
import { chooseGenerator, configuredBackends } from '../../service/backends/configured.ts';
import { modelJudgeIdentity } from '../../src/judgments/model-judge.ts';
import { type Readiness, readinessSchema } from '../../src/wire/health.ts';
import { STUB_KEY, STUB_MODEL } from '../contract/backend-faults.ts';
import { GENERATION, readAll } from '../contract/generator.case.ts';
import { ORIGIN, post, problemOf, ROLLOUT } from './api.ts';
import { stubBackend } from './stub-judges.ts';

type Extra = Readonly<Record<string, unknown>>;

function environmentWith(backends: unknown, extra: Extra = {}): Environment {
  const BACKENDS = typeof backends === 'string' ? backends : JSON.stringify(backends);
  return { ...env, ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'false', BACKENDS, ...extra };
}

async function sendTo(environment: Environment, request: Request): Promise<Response> {
  const context = createExecutionContext();
  const incoming = new Request<unknown, IncomingRequestCfProperties>(request);
  const reply = await worker.fetch(incoming, environment, context);
  await waitOnExecutionContext(context);
  return reply;
}

async function readiness(backends: unknown, status: 200 | 503, extra: Extra = {}): Promise<Readiness> {
  const reply = await sendTo(environmentWith(backends, extra), new Request(`${ORIGIN}/readyz`));
  expect(reply.status).toBe(status);
  return readinessSchema.parse(await reply.json());
}

function problemsOf(backends: unknown, extra: Extra = {}): readonly string[] {
  const read = readSettings(environmentWith(backends, extra));
  if (read.ok) return [];
  expect(read.error.setting).toBe('BACKENDS');
  return read.error.problems;
}

const GPU = {
  name: 'gpu',
  kind: 'vllm',
  base_url: 'https://gpu.test/v1',
  model: 'judge',
  slots: 8,
  context_tokens: 32_768,
};
const AI = { name: 'ai', kind: 'workers-ai', model: '@cf/qwen/qwen3.8-27b', slots: 4, context_tokens: 24_000 };
const POLICY = { ...GPU, name: 'policy', role: 'generate' };
const only = (backend: object, rest: object = {}) => ({ backends: [backend], default_judge: null, ...rest });
const fetcher = { fetch: async () => new Response() };
const ai = { run: async () => ({}) };

afterEach(() => {
  vi.restoreAllMocks();
});

describe('what is wrong with it', () => {
  const cases: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['no JSON', '{', ['expected JSON']],
    ['no object', '[]', [': expected an object, got an array']],
    ['no backends', { backends: [], default_judge: null }, ['backends: expected at least 1 entry, or a "sandbox"']],
    ['no default', { backends: [GPU] }, ['default_judge: required: a string']],
    ['an unknown field', only(GPU, { judge: 'gpu' }), ['judge: unknown field']],
    [
      'another kind',
      only({ ...GPU, kind: 'SECRET' }),
      ['backends[0].kind: expected one of "vllm", "workers-ai", "classifier"'],
    ],
    ['no kind', only({}), ['backends[0].kind: expected one of "vllm", "workers-ai", "classifier"']],
    ['a typo in a field', only({ ...GPU, apikey: 'SECRET' }), ['backends[0].apikey: unknown field']],
    ['a field of the other kind', only({ ...AI, base_url: 'https://a/v1' }), ['backends[0].base_url: unknown field']],
    ['no slots', only({ ...GPU, slots: 0 }), ['backends[0].slots: expected at least 1']],
    ['too many slots', only({ ...GPU, slots: 131_073 }), ['backends[0].slots: expected at most 131072']],
    ['half a slot', only({ ...GPU, slots: 1.5 }), ['backends[0].slots: expected an integer, got a fraction']],
    ['no time', only({ ...GPU, timeout_s: 0 }), ['backends[0].timeout_s: expected at least 1']],
    ['too much time', only({ ...AI, timeout_s: 841 }), ['backends[0].timeout_s: expected at most 840']],
    [
      'times of a judge for a generator',
      only({ ...POLICY, timeout_s: 60, first_byte_s: 30 }),
      ['timeout_s', 'first_byte_s'].map(
        (field) =>
          `backends[0].${field}: not allowed with "role": "generate": requests that generate have time limits of their own`,
      ),
    ],
    ['no context', only({ ...GPU, context_tokens: 100 }), ['backends[0].context_tokens: expected at least 2048']],
    ['an empty key', only({ ...GPU, api_key: '' }), ['backends[0].api_key: expected at least 1 characters']],
    [
      'a secret that is not set',
      only({ ...GPU, api_key_secret: 'NOT_SET' }),
      ['backends[0].api_key_secret: no secret with this name is set; add it with "wrangler secret put"'],
    ],
    [
      'two keys',
      only({ ...GPU, api_key: 'SECRET', api_key_secret: 'GPU_KEY' }),
      ['backends[0].api_key_secret: expected either api_key or api_key_secret, not both'],
    ],
    [
      'half a service token',
      only({ ...GPU, access_client_id: 'SECRET' }),
      ['backends[0].access_client_secret: required, because access_client_id is set'],
    ],
    [
      'a VPC service that is not bound',
      only({ ...GPU, transport: 'vpc', base_url: 'http://vllm/v1', vpc_binding: 'ELSEWHERE' }),
      ['backends[0].transport: no Workers VPC binding is named ELSEWHERE; add it to wrangler.toml'],
    ],
    [
      'a VPC service without its transport',
      only({ ...GPU, vpc_binding: 'GPU' }),
      ['backends[0].vpc_binding: allowed only with "transport": "vpc"'],
    ],
    [
      'a name that is taken',
      { backends: [GPU, GPU], default_judge: null },
      ['backends[1].name: this name is already in use; choose another one'],
    ],
    [
      "the lexical judge's name",
      only({ ...GPU, name: 'lexical' }),
      ['backends[0].name: this name is already in use; choose another one'],
    ],
    [
      'a model that always reasons',
      only({ ...AI, model: '@cf/openai/gpt-oss-120b' }),
      ['backends[0].model: expected a model whose reasoning can be switched off, because judges run without reasoning'],
    ],
    [
      'a model whose schema shape nobody knows',
      only({ ...AI, model: '@cf/new/model' }),
      ['backends[0].json_schema_shape: this model is unknown, so the field is required: "flat" or "wrapped"'],
    ],
    [
      'a default that is no judge',
      only(GPU, { default_judge: 'SECRET' }),
      ['default_judge: expected the name of a route, or of a backend that is in no route'],
    ],
    [
      'routes without the same identity',
      {
        backends: [GPU, { ...GPU, name: 'gpu2', identity: 'x' }],
        routes: { judge: ['gpu', 'gpu2'] },
        default_judge: 'judge',
      },
      ['routes.judge: expected backends that all declare the same "identity"'],
    ],
    [
      'routes that speak two dialects',
      {
        backends: [
          { ...GPU, identity: 'x' },
          { ...GPU, name: 'gpu2', identity: 'x', dialect: 'sglang' },
        ],
        routes: { judge: ['gpu', 'gpu2'] },
        default_judge: 'judge',
      },
      [
        'routes.judge: expected backends that all have the same "dialect" and "refuses", which are part of the identity',
      ],
    ],
    [
      'Azure without its version',
      only({ ...GPU, dialect: 'azure' }),
      [
        'backends[0].api_version: required with "dialect": "azure", unless base_url ends with /openai/v1; such as 2024-10-21',
      ],
    ],
    [
      'the version of Azure elsewhere',
      only({ ...GPU, api_version: '2024-10-21' }),
      ['backends[0].api_version: allowed only with "dialect": "azure"'],
    ],
    [
      'routes to nowhere, and twice to the same',
      { backends: [{ ...GPU, identity: 'x' }], routes: { judge: ['gpu', 'SECRET', 'gpu'] }, default_judge: 'judge' },
      [
        'routes.judge[1]: expected the name of a backend',
        'routes.judge[2]: the backend already belongs to another route; remove it from one of them',
      ],
    ],
    [
      'a default that only stands behind another',
      {
        backends: [
          { ...GPU, identity: 'x' },
          { ...GPU, name: 'gpu2', identity: 'x' },
        ],
        routes: { judge: ['gpu', 'gpu2'] },
        default_judge: 'gpu',
      },
      ['default_judge: expected the name of a route, or of a backend that is in no route'],
    ],
    ['another role', only({ ...GPU, role: 'SECRET' }), ['backends[0].role: expected one of "judge", "generate"']],
    [
      'a judge with the fields of a generator',
      only({ ...GPU, tools: 'native', native_n: true }),
      [
        'backends[0].tools: allowed only with "role": "generate"',
        'backends[0].native_n: allowed only with "role": "generate"',
      ],
    ],
    [
      'tools read in no known way',
      only({ ...POLICY, tools: 'SECRET' }),
      ['backends[0].tools: expected one of "native", "text"'],
    ],
    ['n of Workers AI', only({ ...AI, role: 'generate', native_n: true }), ['backends[0].native_n: unknown field']],
    [
      'a schema for a generator',
      only({ ...AI, role: 'generate', json_schema_shape: 'flat' }),
      ['backends[0].json_schema_shape: not allowed with "role": "generate", because no schema constrains its text'],
    ],
    [
      "the extractive refiner's name",
      only({ ...POLICY, name: 'extractive' }),
      ['backends[0].name: this name is already in use; choose another one'],
    ],
    [
      'a default judge that generates',
      only(POLICY, { default_judge: 'policy' }),
      ['default_judge: expected the name of a backend that judges (without "role": "generate")'],
    ],
    [
      'a default generator that judges',
      only(GPU, { default_generator: 'gpu' }),
      ['default_generator: expected the name of a backend with "role": "generate"'],
    ],
    [
      'a route to a generator',
      { backends: [{ ...GPU, identity: 'x' }, POLICY], routes: { judge: ['gpu', 'policy'] }, default_judge: 'judge' },
      ['routes.judge[1]: expected the name of a backend that judges (without "role": "generate")'],
    ],
  ];

  it.each(cases)('%s', (_name, backends, problems) => {
    const found = problemsOf(backends, { AI: ai, GPU_KEY: 'k' });
    expect(found).toEqual(problems);
    expect(found.join()).not.toContain('SECRET');
  });

  it('Workers AI that is not bound', () => {
    expect(problemsOf(only(AI), { AI: undefined })).toEqual([
      'backends[0].kind: no Workers AI binding is named AI; add it to wrangler.toml',
    ]);
  });

  it('is a configuration problem of every request, and the log holds no value', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const broken = environmentWith(only({ ...GPU, api_key: 'SECRET', base_url: 'http://SECRET.test/v1' }));
    for (const request of [new Request(`${ORIGIN}/readyz`), post('/v1/score', ROLLOUT)]) {
      expect((await problemOf(await sendTo(broken, request), 500, 'config_invalid')).detail).toContain('BACKENDS');
    }
    expect(error.mock.calls.join()).toContain('backends[0].base_url');
    expect(error.mock.calls.join()).not.toContain('SECRET');
  });
});

describe('a base URL', () => {
  it.each([
    'https://gpu.example/v1',
    'https://gpu.example/v1/',
    'https://gpu.example:8443/openai/v1',
    'http://127.0.0.1:8000/v1',
    'http://localhost:8000/v1',
    'http://[::1]:8000/v1',
  ])('may be %s', (url) => {
    expect(chatUrlProblem(url, false)).toBeNull();
  });

  it.each([
    'http://gpu.example/v1',
    'http://127.0.0.1.example/v1',
    'http://10.0.0.1/v1',
    'ftp://gpu.example/v1',
    'gpu.example/v1',
    '',
    'https://user:pass@gpu.example/v1',
    'https://gpu.example/v1?key=1',
    'https://gpu.example/v1#x',
    'https://gpu.example',
    'https://gpu.example/v1/chat/completions',
    'https://gpu.example/v1/models',
  ])('may not be %s', (url) => {
    expect(chatUrlProblem(url, false)).not.toBeNull();
  });

  it('may be http through a tunnel', () => {
    expect(chatUrlProblem('http://vllm/v1', true)).toBeNull();
  });
});

function backendsOf(backends: unknown, extra: Extra = {}) {
  const environment = environmentWith(backends, extra);
  const read = readSettings(environment);
  if (!read.ok) throw new Error(read.error.problems.join('; '));
  return { backends: configuredBackends(read.value, environment), settings: read.value, environment };
}

describe('the judges', () => {
  it('are the routes and the backends that stand in none; each backend is one judge or a part of one', () => {
    const identity = 'Qwen/Qwen3.5-35B-A3B-FP8';
    const { backends } = backendsOf(
      {
        backends: [
          { ...GPU, identity },
          { ...GPU, name: 'gpu2', identity, slots: 3, context_tokens: 16_384 },
          { ...AI },
        ],
        routes: { qwen: ['gpu', 'gpu2'] },
        default_judge: 'qwen',
      },
      { AI: ai },
    );
    expect(backends.named.map(({ judge, runs_in, slots }) => [judge.name, runs_in, slots])).toEqual([
      ['qwen', 'desk', 3],
      ['ai', 'desk', 4],
      ['lexical', 'caller', Number.POSITIVE_INFINITY],
    ]);
    expect(backends.default?.judge).toMatchObject({ name: 'qwen', model: identity, context_tokens: 16_384 });
    expect(backends.default?.judge.identityFor('rubric')).toEqual(modelJudgeIdentity(identity, 'rubric'));
  });

  it('have a dialect, and parameters that they refuse, in their identity', () => {
    const spoken = { dialect: 'openai', refuses: ['top_p', 'temperature', 'top_p'] };
    const [named] = backendsOf(only({ ...GPU, ...spoken })).backends.named;
    expect(named?.judge.identityFor('rubric')).toEqual(
      modelJudgeIdentity(GPU.model, 'rubric', 'openai', {}, ['temperature', 'top_p']),
    );
    expect(named?.judge.unsupported?.({ thinking: { budget_tokens: 9 }, temperature: 1 })).toEqual([
      'thinking {"budget_tokens":9}',
      'temperature 1',
    ]);
    const [usual] = backendsOf(only({ ...GPU, dialect: 'vllm', refuses: [] })).backends.named;
    expect(usual?.judge.identityFor('rubric')).toEqual(modelJudgeIdentity(GPU.model, 'rubric'));
  });

  it('have up to 128 slots for each of the most desks', () => {
    expect(backendsOf(only({ ...GPU, slots: 131_072 })).backends.named[0]?.slots).toBe(131_072);
  });

  it('default to the lexical one only where that is allowed and none is named', () => {
    const name = (backends: unknown, ALLOW_LEXICAL_JUDGE: string) =>
      backendsOf(backends, { ALLOW_LEXICAL_JUDGE }).backends.default?.judge.name ?? null;
    expect(name(only(GPU, { default_judge: 'gpu' }), 'true')).toBe('gpu');
    expect(name(only(GPU), 'true')).toBe('lexical');
    expect(name(only(GPU), 'false')).toBeNull();
    expect(name('', 'false')).toBeNull();
  });

  it('are made once an environment, so that they remember what failed', () => {
    const { backends, settings, environment } = backendsOf(only(GPU));
    expect(configuredBackends(settings, environment)).toBe(backends);
    expect(configuredBackends(settings, { ...environment })).not.toBe(backends);
  });

  it('go through the VPC service that is bound', async () => {
    const fetch = vi.fn(async (_url: string) => new Response('no', { status: 401 }));
    const { backends } = backendsOf(only({ ...GPU, base_url: 'http://vllm/v1', transport: 'vpc' }), { GPU: { fetch } });
    const reply = await backends.named[0]?.judge.judge(
      { kind: 'rubric', question: 'q', sources: [], criteria: [{ description: 'd' }], answer: 'a' },
      { deadline_ms: 1_000 },
    );
    expect(reply).toMatchObject({ ok: false, failure: { reason: 'judge_unauthorized' } });
    expect(fetch.mock.calls.map(([url]) => url)).toEqual(['http://vllm/v1/chat/completions']);
    expect(await backends.named[0]?.health()).toMatchObject({ reachable: false, last_error: 'judge_unauthorized' });
  });
});

describe('the generators', () => {
  it('are the backends with that role, and the extractive refiner; none of them judges', () => {
    const { backends } = backendsOf(
      { backends: [GPU, { ...POLICY, identity: 'Qwen/Qwen3-4B', tools: 'native' }], default_judge: 'gpu' },
      { AI: ai },
    );
    expect(backends.named.map(({ judge }) => judge.name)).toEqual(['gpu', 'lexical']);
    expect(backends.generators.named.map(({ generator }) => generator)).toMatchObject([
      { name: 'policy', model: 'Qwen/Qwen3-4B', context_tokens: 32_768, native_tools: true },
      { name: 'extractive', model: 'citeward-extractive-1', context_tokens: null, native_tools: false },
    ]);
  });

  it('may think, whatever the model', () => {
    const thinks = { ...AI, name: 'thinker', model: '@cf/openai/gpt-oss-120b', role: 'generate' };
    const { backends } = backendsOf(only(thinks, { default_generator: 'thinker' }), { AI: ai });
    expect(backends.generators.default?.generator).toMatchObject({ name: 'thinker', native_tools: false });
    expect(backends.named.map(({ judge }) => judge.name)).toEqual(['lexical']);
  });

  it('are chosen by name, or by default: the extractive refiner only where that is allowed', () => {
    const chosen = (name: string | undefined, ALLOW_EXTRACTIVE_REFINER: string, default_generator?: string) => {
      const written = only(POLICY, default_generator === undefined ? {} : { default_generator });
      const choice = chooseGenerator(backendsOf(written, { ALLOW_EXTRACTIVE_REFINER }).backends, name);
      if (choice === null) return null;
      return choice.ok ? choice.value.name : choice.error;
    };
    expect(chosen('policy', 'false')).toBe('policy');
    expect(chosen('extractive', 'false')).toBe('extractive');
    expect(chosen('nobody', 'true')).toBeNull();
    expect(chosen(undefined, 'true', 'policy')).toBe('policy');
    expect(chosen(undefined, 'true')).toBe('extractive');
    expect(chosen(undefined, 'false')).toMatchObject({ reason: 'generator_unconfigured', retryable: false });
  });

  it('stand beside the judges in /readyz with how they are, and do not decide about readiness', async () => {
    const backends = [
      stubBackend('vllm'),
      stubBackend('llama_cpp', { role: 'generate' }),
      stubBackend('http_404_model', { role: 'generate' }),
      stubBackend('refused', { role: 'generate', tools: 'native' }),
      { ...AI, role: 'generate' },
    ];
    const written = { backends, default_judge: 'vllm', default_generator: 'refused' };
    const run = vi.fn();
    const ready = await readiness(written, 200, { AI: { run } });
    expect(ready).toMatchObject({ status: 'ready', default_generator: 'refused' });
    const well = { reachable: true, model_present: true, last_error: null, native_tools: false };
    expect(ready.generators).toEqual([
      { ...well, name: 'llama_cpp', model: STUB_MODEL },
      { ...well, name: 'http_404_model', model: STUB_MODEL, model_present: false },
      {
        name: 'refused',
        model: STUB_MODEL,
        native_tools: true,
        reachable: false,
        model_present: null,
        last_error: 'generator_unreachable',
      },
      { ...well, name: 'ai', model: AI.model, model_present: null },
      { ...well, name: 'extractive', model: 'citeward-extractive-1' },
    ]);
    expect(run).not.toHaveBeenCalled();
    expect(await readiness('', 503)).toMatchObject({ default_generator: null });
  });

  it('remember what failed last, and not who left', async () => {
    const { backends } = backendsOf(only(stubBackend('http_500', { role: 'generate' })));
    const [first] = backends.generators.named;
    if (first === undefined) throw new Error('no generator');
    const generate = (signal: AbortSignal) =>
      readAll(first.generator.generate(GENERATION, { deadline_ms: 5_000, signal }));
    await generate(AbortSignal.abort());
    expect(await first.health()).toMatchObject({ reachable: true, last_error: null });
    expect((await generate(new AbortController().signal)).end.ok).toBe(false);
    expect(await first.health()).toMatchObject({ reachable: true, last_error: 'generator_error' });
  });
});

describe('/readyz', () => {
  it('is ready with a server that serves the model, and takes its key from a secret', async () => {
    const { api_key: _, ...keyless } = stubBackend('vllm');
    const ready = await readiness(only({ ...keyless, api_key_secret: 'GPU_KEY' }, { default_judge: 'vllm' }), 200, {
      GPU_KEY: STUB_KEY,
    });
    const state = { name: 'vllm', reachable: true, model_present: true, last_error: null };
    expect(ready).toMatchObject({ status: 'ready', reason: null, default_judge: 'vllm' });
    expect(ready.judges[0]).toEqual({ ...state, model: STUB_MODEL, routes: [state] });
  });

  it.each([
    ['refused', 'judge_unreachable', { reachable: false, model_present: null, last_error: 'judge_unreachable' }],
    ['html_login', 'judge_unreachable', { reachable: false, model_present: null, last_error: 'judge_not_an_api' }],
    ['http_404_model', 'judge_model_missing', { reachable: true, model_present: false, last_error: null }],
  ] as const)('is not ready: %s', async (behaviour, reason, state) => {
    const not = await readiness(only(stubBackend(behaviour), { default_judge: behaviour }), 503);
    expect(not).toMatchObject({ status: 'not_ready', reason, judges: [state, { name: 'lexical' }] });
  });

  it('is ready while one of the routes is, and tells which is not', async () => {
    const ready = await readiness(
      {
        backends: [stubBackend('refused', { identity: 'x' }), stubBackend('vllm', { identity: 'x' })],
        routes: { judge: ['refused', 'vllm'] },
        default_judge: 'judge',
      },
      200,
    );
    expect(ready.judges[0]).toMatchObject({
      name: 'judge',
      model: 'x',
      reachable: true,
      routes: [
        { name: 'refused', reachable: false, last_error: 'judge_unreachable' },
        { name: 'vllm', reachable: true },
      ],
    });
  });

  it('says of Workers AI that it is bound, and makes no paid call', async () => {
    const run = vi.fn();
    const ready = await readiness(only(AI, { default_judge: 'ai' }), 200, { AI: { run }, GPU: fetcher });
    expect(ready.judges[0]).toMatchObject({ name: 'ai', reachable: true, model_present: null });
    expect(run).not.toHaveBeenCalled();
  });
});

describe('the sandbox', () => {
  const SANDBOX = { base_url: 'https://sandbox.test', runtime: 'python-3.11', slots: 4 };
  const alone = (change: object = {}) => ({ backends: [], default_judge: null, sandbox: { ...SANDBOX, ...change } });

  it('needs no model backend beside it, and is told of apart from the judges', async () => {
    const ready = await readiness(alone({ base_url: 'http://127.0.0.1:9/' }), 503);
    expect(ready.judges.map(({ name }) => name)).toEqual(['lexical']);
    expect(ready.sandbox).toMatchObject({ name: 'sandbox', runtime: 'python-3.11', reachable: false });
    expect((await readiness(only(AI), 503, { AI: ai })).sandbox).toBeNull();
  });

  it.each([
    [{ runtime: undefined }, 'sandbox.runtime: required: a string'],
    [{ slots: 0 }, 'sandbox.slots: expected at least 1'],
    [{ base_url: 'http://sandbox.test' }, 'sandbox.base_url: expected https'],
    [{ base_url: 'https://user:SECRET@sandbox.test' }, 'sandbox.base_url: expected no credentials'],
    [
      { api_key_secret: 'NOWHERE' },
      'sandbox.api_key_secret: no secret with this name is set; add it with "wrangler secret put"',
    ],
    [{ transport: 'vpc' }, 'sandbox.transport: no Workers VPC binding is named GPU; add it to wrangler.toml'],
    [{ name: 'lexical' }, 'sandbox.name: this name is already in use; choose another one'],
    [{ image: 'x' }, 'sandbox.image: unknown field'],
  ])('%j', (change, problem) => {
    const problems = problemsOf(alone(change));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
    expect(problems.join()).not.toContain('SECRET');
  });

  it('does not share its name with a judge', () => {
    expect(problemsOf({ ...alone({ name: 'gpu' }), backends: [GPU] })).toEqual([
      'sandbox.name: this name is already in use; choose another one',
    ]);
  });
});

test('a call may take timeout_s of its backend; with several routes twice the longest, so that each has its own', () => {
  const timeout = (backends: readonly object[], rest: object = {}): number | undefined => {
    const read = readSettings(environmentWith({ backends, default_judge: null, ...rest }));
    if (!read.ok) throw new Error(read.error.problems.join('; '));
    return configuredBackends(read.value, {}).named[0]?.timeout_ms;
  };
  expect(timeout([GPU])).toBe(300_000);
  expect(timeout([{ ...GPU, timeout_s: 840, first_byte_s: 60 }])).toBe(840_000);
  const two = [
    { ...GPU, identity: 'same', timeout_s: 90 },
    { ...GPU, identity: 'same', name: 'other', timeout_s: 200 },
  ];
  const routes = { both: ['gpu', 'other'] };
  expect(timeout(two, { routes })).toBe(400_000);
  expect(timeout([{ ...two[0], timeout_s: 500 }, two[1] ?? {}], { routes })).toBe(840_000);
});
