/** Operation of the Worker: authentication, unknown routes, logs, and the API description. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../functions/app.ts';
import { vendorOf } from '../../functions/http/compat-errors.ts';
import worker from '../../functions/index.ts';
import { createPlatformFactory } from '../../functions/platform.ts';
import { healthSchema, readinessSchema } from '../../src/wire/health.ts';
import { buildOpenApi, DESCRIBED_ROUTES } from '../../src/wire/openapi/document.ts';
import { ORIGIN, post, problemOf, ROLLOUT, send, sha256Hex, TOOL_OUTPUT } from './api.ts';

type Variables = {
  ALLOW_ANONYMOUS?: string;
  ALLOW_LEXICAL_JUDGE?: string;
  API_KEYS?: string;
  DESKS?: string;
  JUDGMENTS_SCOPE?: string;
  JUDGE_CALLS_PER_DAY?: string;
  JUDGE_TOKENS_PER_DAY?: string;
  REQUEST_LOG?: string;
};

/** The Worker under another configuration. */
async function sendTo(variables: Variables, request: Request): Promise<Response> {
  const context = createExecutionContext();
  const incoming = new Request<unknown, IncomingRequestCfProperties>(request);
  const reply = await worker.fetch(incoming, { ...env, ALLOW_ANONYMOUS: 'false', ...variables }, context);
  await waitOnExecutionContext(context);
  return reply;
}

function get(path: string, headers: Record<string, string> = {}): Request {
  return new Request(ORIGIN + path, { headers });
}

const VERIFY = { response: ROLLOUT.response, tool_output: TOOL_OUTPUT };

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

async function keys(scopesByKey: Record<string, readonly string[]>): Promise<string> {
  const entries = Object.entries(scopesByKey).map(async ([key, scopes]) => [
    `${key}-name`,
    { sha256: await sha256Hex(key), scopes },
  ]);
  return JSON.stringify(Object.fromEntries(await Promise.all(entries)));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('authentication', () => {
  it('refuses everything but /healthz without a configured key', async () => {
    for (const variables of [{}, { API_KEYS: '' }, { API_KEYS: '{}' }, { ALLOW_ANONYMOUS: '' }]) {
      for (const request of [
        get('/readyz'),
        get('/openapi.json'),
        get('/nowhere'),
        post('/v1/verify', VERIFY),
        post('/v1/score', ROLLOUT),
      ]) {
        await problemOf(await sendTo(variables, request), 403, 'auth_unconfigured');
      }
      expect((await sendTo(variables, get('/healthz'))).status).toBe(200);
    }
    expect((await sendTo({ ALLOW_ANONYMOUS: 'true' }, post('/v1/verify', VERIFY))).status).toBe(200);
  });

  it('asks for a known key once keys are configured, even where anyone was allowed', async () => {
    const API_KEYS = await keys({ k1: ['verify'] });
    for (const ALLOW_ANONYMOUS of ['false', 'true']) {
      const variables = { API_KEYS, ALLOW_ANONYMOUS };
      const missing = await sendTo(variables, post('/v1/verify', VERIFY));
      expect(missing.headers.get('www-authenticate')).toContain('Bearer');
      await problemOf(missing, 401, 'key_missing');
      for (const authorization of ['k1', 'Basic azE6', 'Bearer', 'Bearer a b']) {
        await problemOf(await sendTo(variables, post('/v1/verify', VERIFY, { authorization })), 401, 'key_missing');
      }
      for (const key of ['k2', 'k1x', 'K1', await sha256Hex('k1'), 'k1-name']) {
        await problemOf(await sendTo(variables, post('/v1/verify', VERIFY, bearer(key))), 401, 'key_unknown');
      }
      expect((await sendTo(variables, post('/v1/verify', VERIFY, bearer('k1')))).status).toBe(200);
    }
  });

  it('holds each key to its scopes', async () => {
    const variables = { API_KEYS: await keys({ v: ['verify'], s: ['score'], vs: ['verify', 'score'], a: ['admin'] }) };
    const allowed: Record<string, readonly string[]> = {
      v: ['/v1/verify'],
      s: ['/v1/score'],
      vs: ['/v1/verify', '/v1/score'],
      a: [],
    };
    for (const [key, paths] of Object.entries(allowed)) {
      for (const [path, body] of [
        ['/v1/verify', VERIFY],
        ['/v1/score', ROLLOUT],
      ] as const) {
        const reply = await sendTo(variables, post(path, body, bearer(key)));
        if (paths.includes(path)) expect(reply.status).toBe(200);
        else expect((await problemOf(reply, 403, 'scope_missing')).detail).toContain(path.slice(4));
      }
      expect((await sendTo(variables, get('/readyz', bearer(key)))).status).toBe(200);
    }
  });

  it('refuses everything under a malformed configuration, and logs where without the values', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const hash = await sha256Hex('k');
    const malformed: Variables[] = [
      { API_KEYS: '{', ALLOW_ANONYMOUS: 'true' },
      { API_KEYS: '[]' },
      { API_KEYS: `{"a":{"sha256":"${hash}"}}` },
      { API_KEYS: `{"a":{"sha256":"SECRET","scopes":["verify"]}}` },
      { API_KEYS: `{"a":{"sha256":"${hash}","scopes":[]}}` },
      { API_KEYS: `{"a":{"sha256":"${hash}","scopes":["root"]}}` },
      { API_KEYS: `{"a b":{"sha256":"${hash}","scopes":["verify"]}}` },
      { ALLOW_ANONYMOUS: '1' },
      { ALLOW_LEXICAL_JUDGE: 'yes' },
      { DESKS: '0' },
      { JUDGE_CALLS_PER_DAY: '-1' },
      { JUDGMENTS_SCOPE: 'projects' },
      { JUDGE_TOKENS_PER_DAY: '1e9' },
      { DESKS: '1025' },
      { REQUEST_LOG: 'none' },
    ];
    for (const variables of malformed) {
      for (const request of [get('/readyz', bearer('k')), post('/v1/verify', VERIFY, bearer('k'))]) {
        const problem = await problemOf(await sendTo(variables, request), 500, 'config_invalid');
        expect(problem.detail).toContain(Object.keys(variables)[0]);
      }
      expect((await sendTo(variables, get('/healthz'))).status).toBe(200);
    }
    const logged = error.mock.calls.flat().join('\n');
    expect(logged).toContain('"setting":"API_KEYS"');
    expect(logged).not.toContain('SECRET');
    expect(logged).not.toContain(hash);
    expect(error).toHaveBeenCalledTimes(malformed.length);
  });
});

describe('health', () => {
  it('is public and says only that the Worker is up', async () => {
    expect(healthSchema.parse(await (await send(get('/healthz'))).json())).toEqual({ status: 'ok' });
  });

  it('is ready with a default judge and not ready without', async () => {
    const ready = await send(get('/readyz'));
    expect(ready.status).toBe(200);
    expect(readinessSchema.parse(await ready.json())).toMatchObject({
      status: 'ready',
      reason: null,
      default_judge: 'lexical',
    });
    const not = await sendTo({ ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'false' }, get('/readyz'));
    expect(not.status).toBe(503);
    expect(readinessSchema.parse(await not.json())).toMatchObject({
      status: 'not_ready',
      reason: 'judge_unconfigured',
      default_judge: null,
      judges: [{ name: 'lexical', reachable: true, last_error: null }],
    });
  });

  it('is not ready while a store does not answer, and names the store', async () => {
    const unreachable = (): never => {
      throw new Error('unreachable');
    };
    const failing = new Proxy({}, { get: () => unreachable });
    for (const [binding, name] of [
      ['JUDGMENTS', 'judgments'],
      ['DB', 'database'],
      ['FILES', 'files'],
      ['JUDGE_DESK', 'judge_desk'],
      ['RUN_LEDGER', 'run_ledger'],
      ['JOBS', 'queue'],
      ['BATCH', 'batch'],
      ['DELIVERIES', 'deliveries'],
    ]) {
      const reply = await sendTo(
        { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', [`${binding}`]: failing },
        get('/readyz'),
      );
      expect(reply.status).toBe(503);
      const { reason, stores } = readinessSchema.parse(await reply.json());
      expect(reason).toBe('store_unreachable');
      expect(stores.filter(({ reachable }) => !reachable).map((store) => store.name)).toEqual([name]);
    }
  });
});

describe('routes', () => {
  it('that do not exist are 404 problems', async () => {
    for (const path of ['/', '/v1', '/v1/', '/v1/scores', '/v1/score/', '/V1/score', '/healthz/x', '/%00']) {
      await problemOf(await send(get(path)), 404, 'route_unknown');
    }
  });

  it('refuse other methods, naming theirs, and answer no preflight', async () => {
    const everything = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    for (const [path, routes] of Map.groupBy(DESCRIBED_ROUTES, (route) => route.path)) {
      const own = routes.map(({ method }) => method.toUpperCase());
      const url = ORIGIN + path.replaceAll(/\{\w+\}/g, 'x');
      for (const other of everything.filter((name) => !own.includes(name))) {
        const reply = await send(new Request(url, { method: other }));
        expect(reply.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(own));
        expect(reply.headers.get('access-control-allow-origin')).toBeNull();
        // A drop-in answers in the shape of the API that it replaces.
        if (vendorOf(path) === null) await problemOf(reply, 405, 'method_not_allowed');
        else expect(reply.status).toBe(405);
      }
    }
  });

  it('are those of the OpenAPI document, which is up to date', async () => {
    const reply = await send(get('/openapi.json'));
    const served: { info: { version: string } } = await reply.json();
    expect(served).toEqual(buildOpenApi(served.info.version));
    const app = createApp(createPlatformFactory());
    const routed = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
    const inBraces = routed.map((route) => route.replaceAll(/\/:(\w+)/g, '/{$1}'));
    // The Model Context Protocol has a description of its own, which its clients ask for (mcp.test.ts).
    const described = new Set([
      'POST /mcp',
      ...DESCRIBED_ROUTES.map(({ method, path }) => `${method.toUpperCase()} ${path}`),
    ]);
    expect(new Set(inBraces)).toEqual(described);
  });

  it('have a name of their own there, for generated clients, and a tag that is described', async () => {
    type Operation = { readonly operationId: string; readonly tags: readonly string[] };
    const document: {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
      readonly tags: readonly { readonly name: string }[];
    } = await (await send(get('/openapi.json'))).json();
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(DESCRIBED_ROUTES.length);
    expect(new Set(operations.flatMap(({ tags }) => tags))).toEqual(new Set(document.tags.map(({ name }) => name)));
  });

  it('take a short, safe request id and make one otherwise', async () => {
    const id = async (given: string) =>
      (await send(get('/healthz', { 'x-request-id': given }))).headers.get('x-request-id');
    expect(await id('abc-1.2_3')).toBe('abc-1.2_3');
    for (const given of ['', 'a b', '<script>', 'x'.repeat(65), 'a,b']) {
      const made = await id(given);
      expect(made).not.toBe(given);
      expect(made).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('the log', () => {
  function listen(): string[] {
    const lines: string[] = [];
    for (const method of ['log', 'error', 'warn', 'info', 'debug'] as const) {
      vi.spyOn(console, method).mockImplementation((...values: unknown[]) => {
        lines.push(values.map(String).join(' '));
      });
    }
    return lines;
  }

  it('has one line a request, with the route pattern and the name of the key', async () => {
    const lines = listen();
    const API_KEYS = await keys({ k: ['verify'] });
    await sendTo({ API_KEYS }, post('/v1/verify?evidence=none', VERIFY, { ...bearer('k'), 'x-request-id': 'r1' }));
    await sendTo({ API_KEYS }, post('/v1/verify', VERIFY, bearer('wrong')));
    await sendTo({ API_KEYS }, get('/secret/path?token=1', bearer('k')));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'request', method: 'POST', route: '/v1/verify', status: 200, key: 'k-name', request_id: 'r1' },
      { event: 'request', status: 401, key: null, reason: 'key_unknown' },
      { event: 'request', method: 'GET', route: 'none', status: 404, key: 'k-name' },
    ]);
    expect(lines.join('\n')).not.toMatch(/wrong|secret|token/);
  });

  it('has only requests that failed with REQUEST_LOG=failures', async () => {
    const lines = listen();
    const variables = { ALLOW_ANONYMOUS: 'true', REQUEST_LOG: 'failures' };
    await sendTo(variables, post('/v1/verify', VERIFY));
    await sendTo(variables, post('/v1/verify', { ...VERIFY, response: 1 }));
    await sendTo(variables, post('/v1/score', { ...ROLLOUT, judge: 'absent' }));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'request', status: 422, reason: 'input_invalid' },
      { event: 'request', reason: 'judge_unknown' },
    ]);
  });

  it('and the problems hold nothing of any text of a request', async () => {
    const lines = listen();
    const CANARY = 'kanarienvogel';
    const text = `${CANARY} \ud800 <answer>${CANARY} <snippet id=${CANARY}>${CANARY} 77 ${CANARY}</snippet></answer>`;
    const planted = {
      question: text,
      response: text,
      reasoning: text,
      tool_output: `<snippet id=${CANARY}>${text}</snippet>`,
      positive_rubrics: [text, { title: text, description: text }],
      negative_rubrics: [text],
      finish_reason: CANARY,
      recipe: 'refiner-rl-balanced',
    };
    const { tool_output: _, ...withoutOrigin } = planted;
    const bodies: unknown[] = [
      planted,
      { ...planted, judge: CANARY },
      { ...planted, recipe: CANARY },
      { ...planted, recipe: { base: CANARY } },
      { ...planted, recipe: { base: 'refiner-rl-balanced', mix: CANARY, judging: CANARY } },
      { ...planted, judgments: CANARY, replicate: CANARY, on_judge_failure: CANARY },
      { ...planted, judgments: 'only', replicate: 5 },
      { ...planted, positive_rubrics: [{ description: CANARY, weight: CANARY }], negative_rubrics: CANARY },
      {
        ...withoutOrigin,
        sources: [{ id: CANARY, text, title: text, url: text }, { id: text, text: 1, url: [text] }, CANARY],
      },
      { ...withoutOrigin, sources: [{ id: CANARY, text, title: text, url: text }] },
      { ...planted, question: [text], response: { text } },
      `{"question": "${CANARY}", ${CANARY}}`,
      `"${CANARY}`,
      `${CANARY}`,
    ];
    const statuses: number[] = [];
    for (const path of ['/v1/score', '/v1/verify?evidence=lexical']) {
      for (const body of bodies) {
        const reply = await send(post(path, body, { 'x-request-id': `${CANARY} ${CANARY}` }));
        statuses.push(reply.status);
        expect(reply.status).toBeLessThan(500);
        expect(JSON.stringify([...reply.headers])).not.toContain(CANARY);
        if (reply.status >= 400) expect(await reply.text()).not.toContain(CANARY);
      }
    }
    await send(post(`/v1/verify?evidence=${CANARY}`, planted));
    await send(get(`/${CANARY}?q=${CANARY}`, bearer(CANARY)));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(1);
    expect(lines.length).toBe(2 * bodies.length + 2);
    expect(lines.join('\n')).not.toContain(CANARY);
  });

  it('names the class and the place of an unexpected error, and not its message', async () => {
    const lines = listen();
    const judgmentStoreOf = () => {
      throw new RangeError(`${ROLLOUT.response}\n    at secret`);
    };
    const app = createApp(createPlatformFactory({ judgmentStoreOf }));
    const reply = await app.request(post('/v1/score', ROLLOUT), undefined, { ...env });
    const problem = await problemOf(reply, 500, 'internal');
    expect(JSON.stringify(problem)).not.toMatch(/Aare|RangeError|secret/);
    const line = JSON.parse(lines[0] ?? '{}');
    expect(line).toMatchObject({ status: 500, error: 'RangeError' });
    expect(line.frames[0]).toMatch(/operations\.test/);
    expect(lines.join('\n')).not.toMatch(/Aare|secret/);
  });
});
