/**
 * The allow-listing proxy in a real nginx: which requests pass, and that streams and disconnects are forwarded at once.
 */
import { createServer, request as httpRequest, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Nginx, startNginx } from './nginx.ts';
import { freePort, listening, send } from './plain-http.ts';

type Seen = {
  readonly engine: string;
  readonly line: string;
  readonly authorization: string | undefined;
  readonly bytes: number;
};

const SANDBOX_KEY = 'Sandbox-Key-1';
const PIECES = 5;
const PIECE_EVERY_MS = 150;

let seen: Seen[] = [];
let disconnects = 0;
const engines: Server[] = [];
let nginx: Nginx;
let llm: number;
let sandbox: number;

/** An upstream server (engine or sandbox) that records its requests and streams completions slowly. */
async function startEngine(engine: string): Promise<string> {
  const server = createServer(async (request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += Buffer.byteLength(chunk);
    const { authorization } = request.headers;
    seen.push({ engine, line: `${request.method} ${request.url}`, authorization, bytes });
    if (request.url !== '/v1/chat/completions') return void response.end('{}');
    let gone = false;
    response.once('close', () => {
      gone = !response.writableFinished;
      if (gone) disconnects++;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let piece = 0; piece < PIECES && !gone; piece++) {
      response.write(`data: ${piece}\n\n`);
      await pause(PIECE_EVERY_MS);
    }
    response.end();
  });
  engines.push(server);
  return `127.0.0.1:${await listening(server)}`;
}

beforeAll(async () => {
  llm = await freePort();
  sandbox = await freePort();
  nginx = await startNginx([llm, sandbox], {
    PROXY_RESOLVER: '127.0.0.1',
    PROXY_LLM_LISTEN: `127.0.0.1:${llm}`,
    PROXY_SANDBOX_LISTEN: `127.0.0.1:${sandbox}`,
    JUDGE_ADDRESS: await startEngine('judge'),
    REFINER_ADDRESS: await startEngine('refiner'),
    LONGTRACE_ADDRESS: await startEngine('longtrace'),
    // No server listens on this port, like a profile that is not started.
    TOOL_AGENT_ADDRESS: `127.0.0.1:${await freePort()}`,
    SANDBOX_ADDRESS: await startEngine('sandbox'),
    SANDBOX_API_KEY: SANDBOX_KEY,
  });
});

afterAll(async () => {
  await nginx?.stop();
  for (const server of engines) {
    server.close();
    server.closeAllConnections();
  }
});

afterEach(() => {
  seen = [];
});

describe('what passes', () => {
  it.each([
    ['POST /v1/completions', 'judge', 'POST /v1/completions'],
    ['POST /v1/chat/completions', 'judge', 'POST /v1/chat/completions'],
    ['GET /v1/models', 'judge', 'GET /v1/models'],
    ['GET /health', 'judge', 'GET /health'],
    ['POST /refiner/v1/completions', 'refiner', 'POST /v1/completions'],
    ['GET /refiner/health', 'refiner', 'GET /health'],
    ['GET /longtrace/v1/models', 'longtrace', 'GET /v1/models'],
    // What else is in the request line stays behind.
    ['GET /v1/models?a=/../metrics', 'judge', 'GET /v1/models'],
    ['GET /invocations/../v1/models', 'judge', 'GET /v1/models'],
    ['GET //v1//models', 'judge', 'GET /v1/models'],
    ['GET /v1%2Fmodels', 'judge', 'GET /v1/models'],
  ])('%s reaches %s as %s, with its key', async (line, engine, expected) => {
    const { status } = await send(llm, line, {
      authorization: 'Bearer k',
      ...(line.startsWith('POST') ? { body: '{}' } : {}),
    });
    expect(status).toBe(200);
    expect(seen).toMatchObject([{ engine, line: expected, authorization: 'Bearer k' }]);
  });

  it('a prompt of a megabyte, without touching the disk', async () => {
    await send(llm, 'POST /v1/completions', { body: 'x'.repeat(1_000_000) });
    expect(seen[0]?.bytes).toBe(1_000_000);
    expect(await nginx.bodyFiles()).toEqual([]);
  });
});

describe('what does not', () => {
  it.each([
    'GET /',
    'GET /metrics',
    'GET /version',
    'GET /docs',
    'GET /openapi.json',
    'GET /server_info',
    'GET /load',
    'POST /invocations',
    'POST /tokenize',
    'POST /detokenize',
    'POST /score',
    'POST /pooling',
    'POST /classify',
    'POST /rerank',
    'POST /pause',
    'POST /sleep',
    'POST /reset_prefix_cache',
    'POST /update_weights',
    'POST /collective_rpc',
    'POST /v1/embeddings',
    'POST /v1/responses',
    'POST /v1/messages',
    'POST /v1/load_lora_adapter',
    'POST /v1/chat/completions/batch',
    'POST /v1/chat/completions/render',
    'GET /v1/models/',
    'GET /v1/models/judge',
    'GET /V1/models',
    'GET /v1/models%00',
    'GET /v1/models%0A',
    'GET /refiner/metrics',
    'GET /refiner',
    'GET /other/v1/models',
    'GET /judge/v1/models',
    'GET /refiner/refiner/v1/models',
    'POST /v1/chat/completions/../../../invocations',
    'POST /v1/%2e%2e/invocations',
    'GET /run_code',
  ])('%s', async (line) => {
    const { status, text } = await send(llm, line);
    expect([400, 404]).toContain(status);
    if (status === 404) expect(JSON.parse(text)).toMatchObject({ error: { code: 404 } });
    expect(seen).toEqual([]);
  });

  it.each([
    'GET /v1/chat/completions',
    'OPTIONS /v1/chat/completions',
    'POST /v1/models',
    'DELETE /v1/models',
    'POST /health',
  ])('%s: another method', async (line) => {
    expect(await send(llm, line)).toMatchObject({ status: 405, text: expect.stringContaining('"code":405') });
    expect(seen).toEqual([]);
  });

  it('more than 8 MB', async () => {
    expect(await send(llm, 'POST /v1/completions', { body: 'x'.repeat(9_000_000) })).toMatchObject({ status: 413 });
    expect(seen).toEqual([]);
  });

  it('an engine that is not there: 503 with Retry-After, in JSON', async () => {
    const { status, headers, text } = await send(llm, 'GET /tool-agent/v1/models');
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('5');
    expect(JSON.parse(text)).toMatchObject({ error: { type: 'ServiceUnavailableError', code: 503 } });
  });
});

describe('streams', () => {
  it('flow piece by piece', async () => {
    const { times, text, headers } = await send(llm, 'POST /v1/chat/completions', { body: '{}' });
    expect(text.match(/data: /g)).toHaveLength(PIECES);
    expect(headers['content-type']).toBe('text/event-stream');
    expect(times.length).toBeGreaterThanOrEqual(PIECES);
    expect(times[0]).toBeLessThan(2 * PIECE_EVERY_MS);
    expect(times.at(-1)).toBeGreaterThan((PIECES - 1) * PIECE_EVERY_MS);
  });

  it('a caller that leaves is a disconnect for the engine', async () => {
    const before = disconnects;
    await new Promise<void>((left) => {
      const request = httpRequest({
        port: llm,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/chat/completions',
        agent: false,
      });
      request.once('response', (response) => {
        response.once('data', () => {
          request.destroy();
          left();
        });
      });
      request.end('{}');
    });
    const started = performance.now();
    while (disconnects === before && performance.now() - started < 2_000) await pause(10);
    expect(disconnects).toBe(before + 1);
    expect(performance.now() - started).toBeLessThan(PIECES * PIECE_EVERY_MS);
  });
});

describe('the sandbox', () => {
  const run = (authorization?: string) =>
    send(sandbox, 'POST /run_code', { body: '{}', ...(authorization === undefined ? {} : { authorization }) });

  it('runs code for its own key only, and is not told the key', async () => {
    for (const wrong of [undefined, '', 'Bearer ', 'Bearer k', `Bearer ${SANDBOX_KEY.toLowerCase()}`, SANDBOX_KEY]) {
      expect(await run(wrong)).toMatchObject({ status: 401 });
    }
    expect(seen).toEqual([]);
    expect(await run(`Bearer ${SANDBOX_KEY}`)).toMatchObject({ status: 200 });
    expect(seen).toMatchObject([{ engine: 'sandbox', line: 'POST /run_code', authorization: undefined }]);
  });

  it('shows its health, and nothing else', async () => {
    expect(await send(sandbox, 'GET /health')).toMatchObject({ status: 200 });
    expect(seen).toMatchObject([{ line: 'GET /v1/ping' }]);
    const authorization = `Bearer ${SANDBOX_KEY}`;
    for (const line of ['POST /run_jupyter', 'POST /submit', 'GET /v1/ping', 'GET /', 'POST /v1/chat/completions']) {
      expect(await send(sandbox, line, { authorization })).toMatchObject({ status: 404 });
    }
    expect(await send(sandbox, 'GET /run_code', { authorization })).toMatchObject({ status: 405 });
  });
});

describe('the log', () => {
  it('has paths and numbers, no keys', async () => {
    const log = await nginx.accessLog();
    expect(log).toContain('POST /v1/chat/completions 200');
    expect(log).not.toMatch(/Bearer|Sandbox-Key|127\.0\.0\.1/i);
  });
});
