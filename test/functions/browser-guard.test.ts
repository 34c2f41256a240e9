/**
 * Web pages of other sites and servers without keys: the Host, Origin and Sec-Fetch-Site that a browser sends after DNS
 * rebinding or without a preflight, and the requests of programs.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Environment } from '../../functions/environment.ts';
import { createWorker } from '../../functions/worker.ts';
import { problemOf, sha256Hex } from './api.ts';

const worker = createWorker();

async function send(url: string, init: RequestInit = {}, variables: Partial<Environment> = {}): Promise<Response> {
  const context = createExecutionContext();
  const environment = { ...env, ALLOWED_HOSTS: 'gpu-3.cluster.internal, Citeward', ...variables };
  const request = new Request<unknown, IncomingRequestCfProperties>(new Request(url, init));
  const reply = await worker.fetch(request, environment, context);
  await waitOnExecutionContext(context);
  return reply;
}

const LOCAL = 'http://127.0.0.1:8799';
const RUNS = '/v1/runs';

describe('a server without keys', () => {
  it.each([
    'http://127.0.0.1:8799',
    'http://localhost:8799',
    'http://LOCALHOST',
    'http://[::1]:8799',
    'http://192.168.1.5:8799',
    'http://[2001:db8::1]:8799',
    'http://gpu-3.cluster.internal:8799',
    'http://citeward',
  ])('answers programs at %s', async (server) => {
    expect((await send(server + RUNS)).status).toBe(200);
  });

  it.each([
    'http://rebound.example:8799',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'http://localhost@rebound.example',
    'http://internal',
  ])('refuses the name %s, to which DNS rebinding may have given its address', async (server) => {
    for (const method of ['GET', 'DELETE']) {
      const reply = await send(`${server}${RUNS}/r`, { method });
      const { detail } = await problemOf(reply, 403, 'host_not_allowed');
      expect(detail).toContain('ALLOWED_HOSTS');
    }
  });

  it.each([
    ['the origin of another site', { origin: 'https://page.example' }],
    ['a name that begins like a loopback address', { origin: 'http://127.0.0.1.example' }],
    ['a hidden origin', { origin: 'null' }],
    ['no origin, but of another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of an address in the network', { origin: 'http://192.168.1.5:3000' }],
  ] as const)('refuses a page with %s', async (_, headers) => {
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new Blob(['{}\n']), 'input.jsonl');
    for (const [path, init] of [
      [RUNS, {}],
      ['/v1/files', { method: 'POST', body: form }],
      ['/v1/judgments:import', { method: 'POST', body: '{}\n' }],
      ['/v1/batches/batch_x/cancel', { method: 'POST' }],
      ['/mcp', { method: 'POST', body: '{}' }],
    ] as const) {
      await problemOf(await send(LOCAL + path, { ...init, headers }), 403, 'origin_not_allowed');
    }
  });

  it.each([
    [LOCAL, { origin: LOCAL, 'sec-fetch-site': 'same-origin' }],
    [LOCAL, { origin: 'http://localhost:5173', 'sec-fetch-site': 'cross-site' }],
    [LOCAL, { origin: 'http://[::1]:6274' }],
    [LOCAL, { 'sec-fetch-site': 'none' }],
    ['http://192.168.1.5:8799', { origin: 'http://192.168.1.5:8799' }],
    ['http://citeward', { origin: 'https://citeward' }],
    [LOCAL, { origin: 'https://gpu-3.cluster.internal' }],
  ] as const)('answers at %s a page of its own or of this machine', async (server, headers) => {
    expect((await send(server + RUNS, { headers })).status).toBe(200);
  });

  it('refuses settings that are no names', async () => {
    for (const variables of [
      { ALLOWED_HOSTS: 'http://citeward' },
      { ALLOWED_HOSTS: 'citeward:8799' },
      { CLIENT_ADDRESS_HEADER: 'x forwarded' },
    ]) {
      await problemOf(await send(LOCAL + RUNS, {}, variables), 500, 'config_invalid');
    }
  });
});

describe('a server with keys', () => {
  const withKey = async (url: string, init: RequestInit): Promise<Response> => {
    const API_KEYS = JSON.stringify({ one: { sha256: await sha256Hex('a-key'), scopes: ['verify', 'score'] } });
    const headers = { authorization: 'Bearer a-key', ...init.headers };
    return send(url, { ...init, headers }, { API_KEYS, ALLOW_ANONYMOUS: 'false' });
  };

  it('answers under every name, because pages have no key', async () => {
    expect((await withKey(`https://any.example${RUNS}`, {})).status).toBe(200);
    expect((await withKey(`https://any.example${RUNS}`, { headers: { origin: 'https://page.example' } })).status).toBe(
      200,
    );
  });

  it('refuses MCP requests of a foreign origin, as the protocol demands', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const asked = (origin: string): Promise<Response> => {
      const headers = { origin, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      return withKey('https://any.example/mcp', { method: 'POST', headers, body });
    };
    await problemOf(await asked('https://page.example'), 403, 'origin_not_allowed');
    for (const origin of ['https://any.example', 'http://localhost:6274'])
      expect((await asked(origin)).status).toBe(200);
  });
});
