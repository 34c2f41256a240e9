/**
 * Hostile clients by the hundred against `citeward serve`, in one process and in several: bodies that are announced and
 * not sent, or sent slowly, streams that idle, connections that are reset, floods of wrong keys with forged addresses,
 * half headers, tunnels, DNS rebinding. Meanwhile callers with a key are answered, and the memory stays bounded. Prints what was held, the peak of the memory, and the
 * latency of the keyed requests.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/digest.ts';
import { storedKeyText } from '../../src/wire/key-text.ts';
import { createdKeySchema } from '../../src/wire/stored-keys.ts';
import { endpointWithSecretSchema } from '../../src/wire/webhooks-reply.ts';
import { serverFolder, startServe } from '../e2e/serve-process.ts';

/** Connections of each attack. */
const HELD = 300;
/** An attack that is refused for its slowness ends within the time limit of a body and the time of a busy machine. */
const END_MS = 40_000;
const KEY = 'key-of-the-operator';
const API_KEYS = JSON.stringify({
  operator: { sha256: sha256(KEY), scopes: ['verify', 'score', 'batch', 'admin'] },
});
const MB = 1024 * 1024;
const VERIFY = JSON.stringify({
  response: '<answer><snippet id=S1>The Aare is 288 km long.</snippet></answer>',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
});

const { folder } = serverFolder();

type Reply = { readonly status: number; readonly text: string };

/** Sends a request on a connection of its own. */
async function ask(url: string, { method = 'GET', headers = {}, body = '' }: Sent = {}): Promise<Reply> {
  const outgoing = request(url, { method, headers, agent: false });
  outgoing.end(body);
  const [reply] = await once(outgoing, 'response');
  let text = '';
  for await (const piece of reply.setEncoding('utf8')) text += piece;
  return { status: reply.statusCode, text };
}

type Sent = { readonly method?: string; readonly headers?: IncomingHttpHeaders; readonly body?: string };

const bearer = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

function verify(url: string, key = KEY, body = VERIFY, headers: IncomingHttpHeaders = {}): Promise<Reply> {
  return ask(`${url}/v1/verify`, { method: 'POST', headers: { ...bearer(key), ...headers }, body });
}

/** A connection that sends what it is told and keeps what comes back. */
class Hostile {
  readonly #socket: Socket;
  #got = '';
  /** Resolves with the status of the reply when it has come; `null` = the connection ended without one. */
  readonly status: Promise<number | null>;

  constructor(url: string, head: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('error', () => undefined).write(head);
    this.status = new Promise((resolve) => {
      this.#socket.setEncoding('latin1').on('data', (text: string) => {
        this.#got += text;
        const status = /^HTTP\/1\.\d (\d{3})/.exec(this.#got)?.[1];
        if (status !== undefined) resolve(Number(status));
      });
      this.#socket.on('close', () => resolve(null));
    });
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  end(): void {
    this.#socket.destroy();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }
}

/** The head of a POST that announces a body. */
function announcing(path: string, bytes: number, headers: Readonly<Record<string, string>> = {}): string {
  const all = { host: '127.0.0.1', 'content-type': 'application/json', 'content-length': String(bytes), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const withKey = { authorization: `Bearer ${KEY}` };
const signed = (): Record<string, string> => ({
  'webhook-id': crypto.randomUUID(),
  'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
  'webhook-signature': `v1,${'A'.repeat(43)}=`,
});

/** Sends keyed requests, one after another, until it is stopped. Returns their statuses and latencies. */
function beside(url: string) {
  const latencies: number[] = [];
  const statuses = new Set<number>();
  let isOver = false;
  const all = (async () => {
    while (!isOver) {
      const start = performance.now();
      statuses.add((await verify(url)).status);
      latencies.push(performance.now() - start);
      await pause(20);
    }
  })();
  return async () => {
    isOver = true;
    await all;
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
    return { statuses: [...statuses], requests: sorted.length, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) };
  };
}

/** The peak of the resident memory of all processes together, in MB. Linux only. */
function peakMb(pids: readonly number[]): number {
  const peaks = pids.map((pid) =>
    Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
  );
  return Math.round(peaks.reduce((sum, kB) => sum + kB, 0) / 1024);
}

type Attack = {
  readonly name: string;
  /** The head that each connection sends, or one of several. */
  readonly head: (endpoint: string, n: number) => string;
  /** What it sends, at once or every second. */
  readonly first?: string;
  readonly drip?: string;
  /** The replies that may come; `null` = none, the connection is closed. */
  readonly ends: readonly (number | null)[];
};

const UNKNOWN = `whe_${'A'.repeat(32)}`;
const ATTACKS: readonly Attack[] = [
  {
    name: 'without a key: 4 MB announced to an endpoint that does not exist',
    head: () => announcing(`/v1/webhooks/${UNKNOWN}/score`, 4 * MB, signed()),
    ends: [404, 429],
  },
  {
    name: 'without a key: 4 MB announced to an endpoint, 128 KB sent',
    head: (endpoint) => announcing(`/v1/webhooks/${endpoint}/score`, 4 * MB, signed()),
    first: ' '.repeat(128 * 1024),
    // The attack before may have used up the tries of the address.
    ends: [408, 503, 429],
  },
  { name: 'without a key: 1 MB announced to /v1/verify', head: () => announcing('/v1/verify', MB), ends: [401] },
  { name: '16 MB announced to /v1/verify', head: () => announcing('/v1/verify', 16 * MB, withKey), ends: [408] },
  { name: '16 MB announced to /mcp', head: () => announcing('/mcp', 16 * MB, withKey), ends: [408] },
  { name: '60 KB announced to /v1/score', head: () => announcing('/v1/score', 60_000, withKey), ends: [408] },
  {
    name: '16 MB announced, 8 KB a second sent',
    head: () => announcing('/v1/verify', 16 * MB, withKey),
    drip: ' '.repeat(8 * 1024),
    ends: [408, 503],
  },
  {
    name: 'a chunked body that sends 128 KB and then nothing',
    head: () => announcing('/v1/verify', 0, withKey).replace('content-length: 0', 'transfer-encoding: chunked'),
    first: `20000\r\n${' '.repeat(128 * 1024)}\r\n`,
    ends: [408, 503],
  },
  {
    name: 'a file of 100 MB announced',
    head: () => announcing('/v1/files', 100 * MB, { ...withKey, 'content-type': 'multipart/form-data; boundary=b' }),
    ends: [408],
  },
  {
    name: 'an import that sends 128 KB and then nothing',
    head: () => announcing('/v1/judgments:import', 100 * MB, { ...withKey, 'content-type': 'application/jsonl' }),
    first: ' '.repeat(128 * 1024),
    ends: [408, 503],
  },
  {
    name: 'a stream of 128 KB that idles',
    head: () => announcing('/v1/verify/stream', 16 * MB, { ...withKey, 'content-type': 'application/jsonl' }),
    first: `{"sources": [{"id": "S1", "text": "The Aare."}]}\n${JSON.stringify({ delta: '<snippet'.repeat(16 * 1024) })}\n`,
    // The room of streams is full at 4 MB.
    ends: [200, 503],
  },
  {
    name: 'half of a header',
    head: () => 'POST /v1/verify HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ',
    ends: [null, 400, 408],
  },
  {
    name: 'CONNECT, and hosts that are no URL',
    head: (_, n) =>
      n % 2 === 0 ? 'CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n' : 'GET / HTTP/1.1\r\nhost: a, b\r\n\r\n',
    ends: [200, 400],
  },
];

describe.each([1, 4])('%i processes', (processes) => {
  it('answer callers with a key beside each attack', async () => {
    const state = join(folder, String(processes));
    const flags = ['--state', state, '--processes', String(processes), '--var', `API_KEYS=${API_KEYS}`];
    const { url, log } = await startServe(...flags, '--var', 'ALLOW_LEXICAL_JUDGE=true');
    const pids = readFileSync(join(state, 'workerd.pid'), 'utf8').split('\n').map(Number);
    const registration = { method: 'POST', headers: bearer(KEY), body: '{"url": "https://receiver.example.com/"}' };
    const registered = await ask(`${url}/v1/webhooks`, registration);
    const { id: endpoint } = endpointWithSecretSchema.parse(JSON.parse(registered.text));
    const quiet = beside(url);
    await pause(2_000);
    console.log(JSON.stringify({ processes, attack: 'none', ...(await quiet()), peak_mb: peakMb(pids) }));

    for (const { name, head, first = '', drip, ends } of ATTACKS) {
      const start = performance.now();
      const latency = beside(url);
      const held = Array.from({ length: HELD }, (_, n) => new Hostile(url, head(endpoint, n) + first));
      const timer = setInterval(() => {
        if (drip !== undefined) for (const one of held) one.send(drip);
      }, 1_000);
      const endings = await Promise.race([
        Promise.all(held.map(({ status }) => status)),
        pause(END_MS).then(() => 'not all have ended' as const),
      ]);
      clearInterval(timer);
      const ended_ms = Math.round(performance.now() - start);
      const figures = await latency();
      const counts = endings === 'not all have ended' ? endings : Object.groupBy(endings, String);
      const ended = Object.fromEntries(Object.entries(counts).map(([status, all = []]) => [status, all.length]));
      console.log(JSON.stringify({ processes, attack: name, ...figures, ended, ended_ms, peak_mb: peakMb(pids) }));
      for (const one of held) one.end();
      expect(figures.statuses, name).toEqual([200]);
      expect(figures.max_ms, name).toBeLessThan(5_000);
      if (endings === 'not all have ended') throw new Error(`${name}: ${endings}`);
      for (const status of endings) expect(ends, name).toContain(status);
      const large = await verify(url, KEY, VERIFY.padEnd(2 * MB));
      expect(large.status, `${name}: ${large.text}`).toBe(200);
    }
    expect(peakMb(pids)).toBeLessThan(600 + 300 * processes);
    expect(log()).not.toContain('ncaught exception');
  }, 600_000);

  it('take right keys beside a flood of wrong ones, whatever address their headers claim', async () => {
    const flags = ['--state', join(folder, `keys-${processes}`), '--processes', String(processes)];
    const { url } = await startServe(...flags, '--var', `API_KEYS=${API_KEYS}`);
    const made = async () => {
      const body = JSON.stringify({ label: 'trainer', scopes: ['verify'] });
      const reply = await ask(`${url}/v1/api-keys`, { method: 'POST', headers: bearer(KEY), body });
      return createdKeySchema.parse(JSON.parse(reply.text)).key;
    };
    const keys = await Promise.all(Array.from({ length: 20 }, made));
    const random = () => storedKeyText(crypto.getRandomValues(new Uint8Array(32)));
    const forged = (n: number) => ({ 'cf-connecting-ip': `10.0.${n % 250}.1`, 'x-forwarded-for': `10.1.${n % 250}.1` });
    const statuses: number[] = [];
    for (let n = 0; n < 12 * processes + 30; n++)
      statuses.push((await verify(url, random(), VERIFY, forged(n))).status);
    // One address has few tries in each process, whatever it says.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10 * processes);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect((await verify(url, keys[0])).status).toBe(200);

    let isOver = false;
    let sent = 0;
    const flood = Array.from({ length: 32 }, async () => {
      while (!isOver) {
        const { status } = await verify(url, random(), VERIFY, forged(sent++));
        expect([401, 429]).toContain(status);
      }
    });
    const latency = beside(url);
    const taken = [];
    for (const key of keys) {
      const start = performance.now();
      let reply = await verify(url, key);
      // A key that the process has not seen shares the lookups of its address with the flood, so it may have to retry.
      for (let n = 0; n < 20 && reply.status === 429; n++) {
        await pause(100);
        reply = await verify(url, key);
      }
      taken.push(Math.round(performance.now() - start));
      expect(reply.status, reply.text).toBe(200);
    }
    isOver = true;
    await Promise.all(flood);
    const seen = await latency();
    console.log(JSON.stringify({ processes, wrong_keys: sent, new_keys_ms: taken.toSorted((a, b) => a - b), ...seen }));
    expect(seen.statuses).toEqual([200]);
  }, 300_000);
});

/** A model server that takes every call and answers none. */
async function silentJudge() {
  let calls = 0;
  const server = createServer((call) => {
    call.resume().on('end', () => calls++);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const end = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { base_url: `http://127.0.0.1:${address.port}/v1`, calls: () => calls, end };
}

it('a connection that is reset frees what its request held', async () => {
  const judge = await silentJudge();
  const limits = { slots: 64, context_tokens: 500_000 };
  const backend = { kind: 'vllm', name: 'silent', model: 'm', base_url: judge.base_url, ...limits };
  const BACKENDS = JSON.stringify({ backends: [backend], default_judge: 'silent' });
  const flags = ['--state', join(folder, 'reset'), '--var', `API_KEYS=${API_KEYS}`, '--var', `BACKENDS=${BACKENDS}`];
  const { url } = await startServe(...flags);
  const text = 'The Aare is 288 kilometres long. '.repeat((4 * MB) / 33);
  const rollout = (n: number) => ({
    question: `How long is river ${n}?`,
    positive_rubrics: ['States that the Aare is 288 km long'],
    recipe: 'refiner-gpt54-instance-rubric',
    sources: [{ id: 'S1', text }],
    response: '<answer><snippet id=S1>The Aare is 288 km long.</snippet></answer>',
  });
  const call = (n: number) => ({
    ...{ jsonrpc: '2.0', id: n, method: 'tools/call' },
    params: { name: 'score_answer', arguments: rollout(n) },
  });
  const accept = { accept: 'application/json, text/event-stream' };
  // An MCP request holds its body twice: its tool sends a request of its own.
  const attacks = [
    { path: '/v1/score', connections: 3, body: rollout, headers: withKey },
    { path: '/mcp', connections: 2, body: call, headers: { ...withKey, ...accept } },
  ];
  const large = () => verify(url, KEY, VERIFY.padEnd(4 * MB));
  for (const { path, connections, body, headers } of attacks) {
    const before = judge.calls();
    const held = Array.from({ length: connections }, (_, n) => {
      const sent = JSON.stringify(body(n + before));
      return new Hostile(url, announcing(path, sent.length, headers) + sent);
    });
    while (judge.calls() < before + connections) await pause(100);
    await pause(2_000);
    expect((await large()).status, path).toBe(503);
    for (const one of held) one.reset();
    await pause(1_000);
    expect((await large()).status, path).toBe(200);
  }
  judge.end();
}, 120_000);

it('a server without keys answers no page that DNS rebinding or a form brought', async () => {
  const { url } = await startServe('--state', join(folder, 'open'), '--var', 'ALLOWED_HOSTS=citeward');
  const { port } = new URL(url);
  const form = { 'content-type': 'multipart/form-data; boundary=b' };
  const refused: readonly (readonly [string, string, IncomingHttpHeaders])[] = [
    ['GET', '/v1/runs', { host: `rebound.example:${port}` }],
    ['DELETE', '/v1/runs/r', { host: `rebound.example:${port}`, origin: `http://rebound.example:${port}` }],
    ['POST', '/v1/files', { ...form, origin: 'https://page.example' }],
    ['POST', '/v1/files', { ...form, origin: 'null' }],
    ['GET', '/v1/runs', { 'sec-fetch-site': 'cross-site' }],
    ['POST', '/mcp', { origin: 'https://page.example', 'content-type': 'text/plain' }],
  ];
  for (const [method, path, headers] of refused) {
    const { status, text } = await ask(url + path, { method, headers });
    expect([status, text], `${method} ${path}`).toEqual([403, expect.stringMatching(/(?:host|origin)_not_allowed/)]);
  }
  const own: readonly IncomingHttpHeaders[] = [
    { host: 'localhost' },
    { host: '10.1.2.3:80' },
    { host: 'citeward' },
    { origin: url },
  ];
  for (const headers of own) expect((await ask(`${url}/v1/runs`, { headers })).status).toBe(200);
  const untyped = await ask(`${url}/v1/judgments:import`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{}',
  });
  expect([untyped.status, untyped.text]).toEqual([415, expect.stringContaining('application/jsonl')]);
}, 120_000);
