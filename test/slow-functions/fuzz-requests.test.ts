/**
 * 20,000 hostile requests to every route of the OpenAPI document, in workerd with its real bindings. Each reply is a success of
 * the declared form or a problem document with a reason, never a 500; a failed judgment never becomes a number. Set
 * FUZZ_SEED to repeat or vary a run.
 */
import { beforeAll, expect, inject, it, vi } from 'vitest';
import * as z from 'zod';
import { replyForSchema } from '../../fake-ai/schema-reply.ts';
import { vendorOf } from '../../functions/http/compat-errors.ts';
import { createGenerators } from '../../service/backends/generator-backends.ts';
import { type JudgeBackend, lexicalBackend } from '../../service/backends/judge-backends.ts';
import type { ChatBackend } from '../../src/judgments/chat-backend.ts';
import { createModelJudge } from '../../src/judgments/model-judge.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { buildOpenApi } from '../../src/wire/openapi/document.ts';
import { problemSchema } from '../../src/wire/problem.ts';
import { type ScoreResponse, scoreResponseSchema } from '../../src/wire/score.ts';
import { verifyResponseSchema } from '../../src/wire/verify.ts';
import { BODIES } from '../functions/adapters-trainers.ts';
import { ORIGIN, post, ROLLOUT, send, TOOL_OUTPUT } from '../functions/api.ts';
import { batchRequest, inputFile, line } from '../functions/batch-api.ts';
import { bodyOf as groundingBody } from '../functions/compat-requests.ts';
import { register, signedScore } from '../functions/webhook-parts.ts';
import { replaceParts } from '../functions/worker.ts';
import { hostileBytes, hostileText, mutatedJson } from '../unit/hostile-json.ts';
import { SeededChoices } from '../unit/seeded-random.ts';
import { valueFor } from './schema-values.ts';

const REQUESTS = 20_000;
const SEED = inject('fuzzSeed');

/** Failed calls of scripted judges since the last reset. */
let failures = 0;

function scripted(name: string, replies: (schema: unknown) => string | null): JudgeBackend {
  const chat: ChatBackend = {
    name,
    model: name,
    context_tokens: null,
    async complete({ schema }) {
      const reply = replies(schema?.schema);
      if (reply !== null) return { ok: true, completion: { text: reply, usage: null, model: name } };
      failures++;
      return { ok: false, failure: { reason: 'judge_unreachable', detail: 'scripted', retryable: true } };
    },
  };
  return { ...lexicalBackend, judge: createModelJudge(chat, () => 0) };
}

/** The first verdicts that a schema allows, as a reply. */
function firstVerdicts(schema: unknown): string {
  return JSON.stringify(replyForSchema(schema));
}

/** The opposite of `firstVerdicts`. */
function lastVerdicts(schema: unknown): string {
  const reversed: unknown = JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'enum' && Array.isArray(value) ? value.toReversed() : value,
  );
  return firstVerdicts(reversed).replaceAll('false', 'true');
}

/** Judges without failures, whose verdicts differ. */
const OPPOSITES = ['first', 'last'] as const;
const JUDGES = [...OPPOSITES, 'failing', 'third_fails', 'lexical', 'nobody'] as const;
let calls = 0;

replaceParts({
  backendsOf: (settings, environment) => ({
    named: [
      lexicalBackend,
      scripted('first', firstVerdicts),
      scripted('last', lastVerdicts),
      scripted('failing', () => null),
      scripted('third_fails', (schema) => (calls++ % 3 === 2 ? null : lastVerdicts(schema))),
    ],
    default: lexicalBackend,
    sandbox: null,
    generators: createGenerators({ ...settings, allowExtractiveRefiner: true }, (name) =>
      Reflect.get(environment, name),
    ),
  }),
  adapterRetryWindowMs: 0,
});

type Route = {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  /** Schema of the body, and the content types that it is sent as; `null` = no body. */
  readonly body: { readonly type: string; readonly schema: unknown } | null;
};

const documentSchema = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        parameters: z.array(z.object({ in: z.string(), name: z.string() })).optional(),
        requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
      }),
    ),
  ),
});

function operationsOf({ paths }: z.infer<typeof documentSchema>): Route[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => {
      const [content] = Object.entries(requestBody?.content ?? {});
      return {
        method: method.toUpperCase(),
        path,
        query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
        body: content === undefined ? null : { type: content[0], schema: content[1].schema },
      };
    }),
  );
}

/** Every route, and those that read rollouts ten times as often. */
const ROUTES = operationsOf(documentSchema.parse(buildOpenApi('0'))).flatMap((route) =>
  Array<Route>(readsRollouts(route) ? 10 : 1).fill(route),
);

function readsRollouts({ path, method }: Route): boolean {
  return method === 'POST' && /^\/v1\/(score|groups|verify|adapters|refine|agent|runs)/.test(path);
}

const QUESTION = { question: ROLLOUT.question, tool_output: TOOL_OUTPUT };
const RUN = 'fuzzed';
const { recipe: _recipe, ...unscored } = ROLLOUT;
const SCORE_BODIES = [
  ROLLOUT,
  { ...ROLLOUT, run: { id: RUN, step: 1, group: 'g', sample: 0 }, store_text: true },
  { ...ROLLOUT, recipe: 'dr-tulu', receipt: false, explain: true },
  { ...unscored, recipe: { base: 'refiner-rl-balanced', citation_weight: 0.5 }, on_judge_failure: 'null' },
  {
    question: 'q',
    response: 'So \\boxed{42}',
    reference: '42',
    num_turns: 2,
    response_tokens: 9,
    recipe: 'open-agentrl',
  },
  {
    question: 'q',
    response: '<think>Bern</think>the Aare',
    reference: 'the Aare',
    entities: ['Bern'],
    recipe: 'longtrace-rl',
  },
];
/** Valid bodies of routes whose schema alone rarely gives one. */
const VALID_BODIES: Readonly<Record<string, readonly unknown[]>> = {
  '/v1/verify': [
    { response: ROLLOUT.response, tool_output: TOOL_OUTPUT },
    { response: 'x [S1]', sources: [{ id: 'S1', text: 'x' }], grammar: 'bracket' },
  ],
  '/v1/verify/stream': [{ tool_output: TOOL_OUTPUT }],
  '/v1/score': SCORE_BODIES,
  '/v1/webhooks/{endpoint}/score': SCORE_BODIES,
  '/v1/groups': SCORE_BODIES.map(({ response, ...shared }) => ({
    ...shared,
    responses: [response, { response: `${response} More.` }],
    ...('run' in shared ? { run: { id: RUN, step: 2, group: 'h' } } : {}),
    advantages: 'trl',
  })),
  '/compat/azure/contentsafety/text:detectGroundedness': [groundingBody('azure')],
  '/compat/bedrock/guardrail/{guardrail}/version/{version}/apply': [groundingBody('bedrock')],
  '/compat/google/{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': [
    groundingBody('google'),
  ],
  '/v1/adapters/slime': [BODIES.slime],
  '/v1/adapters/longtracerl/evaluate': [BODIES.longtracerl],
  '/v1/adapters/openrlhf/get_reward': [BODIES.openrlhf],
  '/v1/adapters/nemo-gym/verify': [BODIES['nemo-gym']],
  '/v1/refine': [
    { ...QUESTION, n: 2, recipe: ROLLOUT.recipe, positive_rubrics: ROLLOUT.positive_rubrics },
    { ...QUESTION, stream: true },
  ],
  '/v1/agent': [{ messages: [{ role: 'user', content: 'What is 6 * 7?' }], reference: '42' }],
  '/v1/runs/{id}/replay': [
    { recipe: { set: { citation_weight: 0.3 } }, samples: true },
    { judge: 'first', fill: true },
  ],
  '/v1/webhooks': [{ url: 'https://hooks.example.com/x' }],
};

/** Ids of things that exist, by the first part of a path. */
const KNOWN_IDS = new Map<string, string[]>([['runs', [RUN]]]);
let endpoint = { id: '', secret: '' };

beforeAll(async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(null, { status: 204 }));
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  endpoint = await register();
  const file = await inputFile(line('a', ROLLOUT));
  const batch: unknown = await (await send(batchRequest(file))).json();
  KNOWN_IDS.set('webhooks', [endpoint.id])
    .set('files', [file])
    .set('batches', [String(Object(batch).id)]);
  for (const body of SCORE_BODIES) await (await send(post('/v1/score', body))).text();
});

type Sent = { readonly request: () => Request; readonly route: Route; readonly path: string; readonly body: string };

function pathOf({ method, path }: Route, choices: SeededChoices): string {
  const kind = path.split('/')[2] ?? '';
  // What is deleted stays deleted, except for the run, which scoring makes again.
  const known = method === 'DELETE' && kind !== 'runs' ? [] : (KNOWN_IDS.get(kind) ?? []);
  return path.replace(/\{\w+\}/g, () => {
    return encodeURIComponent(
      known.length > 0 && choices.chance(80) ? choices.of(known) : hostileText(choices).slice(0, 300).toWellFormed(),
    );
  });
}

function queryOf({ path, query }: Route, choices: SeededChoices): URLSearchParams {
  const values = ['lexical', 'utf8', 'object', '1', 'true', 'none', '2', RUN, 'first'];
  const parameters = new URLSearchParams();
  if (path.startsWith('/v1/adapters/') && choices.chance(95)) {
    if (!path.includes('longtracerl'))
      parameters.set('recipe', choices.of([ROLLOUT.recipe, 'dr-tulu', 'open-agentrl']));
    if (choices.chance(60)) parameters.set('judge', choices.of(JUDGES));
    if (choices.chance(30)) parameters.set('run', choices.of([RUN, 'adapters']));
    if (choices.chance(90)) return parameters;
  }
  for (const name of query) {
    if (choices.chance(25)) parameters.append(name, choices.chance(70) ? choices.of(values) : hostileText(choices));
  }
  if (choices.chance(4)) parameters.append(choices.of(['__proto__', 'constructor', 'x', ...query]), 'x');
  return parameters;
}

function bodyOf({ path, body }: Route, choices: SeededChoices): string {
  if (body === null) return '';
  const valid = VALID_BODIES[path] ?? [];
  const value: unknown =
    valid.length > 0 && choices.chance(75) ? valid[choices.below(valid.length)] : valueFor(body.schema, choices);
  const judge = choices.of(JUDGES);
  const judged = isScoring(path) && choices.chance(50) && typeof value === 'object' ? { ...value, judge } : value;
  const mutations = choices.chance(25) ? 0 : 1 + choices.below(3);
  const kept = choices.of(['types', 'anything'] as const);
  if (!body.type.includes('jsonl')) return mutatedJson(judged, mutations, kept, choices);
  const rest = Array.from({ length: choices.below(4) }, () => valueFor(body.schema, choices));
  return [judged, ...rest].map((one) => mutatedJson(one, choices.below(2), kept, choices)).join('\n');
}

function isScoring(path: string): boolean {
  return path === '/v1/score' || path === '/v1/groups' || path === '/v1/refine';
}

const CONTENT_TYPES = [
  'text/plain',
  '',
  'application/json; charset=utf-16',
  'multipart/form-data',
  'application/json;',
];

function requestFor(route: Route, choices: SeededChoices): Sent {
  const query = queryOf(route, choices).toString();
  const path = `${pathOf(route, choices)}${query === '' ? '' : `?${query}`}`;
  const method = choices.chance(2) ? choices.of(['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH']) : route.method;
  const body = bodyOf(route, choices);
  const bytes = hostileBytes(body, choices);
  if (route.path.endsWith('/score') && route.path.includes('{endpoint}') && choices.chance(90)) {
    return { route, path, body, request: () => signedScore(endpoint, { body }) };
  }
  const isForm = route.body?.type === 'multipart/form-data';
  const type = choices.chance(3) ? choices.of(CONTENT_TYPES) : (route.body?.type ?? '');
  const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
  if (isForm) headers['content-type'] = `${type}; boundary=b`;
  const form = isForm ? formOf(choices, bytes) : bytes;
  const hasBody = route.body !== null && method !== 'HEAD' && method !== 'GET';
  const init = { method, headers, ...(hasBody ? { body: form } : {}) };
  return { route, path, body, request: () => new Request(ORIGIN + path, init) };
}

/** A form with a file, whose header or end may be malformed. */
function formOf(choices: SeededChoices, content: Uint8Array<ArrayBuffer>): Blob {
  const name = choices.of(['file', 'data', 'file"; x="', '']);
  const purpose = choices.of(['batch', 'vision', '', '\0']);
  const filename = hostileText(choices)
    .slice(0, 300)
    .replaceAll(/[\r\n]/g, '');
  return new Blob([
    `--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n`,
    `--b\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\n`,
    content,
    choices.chance(85) ? '\r\n--b--\r\n' : '\r\n--b',
  ]);
}

const seen = { replies: new Map<number, number>(), numbers: 0, unscored: 0, failedJudgments: 0 };

/** The text of a reply; workerd warns of text() where the type says bytes. */
async function textOf(reply: Response): Promise<string> {
  return new TextDecoder().decode(await reply.arrayBuffer());
}

/** Checks one reply. */
async function check({ route, path, request }: Sent): Promise<void> {
  failures = 0;
  const reply = await send(request());
  const text = await textOf(reply);
  seen.replies.set(reply.status, (seen.replies.get(reply.status) ?? 0) + 1);
  expect(text).not.toContain('problem:internal');
  if (reply.status < 300) {
    if (request().method === route.method) await checkSuccess(route, path, request, text);
    return;
  }
  if (vendorOf(new URL(request().url).pathname) !== null) {
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.status).not.toBe(500);
    return;
  }
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  if (request().method === 'HEAD') return;
  const problem = problemSchema.parse(JSON.parse(text));
  expect(problem.status).toBe(reply.status);
  expect(problem.reason).not.toBe('internal');
  expect(problem.status).not.toBe(500);
  if (problem.status === 422) expect(problem.errors?.[0]?.path).toBeTypeOf('string');
}

async function checkSuccess(route: Route, path: string, request: () => Request, text: string): Promise<void> {
  switch (route.path) {
    case '/v1/verify':
      verifyResponseSchema.parse(JSON.parse(text));
      return;
    case '/v1/score':
      checkScore(scoreResponseSchema.parse(JSON.parse(text)));
      return;
    case '/v1/groups': {
      const group = groupResponseSchema.parse(JSON.parse(text));
      for (const [n, member] of group.members.entries()) {
        checkScore(member);
        expect(group.rewards[n]).toBe(member.reward);
        expect(group.advantages[n]?.masked).toBe(member.reward === null);
      }
      return;
    }
    default:
      if (route.path.startsWith('/v1/adapters/') && failures > 0) await checkIndependent(path, request, text);
  }
}

/** A score has a number only if each component that counts has one. */
function checkScore(score: ScoreResponse): void {
  const failed = score.judgments.filter(({ failure }) => failure !== null).length;
  seen.failedJudgments += failed;
  expect(score.status).toBe(score.reward === null ? 'unscored' : 'scored');
  expect(score.reason === null).toBe(score.reward !== null);
  if (score.reward === null) {
    seen.unscored++;
    return;
  }
  seen.numbers++;
  if (score.decided_by !== 'components') return;
  for (const { status, weight } of Object.values(score.components)) {
    if (weight > 0) expect(status).not.toBe('unscored');
  }
}

/** A trainer gets a number in spite of a failed judgment only if every judge would give the same number. */
async function checkIndependent(path: string, request: () => Request, text: string): Promise<void> {
  const url = new URL(path, ORIGIN);
  url.searchParams.delete('run');
  const withoutRun = numbersOf(text);
  for (const judge of OPPOSITES) {
    url.searchParams.set('judge', judge);
    const other = await send(new Request(url, request()));
    expect(numbersOf(await textOf(other))).toEqual(withoutRun);
  }
}

/** The reply without its run. */
function numbersOf(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name === 'reward' || name === 'rewards'));
}

it(`answers ${REQUESTS} hostile requests, seed ${SEED}`, { timeout: 590_000 }, async () => {
  const choices = new SeededChoices(SEED);
  for (let n = 0; n < REQUESTS; n++) {
    const sent = requestFor(choices.of(ROUTES), choices);
    try {
      await check(sent);
    } catch (error) {
      const { route, path, body } = sent;
      const shown = `${route.method} ${path.slice(0, 300)} ${body.slice(0, 3_000)}`;
      throw new Error(`seed ${SEED}, request ${n}: ${shown}`, { cause: error });
    }
  }
  // The requests reach what they test: successes, refusals, rewards, and failed judgments.
  expect(seen.replies.get(200)).toBeGreaterThan(REQUESTS / 20);
  expect(seen.numbers).toBeGreaterThan(200);
  expect(seen.unscored).toBeGreaterThan(10);
  expect(seen.failedJudgments).toBeGreaterThan(20);
});
